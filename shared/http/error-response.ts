import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describeError } from '../describe-error.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { json } from './response.ts';

/**
 * Turns errors into `{error, description}`, from status 500 on with `request_id`. OAuth endpoints
 * use `error_description` (RFC 6749 section 5.2).
 */
export function errorResponse(
  description: 'description' | 'error_description' = 'description',
): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  return {
    onError(request) {
      const { requestId } = request.event.requestContext;
      const error = toApiError(request.error, requestId);
      const body = { error: error.code, [description]: error.message };
      request.response = json(
        error.status,
        error.status < 500 ? body : { ...body, request_id: requestId },
        error.headers,
      );
    },
  };
}

/** Returns the error to show. Logs errors other than ApiError, once. */
export function toApiError(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  console.error({ message: 'Request failed', requestId, error: describeError(error) });
  if (isTransient(error)) return serviceUnavailable();
  return new ApiError(
    500,
    'server_error',
    'The request could not be processed; please report the request_id',
  );
}

/** Returns true if DynamoDB was busy or unreachable, even after the SDK's retries. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    // Every SDK error has the field, but only transient errors a value in it.
    ('$retryable' in error && error.$retryable !== undefined) ||
    /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded|Timeout|ECONN|EPIPE|InternalServerError|ServiceUnavailable/.test(
      `${error.name} ${'code' in error ? error.code : ''}`,
    )
  );
}
