import type { APIGatewayProxyEvent } from 'aws-lambda';
import { type ApiError, unsupportedMediaType } from '../errors.ts';
import { headerOf } from './request.ts';

/** Refuses a body that is said to be something else than `type` in UTF-8: by `otherwise`, or for its charset by ApiError 415. */
export function requireMediaType(
  event: APIGatewayProxyEvent,
  type: string,
  otherwise: (message: string) => ApiError,
): void {
  const [sent = '', ...parameters] = (headerOf(event, 'Content-Type') ?? '').split(';');
  if (sent.trim().toLowerCase() !== type) {
    throw otherwise(`The body must be sent as Content-Type: ${type}`);
  }
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=').map((part) => part.trim().toLowerCase());
    if (name === 'charset' && !/^("utf-?8"|utf-?8)$/.test(value)) {
      throw unsupportedMediaType('The body must be sent as UTF-8, not in another charset');
    }
  }
}
