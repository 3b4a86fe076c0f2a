import middy, { type MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { invalidRequest, unsupportedMediaType } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { type RequestSchema, readRequest } from './request.ts';
import { json } from './response.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/**
 * A Lambda handler for one endpoint: validates the parts of the request that `schema` names, and answers 200 with the JSON of
 * what `handle` gives. Whatever is thrown becomes an error response.
 */
export function endpoint<T extends RequestSchema>(
  schema: T,
  handle: (request: v.InferOutput<T>) => Promise<unknown> | unknown,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(errorResponse())
    .use('body' in schema.entries ? [jsonBody()] : [])
    .handler(async (event) => json(200, await handle(readRequest(schema, event))));
}

/** Parses the body where there is one; the schema says whether there must be. */
function jsonBody(): Http {
  const parser = httpJsonBodyParser<APIGatewayProxyEvent>({ disableContentTypeCheck: true });
  return {
    async before(request) {
      const { event } = request;
      if (!event.body) {
        event.body = null;
        return;
      }
      if (!/^application\/json *(;|$)/i.test(contentType(event))) {
        throw unsupportedMediaType('The body must be sent as Content-Type: application/json');
      }
      try {
        await parser.before?.(request);
      } catch {
        throw invalidRequest(
          'The body must be valid JSON without the keys __proto__ and prototype',
        );
      }
    },
  };
}

/** API Gateway passes header names on as the client wrote them. */
function contentType({ headers }: APIGatewayProxyEvent): string {
  const name = Object.keys(headers ?? {}).find((key) => key.toLowerCase() === 'content-type');
  return (name && headers[name]) ?? '';
}
