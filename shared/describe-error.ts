export interface DescribedError {
  name: string;
  code?: string;
  message?: string;
  /** Stack frames, innermost first. */
  stack?: string[];
  cause?: DescribedError;
}

/** Describes an error for the log. Leaves out messages of the SDK, which may quote whole items. */
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

const isOfSdk = (error: Error) => '$metadata' in error;
