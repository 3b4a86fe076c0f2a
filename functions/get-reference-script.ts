import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { headResponse } from '../shared/http/response.ts';

/** It lies beside the function where that is deployed, see infra/aws/bundle.ts, and in its package on this machine. */
const places = ['scalar.js', '../node_modules/@scalar/fastify-api-reference/dist/index.js'];

const file = places.map((place) => join(import.meta.dirname, place)).find(existsSync);

/**
 * The renderer, a string literal in the code of Scalar's plugin for Fastify. The package that
 * has it as a file is twelve times as large. JSON forbids the control characters in it.
 */
function rendererIn(code: string): string {
  const literal = /^var standalone_default = (".*");$/m.exec(code)?.[1];
  if (!literal) throw new Error('The renderer of the reference is missing');
  const escaped = literal.replaceAll(/\p{Cc}/gu, (each) => JSON.stringify(each).slice(1, -1));
  return JSON.parse(escaped);
}

/** The renderer of the reference, as text: API Gateway compresses it. Its version is in its path, and so it may be kept for good. */
export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(headResponse())
  .handler(() => {
    return {
      statusCode: 200,
      headers: {
        'Content-Type': 'text/javascript; charset=utf-8',
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
        Vary: 'Accept-Encoding',
      },
      body: rendererIn(file ? readFileSync(file, 'utf8') : ''),
    };
  });
