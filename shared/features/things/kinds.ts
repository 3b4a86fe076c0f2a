import type { Kind } from '../../base/table/kind.ts';

// Keys and kinds of the lists of things, and of the search by name.

/**
 * Returns the key of a thing in the index of names, under the words from one of its words on. The
 * space before `#` sorts before all that can follow a word, so the very name is the first.
 */
export const nameKey = (level: number, words: string, type: string, id: string) =>
  namesFrom(level, `${words} #${type}#${id}`);

/** Returns the prefix of all names of a level that have a word from which on they begin so. */
export const namesFrom = (level: number, words: string) => ({
  pk: `WORD#${[...words][0] ?? ''}`,
  sk: `NAMED#${level}#${words}`,
});

/** Returns the key of a thing in a list of a type, or of all types, or the prefix of the list. */
export const thingKey = (sort: string, type: string | undefined, place = '') => ({
  pk: ['THINGS', sort, ...(type === undefined ? [] : [type])].join('#'),
  sk: `THING#${place}`,
});

export const kinds = {
  // One for each word that a thing is found by: 101 bytes of words, a type, an id and who named it.
  // So 20 make 4 KB: 204 bytes each.
  name: {
    key: {
      form: { pk: 'WORD#<character>', sk: 'NAMED#<level>#<words>#<entity_type>#<entity_id>' },
    },
    kilobytes: 204 / 1024,
    unexported: 'word of a thing, made from its record and counts',
    isCounted: true,
    writers: ['lists'],
  },
  // A thing in a list of things, see things/listing.ts: texts of 820 bytes, and numbers.
  place: {
    key: { form: { pk: 'THINGS#<list>', sk: 'THING#<path>#<entity_id>' } },
    unexported: 'place of a thing, made from its record and counts',
    isCounted: true,
    writers: ['lists'],
  },
} as const satisfies Record<string, Kind>;
