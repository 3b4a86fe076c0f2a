import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { currentOperation } from '../../base/operation.ts';
import { loggedIds } from './request-ids.ts';

let isNoted = false;

/**
 * Logs the first request of each Lambda environment. `milliseconds` go from the start of Node.js to
 * the making of the handler, `megabytes` is the memory in use. A server logs nothing.
 */
export function noteColdStart(): MiddlewareObj<APIGatewayProxyEvent> {
  const milliseconds = Math.round(performance.now());
  return {
    before({ event }) {
      note(milliseconds, loggedIds(event.requestContext));
    },
  };
}

/** Makes a handler that serves no route log its cold start, as `noteColdStart` does. */
export function notingColdStart<Input extends unknown[], Result>(
  handle: (...input: Input) => Promise<Result>,
): (...input: Input) => Promise<Result> {
  const milliseconds = Math.round(performance.now());
  return (...input) => {
    note(milliseconds, {});
    return handle(...input);
  };
}

function note(milliseconds: number, ids: Record<string, string>): void {
  if (isNoted || process.env.AWS_LAMBDA_FUNCTION_NAME === undefined) return;
  isNoted = true;
  const megabytes = Math.round(process.memoryUsage.rss() / 2 ** 20);
  const operation = currentOperation()?.name;
  console.info({ message: 'Cold start', operation, ...ids, milliseconds, megabytes });
}
