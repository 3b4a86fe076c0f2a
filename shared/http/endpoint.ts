import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { invalidRequest, unsupportedMediaType } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { requireMediaType, requireUtf8 } from './media-type.ts';
import { listHeaderOf, partsOf, type RequestSchema, readRequest } from './request.ts';
import { Answer, headResponse, json, publicAnswer } from './response.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/**
 * Makes the Lambda handler of an endpoint. It validates the request parts in `schema`, then answers
 * 200 with the result of `handle`, usually as JSON. Thrown errors become error responses. A GET or
 * HEAD without `caller` in the schema is public and cacheable.
 * @example
 *   export const request = v.object({ path: v.object({ review_id: PathId('Review') }) });
 *   export const handler = endpoint(request, async ({ path }) => {
 *     const { review, author } = await getPublicReview(path.review_id);
 *     return { review: presentReview(review, author) };
 *   });
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
      const result = await handle(readRequest(schema, partsOf(event)));
      const answer = result instanceof Answer ? result : new Answer(result);
      return isPublic && ['GET', 'HEAD'].includes(event.httpMethod)
        ? publicAnswer(answer, listHeaderOf(event, 'If-None-Match'))
        : json(200, answer.body, answer.options.headers);
    });
}

/** Parses the body, if any. The schema says whether it is required. */
function jsonBody(): Http {
  return {
    before({ event }) {
      const { body, isBase64Encoded } = event;
      if (!body) {
        event.body = null;
        return;
      }
      requireMediaType(event, 'application/json', unsupportedMediaType);
      requireUtf8(event);
      const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
      Object.assign(event, { body: parseJson(text) });
    },
  };
}

function parseJson(text: string): unknown {
  try {
    const value = JSON.parse(text);
    refuseForbidden(value);
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw invalidRequest(`The body must be valid JSON: ${error.message.toWellFormed()}`);
  }
}

/**
 * Refuses keys that could reach a prototype when copied by assignment. A reviver of JSON.parse
 * would take up to 25 times as long, and overflow the stack.
 */
function refuseForbidden(body: unknown): void {
  const unseen = [body].filter(isObject);
  for (let value = unseen.pop(); value; value = unseen.pop()) {
    if (Object.hasOwn(value, '__proto__')) {
      throw invalidRequest('The body must be JSON without the key __proto__');
    }
    const named = Object.hasOwn(value, 'constructor') && value.constructor;
    if (isObject(named) && Object.hasOwn(named, 'prototype')) {
      throw invalidRequest('The body must be JSON without the key constructor.prototype');
    }
    for (const each of Array.isArray(value) ? value : Object.values(value)) {
      if (isObject(each)) unseen.push(each);
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
