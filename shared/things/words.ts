import { folded, fromJoinedWords, fromPlace, wordStarts } from '../entity/folded.ts';
import type { EntityRecord } from '../entity/record.ts';
import type { Item } from '../table/item.ts';
import { nameKey } from '../table/keys.ts';

// The words that a thing is found by: an item for each, in alphabetical order.

/**
 * Words of a name and its line that a thing is found by. Each costs a write unit. A name may cost
 * ten, and the places of a thing with reviews take four.
 */
export const mostWords = 6;

/** Words of the line that have a place, however long the name is, and words joined of others. */
const mostOfLine = 3;
const mostJoined = 2;

/** Bytes of words in a key. With type, id and namer an entry has at most 204: 20 make 4 KB. */
const mostBytes = 101;

/** Levels, from most reviews down. Each is a range of keys, so reviewed things are found first. */
export const levels = [3, 2, 1, 0] as const;

/** Returns the level of a thing by its public reviews: 0, 1 to 9, 10 to 99, or more. */
export function levelOf(reviews: number): number {
  return reviews === 0 ? 0 : Math.min(levels[0], `${reviews}`.length);
}

/**
 * Returns the entries of a record at a level. `by` tells members apart who have named things. What
 * a database, moderators or the operator named has none.
 */
export function wordEntries(record: EntityRecord, level: number): Item[] {
  const { entity_id, entity_type, origin, user_id } = record;
  const by = origin === 'member' ? user_id?.slice(0, 8) : undefined;
  return textsOf(record).map((words) => ({
    ...nameKey(level, words, entity_type, entity_id),
    ...(by !== undefined && { by }),
  }));
}

/** Returns the entries of a record at all levels. */
export function wordEntriesAtAll(record: EntityRecord): Item[] {
  return levels.flatMap((level) => wordEntries(record, level));
}

/** Returns the folded words of a name and its line, from each word on that it is found by. */
function textsOf({ name, about = '' }: Pick<EntityRecord, 'name' | 'about'>): string[] {
  const title = folded(name);
  const words = `${title} ${folded(about)}`.trim();
  const starts = wordStarts(words);
  const from = (start: number) => fromPlace(words, start);
  const ofLine = starts.filter((start) => start > title.length).map(from);
  const [first = words, ...others] = starts.filter((start) => start < title.length).map(from);
  const leading = [first, ...fromJoinedWords(`${name} ${about}`).slice(0, mostJoined)];
  const left = mostWords - leading.length;
  const forLine = Math.min(ofLine.length, Math.max(mostOfLine, left - others.length));
  const chosen = [
    ...leading,
    ...longerFirst(others).slice(0, left - forLine),
    ...longerFirst(ofLine).slice(0, forLine),
  ];
  return [...new Set(chosen.map(shortened))];
}

/** Sorts texts by the length of their first word: `of` and `the` find too much. */
function longerFirst(texts: readonly string[]): string[] {
  const lengthOf = (text: string) => `${text} `.indexOf(' ');
  return texts.toSorted((a, b) => lengthOf(b) - lengthOf(a));
}

/** Cuts words to the bytes of a key, at a whole character. */
export function shortened(words: string): string {
  const cut = Buffer.from(words).subarray(0, mostBytes).toString();
  return cut.length < words.length ? cut.replace(/\ufffd+$/, '').trim() : words;
}

/** Returns all words of a name and its line, also joined ones, to compare a search with. */
export function wordsOf({ name, about = '' }: Pick<EntityRecord, 'name' | 'about'>): string {
  return [folded(name), folded(about), ...fromJoinedWords(`${name} ${about}`)].join(' ');
}
