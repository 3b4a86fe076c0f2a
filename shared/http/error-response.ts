import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { describeError } from '../describe-error.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { json } from './response.ts';

/**
 * Turns whatever an endpoint throws into a response: `{error, description}`, and from 500 on a `request_id`. The OAuth endpoints have their
 * own name for the description (RFC 6749 section 5.2).
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

/** The error that the client may know. One that is not ours is logged here, once, and told to nobody. */
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

/** Whether DynamoDB was busy or out of reach, even after the SDK's own attempts. */
function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    // Every error of the SDK has the field. Only what may pass has something in it.
    ('$retryable' in error && error.$retryable !== undefined) ||
    /Throttl|ProvisionedThroughputExceeded|RequestLimitExceeded|Timeout|ECONN|EPIPE|InternalServerError|ServiceUnavailable/.test(
      `${error.name} ${'code' in error ? error.code : ''}`,
    )
  );
}
