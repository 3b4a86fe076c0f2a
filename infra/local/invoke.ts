import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** What a file under functions/ exports as `handler`. */
export type Handler = (event: unknown, context: Context) => unknown;

/** The handler of an operation; it is imported at the first call. */
export type Load = (operation: string) => Promise<Handler>;

/** Takes handlers from functions/. */
export const loadFunction: Load = async (operation) => {
  const { handler } = await import(`../../functions/${operation}.ts`);
  return handler;
};

/** Thrown by `invoke` when the time is over. What was started goes on, as nothing can stop it here. */
export class Timeout extends Error {}

/** Runs `handler` as Lambda does: gives what it returns, throws what it throws. `timeout` is in milliseconds. */
export async function invoke(
  handler: Handler,
  operation: string,
  event: unknown,
  timeout = 900_000,
): Promise<unknown> {
  const context = contextOf(operation, timeout);
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Timeout(`${operation} took over ${timeout} ms`)), timeout);
  });
  try {
    return await Promise.race([(async () => handler(event, context))(), over]);
  } finally {
    clearTimeout(timer);
  }
}

/** What Lambda tells a handler about its run, which may take so many milliseconds. */
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
    // Left from the callback style of old; Node 24 on Lambda has them no more.
    done() {},
    fail() {},
    succeed() {},
  };
}
