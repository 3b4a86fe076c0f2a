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

/** Words of SQLite, which the embedded engine passes on, and what they mean. They quote no data. */
const diskFaults: readonly [RegExp, string][] = [
  [/database or disk is full/, 'The disk is full'],
  [/disk I\/O error/, 'The disk cannot be read or written'],
  [/readonly database/, 'The disk or the file of the database is read-only'],
];

function named(error: Error): DescribedError {
  const { name, message } = error;
  const described: DescribedError = { name };
  if ('code' in error && typeof error.code === 'string') described.code = error.code;
  const shown = isOfSdk(error) ? diskFaults.find(([words]) => words.test(message))?.[1] : message;
  if (shown !== undefined) described.message = shown;
  return described;
}

const isOfSdk = (error: Error) => '$metadata' in error;
