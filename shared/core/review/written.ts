// The fields that an author writes, and that a revision keeps. Everything that stores, reads, shows
// or sends them derives from these tables. A new field is a row in each, and the compiler names
// the rest.
import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import { isVisible, Text } from '../../base/values.ts';

/** The most code points of a text that people write. */
export const longestCharacters = 5_000;

/** 25 to 5000 code points, some of them visible. */
const ReviewText = v.pipe(
  Text(25, longestCharacters),
  v.check(isVisible, 'must have some visible character'),
);

export const Rating = v.pipe(
  v.number('must be an integer from 1 to 5'),
  v.integer('must be an integer from 1 to 5'),
  v.minValue(1, 'must be an integer from 1 to 5'),
  v.maxValue(5, 'must be an integer from 1 to 5'),
);

/** The fields as stored and exported. A field is null if it is empty, or newer than the data. */
export const Written = v.object({
  // An imported text may be shorter or longer than the API allows.
  text: v.nullish(v.pipe(v.string(), v.nonEmpty('must not be empty')), null),
  rating: v.nullish(Rating, null),
});
export type Written = v.InferOutput<typeof Written>;
export type WrittenName = keyof Written;

/**
 * The most bytes of UTF-8 of a text that people write: four for each character. An import keeps
 * longer ones, see long-text.ts.
 */
export const longestText = 4 * longestCharacters;

/** The most bytes of such a text in JSON: a control character takes six. */
export const longestTextInJson = 6 * longestCharacters;

/** The fields with the whole text. A stored review may hold only the beginning of a long one. */
export type WholeWritten = Written & { long_text?: undefined };

/** The fields as an author sends them. */
export const SentWritten = v.object({
  text: v.nullish(ReviewText, null),
  rating: v.nullish(Rating, null),
} satisfies Record<WrittenName, v.GenericSchema>);

/** Descriptions of the fields in requests. */
export const sentTexts: Record<WrittenName, string> = {
  text: '25 to 5000 characters, at least one of them visible. Stored verbatim',
  rating: '1 to 5',
};

/** Descriptions of the fields in answers, each with an example. */
export const shownTexts: { [Name in WrittenName]: readonly [string, example: Written[Name]] } = {
  text: [
    'The text, verbatim; `null` if there is only a rating',
    'Forty minutes that reward every new listen.',
  ],
  rating: ['1 to 5; `null` if there is only a text', 5],
};

/** The names of the fields, in the order of answers and exports. */
export const writtenNames = /* @__PURE__ */ Object.keys(Written.entries) as readonly WrittenName[];

/** Fields of which at least one is required (spec, endpoint 3). */
const neededFields = ['text', 'rating'] as const satisfies readonly WrittenName[];

/** All fields, empty. */
export const nothingWritten: Written = /* @__PURE__ */ v.parse(Written, {});

/** Returns the written fields alone. */
export function writtenIn(source: WholeWritten): Written {
  return pick(source, writtenNames);
}

/** Returns the fields after a change, which leaves out those that stay. */
export function withChange(before: WholeWritten, change: Partial<Written>): Written {
  const changed = Object.entries(change).filter(([, value]) => value !== undefined);
  return writtenIn({ ...before, ...Object.fromEntries(changed) });
}

/** Is true if no field differs. */
export function isSameWritten(one: WholeWritten, other: WholeWritten): boolean {
  return writtenNames.every((name) => one[name] === other[name]);
}

/** Is true if one of the needed fields is there. */
export function hasNeeded(written: Written): boolean {
  return neededFields.some((name) => written[name] !== null);
}
