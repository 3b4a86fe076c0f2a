import * as v from 'valibot';

// Schemas with descriptions and examples, for the API's description.

/**
 * Adds a description and examples to a schema. Calls belong in `presented.ts`, from which functions
 * import only types, so the texts are in no bundle.
 */
export function described<T extends v.GenericSchema>(
  schema: T,
  description: string,
  ...examples: v.InferInput<T>[]
): T {
  return v.pipe(schema, v.description(description), v.examples(examples)) as unknown as T;
}

/**
 * An object.
 * @example
 *   export const PresentedVote = Fields("The caller's vote on a review", {
 *     vote: described(v.boolean(), '`true` is an upvote, `false` a downvote', true),
 *   });
 */
export function Fields<T extends v.ObjectEntries>(description: string, entries: T) {
  return described(v.object(entries), description);
}

/**
 * A stored object as responses show it: each field with its description and an example. A field
 * without a description is a type error.
 * @example
 *   DescribedFields('A vote', v.pick(Vote, ['vote']), {
 *     vote: ['`true` is an upvote, `false` a downvote', true],
 *   });
 */
export function DescribedFields<T extends v.ObjectEntries>(
  description: string,
  { entries }: { entries: T },
  texts: { [Name in keyof T]: readonly [description: string, example: v.InferInput<T[Name]>] },
) {
  const fields = Object.entries<v.GenericSchema>(entries as v.ObjectEntries).map(
    ([name, schema]) => {
      const [text, example] = texts[name as keyof T];
      return [name, described<v.GenericSchema>(schema, text, example)];
    },
  );
  return Fields(description, Object.fromEntries(fields) as T);
}

/** A text with an example. */
export function AnyText(description: string, ...examples: string[]) {
  return described(v.string(), description, ...examples);
}

/** A text with an example, or null. */
export function TextOrNull(description: string, example: string | null) {
  return described(v.nullable(v.string()), description, example);
}

/** A time in API responses: an HTTP date (RFC 9110 section 5.6.7). */
export function HttpDate(description: string) {
  return described(
    v.pipe(v.string(), v.regex(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/)),
    `${description}, as an HTTP date`,
    'Fri, 20 Nov 2026 20:30:00 GMT',
  );
}

/** A stored time, as in data exports: ISO 8601. */
export function IsoTime(description: string) {
  const schema = v.pipe(v.string(), v.isoTimestamp());
  return described(schema, `${description}, in ISO 8601`, '2026-11-20T20:30:00.000Z');
}

/** A UUID in lower case, as in API responses. */
export function Id(description: string, example: string) {
  return described(v.pipe(v.string(), v.uuid()), description, example);
}

/** An integer, which may be negative. */
export function Whole(description: string, example: number) {
  return described(v.pipe(v.number(), v.integer()), description, example);
}

/** A code of a list that may grow: clients have to expect others. */
export function OpenCode(description: string, codes: readonly [string, ...string[]]) {
  const schema = v.pipe(v.string(), v.metadata({ 'x-extensible-enum': codes }));
  return described(schema, description, codes[0]);
}

/** An integer from 0 that may exceed 32 bits. */
export function LongCount(description: string, example: number) {
  return described(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), description, example);
}

/** An integer from 0 of at most 32 bits. */
export function Count(description: string, example: number) {
  return described(v.pipe(v.number(), v.integer(), v.minValue(0)), description, example);
}
