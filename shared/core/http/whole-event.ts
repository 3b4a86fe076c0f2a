import type { MiddlewareObj } from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';

type Http = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/**
 * Completes an event, for all code behind: the test of API Gateway's console sends null in place of
 * headers, and other senders only one value of each. Names of headers become lower-case.
 */
export function wholeEvent(): Http[] {
  return [{ before: ({ event }) => complete(event) }, httpHeaderNormalizer()];
}

function complete(event: APIGatewayProxyEvent): void {
  event.headers ??= {};
  event.multiValueHeaders ??= listed(event.headers);
  event.multiValueQueryStringParameters ??= listed(event.queryStringParameters ?? {});
}

function listed(values: Record<string, string | undefined>): Record<string, string[]> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === undefined ? [] : [value]]),
  );
}
