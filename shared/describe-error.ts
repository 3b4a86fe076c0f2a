/** An error as a log may hold it. */
export interface DescribedError {
  name: string;
  code?: string;
  message?: string;
  /** The places it came through, the innermost first. */
  stack?: string[];
  /** What it came from, without its places. */
  cause?: DescribedError;
}

/**
 * What the log is told of an error. The message of a DynamoDB limit error may quote whole items, so of errors of the SDK only name and
 * places are told; of what is thrown and no error, only its type.
 */
export function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const { stack = '', cause } = error;
  const described = named(error);
  const places = stack.split('\n').filter((line) => line.startsWith('    at '));
  if (places.length > 0) described.stack = places.map((line) => line.trim());
  if (cause instanceof Error && !isOfSdk(error)) described.cause = named(cause);
  return described;
}

function named(error: Error): DescribedError {
  const { name, message } = error;
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { name, ...code, ...(isOfSdk(error) ? {} : { message }) };
}

function isOfSdk(error: Error): boolean {
  return '$metadata' in error;
}
