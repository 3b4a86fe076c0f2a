import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { importFunction } from '../functions.ts';

/** The `handler` that a file under functions/ exports. */
export type Handler = (event: unknown, context: Context) => unknown;

export type Load = (operation: string) => Promise<Handler>;

/** Loads handlers from functions/, each at its first call. */
export const loadFunction: Load = async (operation) => {
  const { handler } = await importFunction(operation);
  return handler;
};

/** Thrown by `invoke` after the timeout. Nothing can stop the handler here, so it keeps running. */
export class Timeout extends Error {}

/** Runs `handler` as Lambda does, and returns or throws the same. `timeout` is in milliseconds. */
export async function invoke(
  handler: Handler,
  operation: string,
  event: unknown,
  timeout = 900_000,
): Promise<unknown> {
  const context = contextOf(operation, timeout);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Timeout(`${operation} took over ${timeout} ms`)),
    timeout,
  );
  try {
    return await Promise.race([(async () => handler(event, context))(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The types still have them, although Lambda removed them with Node 24. */
type OfCallbacks = 'done' | 'fail' | 'succeed';

/** Returns the Lambda context of a run with a timeout in milliseconds. */
export function contextOf(operation: string, timeout: number): Context {
  const deadline = Date.now() + timeout;
  return {
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: false,
    functionName: operation,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${operation}`,
    logGroupName: `/aws/lambda/${operation}`,
    logStreamName: 'local',
    memoryLimitInMB: '512',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  } satisfies Omit<Context, OfCallbacks> as Context;
}
