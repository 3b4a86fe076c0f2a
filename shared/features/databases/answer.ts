import * as v from 'valibot';
import { type Description, mostCharacters } from '../../core/entity/record.ts';

// Reads what the music and book databases answer about an entity.

/** A name, which the databases put in one of three places. */
const Named = v.pipe(
  v.object({
    name: v.optional(v.string()),
    title: v.optional(v.string()),
    defaultAlias: v.optional(v.object({ name: v.string() })),
  }),
  v.transform(({ name, title, defaultAlias }) => name ?? title ?? defaultAlias?.name),
  v.string(),
  v.transform(displayable),
  v.minLength(1),
  v.maxLength(1000),
  v.transform(shortened),
);

const text = v.fallback(v.string(), '');
const Place = v.fallback(v.object({ name: text }), { name: '' });

/** Artists of MusicBrainz or authors of BookBrainz, with the words between them. */
const Credits = v.fallback(
  v.array(
    v.object({
      name: v.string(),
      joinphrase: v.optional(v.string()),
      joinPhrase: v.optional(v.string()),
    }),
  ),
  [],
);

/** Everything beside the name may be absent. What cannot be read is left out. */
const Details = v.object({
  'artist-credit': Credits,
  authors: Credits,
  authorCredit: v.fallback(v.object({ names: Credits }), { names: [] }),
  'first-release-date': text,
  'life-span': v.fallback(v.object({ begin: text }), { begin: '' }),
  beginDate: text,
  area: Place,
  disambiguation: v.fallback(
    v.union([
      v.string(),
      v.pipe(
        v.object({ comment: text }),
        v.transform(({ comment }) => comment),
      ),
    ]),
    '',
  ),
});

/** An entity as a database describes it. */
export const Described = v.pipe(
  v.looseObject({}),
  v.rawTransform(({ dataset, addIssue, NEVER }): Description => {
    const named = v.safeParse(Named, dataset.value);
    if (named.success) return describe(named.output, v.parse(Details, dataset.value));
    addIssue({ message: named.issues[0].message });
    return NEVER;
  }),
);

/** An entity in a list, by its id. */
const Listed = v.pipe(
  v.looseObject({ id: v.optional(v.string()), bbid: v.optional(v.string()) }),
  v.transform(({ id, bbid, ...entity }) => ({ ...entity, id: id ?? bbid })),
  v.looseObject({ id: v.string() }),
);

/**
 * Response for several entities. One of its fields is the list of those found. Entries that make no
 * sense are left out.
 */
export const List = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((answer) => Object.values(answer).find(Array.isArray)),
  v.array(v.unknown()),
  v.transform((entries) =>
    entries.flatMap((entry) => {
      const result = v.safeParse(Listed, entry);
      return result.success ? [result.output] : [];
    }),
  ),
);

/** Removes what cannot be stored (lone surrogates), and control characters and direction marks. */
function displayable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '')
    .trim();
}

function shortened(text: string): string {
  return [...text].slice(0, mostCharacters).join('');
}

function describe(name: string, details: v.InferOutput<typeof Details>): Description {
  const credits = [details['artist-credit'], details.authors, details.authorCredit.names];
  const by = credits.map(joined).find((names) => names !== '');
  const date = details['first-release-date'] || details['life-span'].begin || details.beginDate;
  const year = /^\d{4}/.exec(date)?.[0];
  const parts = [by, year, displayable(details.area.name), displayable(details.disambiguation)];
  const about = shortened(parts.filter(Boolean).join(' · '));
  return {
    name,
    ...(about !== '' && { about }),
    ...(by !== undefined && { by: shortened(by) }),
    ...(year !== undefined && { year }),
  };
}

/** Joins names with the words between them, such as ` & `, or with commas. */
function joined(credits: v.InferOutput<typeof Credits>): string {
  const parts = credits.flatMap(({ name, joinphrase, joinPhrase }, i) => {
    const isLast = i === credits.length - 1;
    return [name, joinphrase ?? joinPhrase ?? (isLast ? '' : ', ')];
  });
  return displayable(parts.join(''));
}
