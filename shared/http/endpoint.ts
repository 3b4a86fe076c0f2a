import middy, { type MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { invalidRequest, unsupportedMediaType } from '../errors.ts';
import { errorResponse } from './error-response.ts';
import { headerOf, listHeaderOf, type RequestSchema, readRequest } from './request.ts';
import { json, publicJson } from './response.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/**
 * A Lambda handler for one endpoint: validates the parts of the request that `schema` names, and answers 200 with the JSON of
 * what `handle` gives. Whatever is thrown becomes an error response. What takes neither a caller nor a body is a public GET.
 */
export function endpoint<T extends RequestSchema>(
  schema: T,
  handle: (request: v.InferOutput<T>) => Promise<unknown> | unknown,
) {
  const isPublicGet = !('caller' in schema.entries || 'body' in schema.entries);
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(errorResponse())
    .use('body' in schema.entries ? [jsonBody()] : [])
    .handler(async (event) => {
      const body = await handle(readRequest(schema, event));
      return isPublicGet ? publicJson(body, listHeaderOf(event, 'If-None-Match')) : json(200, body);
    });
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
      if (!/^application\/json *(;|$)/i.test(headerOf(event, 'Content-Type') ?? '')) {
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
