import middy, { type MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { ApiError, invalidRequest, unsupportedMediaType } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { requireMediaType, requireUtf8 } from './media-type.ts';
import { listHeaderOf, partsOf, type RequestSchema, readRequest } from './request.ts';
import { Answer, headResponse, json, publicAnswer } from './response.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/**
 * A Lambda handler for one endpoint. It validates the parts of the request that `schema` names, and answers 200 with what, mostly as JSON,
 * `handle` gives. Whatever is thrown becomes an error response. A GET or HEAD that takes no caller is public, and cached as such.
 */
export function endpoint<T extends RequestSchema>(
  schema: T,
  handle: (request: v.InferOutput<T>) => Promise<unknown> | unknown,
) {
  const isPublic = !('caller' in schema.entries);
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(headResponse())
    .use(errorResponse())
    .use('body' in schema.entries ? [jsonBody()] : [])
    .handler(async (event) => {
      const given = await handle(readRequest(schema, partsOf(event)));
      const answer = given instanceof Answer ? given : new Answer(given);
      return isPublic && ['GET', 'HEAD'].includes(event.httpMethod)
        ? publicAnswer(answer, listHeaderOf(event, 'If-None-Match'))
        : json(200, answer.body, answer.headers);
    });
}

/** Parses the body where there is one. The schema says whether there must be. */
function jsonBody(): Http {
  const parser = httpJsonBodyParser<APIGatewayProxyEvent>({ disableContentTypeCheck: true });
  return {
    async before(request) {
      const { event } = request;
      if (!event.body) {
        event.body = null;
        return;
      }
      requireMediaType(event, 'application/json', unsupportedMediaType);
      requireUtf8(event);
      const text = Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8').toString();
      try {
        await parser.before?.(request);
      } catch {
        throw mistakeIn(text);
      }
    },
  };
}

/** An ApiError 400 that says where the mistake is: the parser refuses, and does not tell why. */
function mistakeIn(text: string): ApiError {
  try {
    JSON.parse(text, refuseForbidden);
    return invalidRequest('The body must be valid JSON');
  } catch (error) {
    if (error instanceof ApiError) return error;
    // A SyntaxError is a mistake in the text. Anything else is the end of the stack, as JSON.parse goes down to call the reviver.
    const fault = error instanceof SyntaxError ? error.message.toWellFormed() : 'nested too deeply';
    return invalidRequest(`The body must be valid JSON: ${fault}`);
  }
}

/** The reviver refuses keys that would reach a prototype if the object were ever copied by assignment. */
function refuseForbidden(key: string, value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null;
  if (key === '__proto__') {
    throw invalidRequest('The body must be JSON without the key __proto__');
  }
  if (key === 'constructor' && isObject && Object.hasOwn(value, 'prototype')) {
    throw invalidRequest('The body must be JSON without the key constructor.prototype');
  }
  return value;
}
