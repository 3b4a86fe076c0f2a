import type { MiddlewareObj } from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import * as v from 'valibot';
import {
  type ApiError,
  invalidRequest,
  payloadTooLarge,
  unsupportedMediaType,
} from '../../base/errors.ts';
import { compressedBody, isCompressed, requireMediaType, requireUtf8 } from './media-type.ts';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** In bytes. The longest valid body has 61 KB: a text of 5,000 characters, all of them escaped. */
export const largestJson = 128 * 1024;

/**
 * Parses the body as JSON, null if there is none. The schema says whether it is required. Needs the
 * header normalizer before it. Throws ApiError 413 above 128 KB, 415 for another media type or
 * charset, and 400 for invalid JSON or a key that could reach a prototype.
 */
export function jsonBody(): Http[] {
  return [
    { before: ({ event }) => requireReadable(event), onError: explainFault },
    // `requireReadable` has checked the type, unless there is no body.
    httpJsonBodyParser<APIGatewayProxyEvent>({ disableContentTypeCheck: true }),
  ];
}

function requireReadable(event: APIGatewayProxyEvent): void {
  event.body ||= null;
  const { body, isBase64Encoded } = event;
  if (body === null) return;
  if (Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8') > largestJson) {
    throw payloadTooLarge('A JSON body may have at most 128 KB');
  }
  requireMediaType(event, 'application/json', unsupportedMediaType);
  requireUtf8(event);
  // Some editors begin a file with a byte order mark, which a parser may ignore (RFC 8259, 8.1).
  const text = isBase64Encoded ? Buffer.from(body, 'base64').toString() : body;
  event.body = text.replace(/^\uFEFF/, '');
  event.isBase64Encoded = false;
}

/** An error of the parser. It has the message of JSON.parse, or else the forbidden key as data. */
const ParserError = v.object({
  cause: v.object({
    package: v.literal('@middy/http-json-body-parser'),
    data: v.string(),
    message: v.optional(v.string()),
  }),
});

const explainFault: Http['onError'] = (request) => {
  if (!v.is(ParserError, request.error)) return;
  const { event, error } = request;
  request.error = isCompressed(event) ? compressedBody() : faultOf(error.cause);
};

function faultOf({ data, message }: v.InferOutput<typeof ParserError>['cause']): ApiError {
  if (message === undefined) {
    const key = data === 'constructor' ? 'constructor.prototype' : data;
    return invalidRequest(`The body must be JSON without the key ${key}`);
  }
  // The parser visits values recursively. Some thousand levels exceed the stack.
  if (/call stack/.test(message)) return invalidRequest('The body must be JSON with fewer levels');
  return invalidRequest(`The body must be valid JSON: ${message.toWellFormed()}`);
}
