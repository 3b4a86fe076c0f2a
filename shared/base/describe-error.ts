export interface DescribedError {
  name: string;
  code?: string;
  message?: string;
  /** Stack frames, innermost first. */
  stack?: string[];
  cause?: DescribedError;
}

/** Describes an error for the log, with the beginning of its message. */
export function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const { stack = '', cause } = error;
  const described = named(error);
  const places = stack.split('\n').filter((line) => line.startsWith('    at '));
  if (places.length > 0) described.stack = places.map((line) => line.trim());
  if (cause instanceof Error) described.cause = named(cause);
  return described;
}

/** In characters. DynamoDB names the rule that was broken first. */
const longestMessage = 200;

function named(error: Error): DescribedError {
  const { name, message } = error;
  const described: DescribedError = { name };
  if ('code' in error && typeof error.code === 'string') described.code = error.code;
  if (message !== '') described.message = withoutValues(error, message).slice(0, longestMessage);
  return described;
}

/** An emulator of DynamoDB may quote the whole request, in braces. */
function withoutValues(error: Error, message: string): string {
  return '$metadata' in error ? message.replace(/\{.*/s, '{…') : message;
}
