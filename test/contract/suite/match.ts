import { inspect } from 'node:util';

/** Says whether a value is right. Its name stands in the report. */
type Matcher = (value: unknown) => boolean;

/**
 * A part of an answer as it must be: the value itself, a pattern, or a matcher. An object must have
 * these fields and may have more, and `undefined` means that there is no such field.
 */
export type Expected =
  | string
  | number
  | boolean
  | null
  | undefined
  | RegExp
  | Matcher
  | readonly Expected[]
  | { readonly [field: string]: Expected };

function named(name: string, matcher: Matcher): Matcher {
  return Object.defineProperty(matcher, 'name', { value: name });
}

const matches = (pattern: RegExp) => (value: unknown) =>
  typeof value === 'string' && pattern.test(value);

const shown = (value: unknown) =>
  inspect(value, { depth: 5, breakLength: Number.POSITIVE_INFINITY })
    .replaceAll(/\[Function: (.*?)\]/g, '$1')
    .slice(0, 300);

export const anything = named('anything', (value) => value !== undefined);
export const string = named('a string', (value) => typeof value === 'string');
export const sentence = named('a sentence', (value) => typeof value === 'string' && value !== '');
export const integer = named('an integer', Number.isInteger);
export const positive = named('a positive integer', (n) => Number.isInteger(n) && Number(n) > 0);
export const boolean = named('a boolean', (value) => typeof value === 'boolean');
export const uuid = named(
  'a UUID in lower case',
  matches(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/),
);
/** Tue, 15 Nov 1994 12:45:26 GMT */
export const httpDate = named(
  'an HTTP date',
  (value) => typeof value === 'string' && new Date(value).toUTCString() === value,
);
export const oldestFirst = named('a list, the oldest first', (value) => {
  const times = Array.isArray(value) ? value.map(({ created }) => Date.parse(created)) : [];
  return times.every((time, index) => time >= (times[index - 1] ?? 0));
});
export const webAddress = named('a URL', (value) =>
  /^https?:$/.test(URL.parse(`${value}`)?.protocol ?? ''),
);

/** A list whose elements are all like this. */
export const listOf = (expected: Expected) => ({ 'every element': expected });
/** A list with an element like this. */
export const listWith = (expected: Expected) => ({ 'some element': expected });
export const oneOf = (...expected: readonly Expected[]) => ({ 'one of': expected });

export const atLeast = (least: number) =>
  named(`a number of at least ${least}`, (value) => typeof value === 'number' && value >= least);

/** Returns what differs, such as `expected review.rating: 4, got null`, if anything does. */
export function faultOf(value: unknown, expected: Expected, path = ''): string | undefined {
  return isLike(value, expected)
    ? undefined
    : (faultInside(value, expected, path) ??
        `expected ${path && `${path}: `}${shown(expected)}, got ${shown(value)}`);
}

function isLike(value: unknown, expected: Expected): boolean {
  if (expected instanceof RegExp) return expected.test(`${value ?? ''}`);
  if (typeof expected === 'function') return expected(value);
  if (typeof expected !== 'object' || expected === null) return value === expected;
  const fields = expected as Record<string, Expected>;
  const [rule = ''] = Object.keys(fields);
  const each = fields[rule];
  if (rule === 'one of') return (each as Expected[]).some((one) => isLike(value, one));
  if (rule === 'every element' || rule === 'some element') {
    if (!Array.isArray(value)) return false;
    const isRight = (element: unknown) => isLike(element, each);
    return rule === 'every element' ? value.every(isRight) : value.some(isRight);
  }
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(expected) && expected.length !== (value as unknown[]).length) return false;
  return Object.entries(fields).every(([field, one]) =>
    isLike((value as Record<string, unknown>)[field], one),
  );
}

/** Returns what differs in a field of an object, or in an element of a list. */
function faultInside(value: unknown, expected: Expected, path: string): string | undefined {
  if (Object(value) !== value || Object(expected) !== expected) return undefined;
  if (typeof expected === 'function' || expected instanceof RegExp) return undefined;
  const fields = Object.entries(expected as Record<string, Expected>);
  const parts = fields.flatMap(([field, one]): [string, unknown, Expected][] =>
    field === 'every element'
      ? Object.entries(value as object).map(([index, element]) => [index, element, one])
      : [[field, (value as Record<string, unknown>)[field], one]],
  );
  return parts
    .filter(([field]) => !/ /.test(field))
    .map(([field, part, one]) => faultOf(part, one, path ? `${path}.${field}` : field))
    .find((fault) => fault !== undefined);
}
