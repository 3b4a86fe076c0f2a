import * as v from 'valibot';

/**
 * The schema with what it means and, where it is no object or list of what has one, an example. It is for those who read the API's
 * description: nothing at run time may hold one, and so every call stands in a file `presented.ts`, of which functions import types only.
 */
export function described<T extends v.GenericSchema>(
  schema: T,
  description: string,
  ...examples: v.InferInput<T>[]
): T {
  return v.pipe(schema, v.description(description), v.examples(examples)) as unknown as T;
}

/** A time stamp of the API: an HTTP date (RFC 9110 section 5.6.7). */
export function HttpDate(description: string) {
  return described(
    v.pipe(v.string(), v.regex(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/)),
    `${description}, as an HTTP date`,
    'Fri, 20 Nov 2026 20:30:00 GMT',
  );
}

/** A time stamp as it is stored, of data that somebody takes along. */
export function IsoTime(description: string) {
  return described(
    v.pipe(v.string(), v.isoTimestamp()),
    `${description}, in ISO 8601`,
    '2026-11-20T20:30:00.000Z',
  );
}

/** A UUID as the API writes it: in lower case. */
export function Id(description: string, example: string) {
  return described(v.pipe(v.string(), v.uuid()), description, example);
}

/** A whole number of things. */
export function Count(description: string, example: number) {
  return described(v.pipe(v.number(), v.integer(), v.minValue(0)), description, example);
}
