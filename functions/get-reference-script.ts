import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { headResponse } from '../shared/http/response.ts';

/** It lies beside the function where that is deployed, see infra/aws/bundle.ts, and in its package on this machine. */
const places = [
  'standalone.js',
  '../node_modules/@scalar/api-reference/dist/browser/standalone.js',
];

const file = places.map((place) => join(import.meta.dirname, place)).find(existsSync);

/** The renderer of the reference, as text: API Gateway compresses it. Its version is in its path, and so it may be kept for good. */
export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(headResponse())
  .handler(() => {
    if (!file) throw new Error('The renderer of the reference is missing');
    return {
      statusCode: 200,
      headers: {
        'Content-Type': 'text/javascript; charset=utf-8',
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
        Vary: 'Accept-Encoding',
      },
      body: readFileSync(file, 'utf8'),
    };
  });
