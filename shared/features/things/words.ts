import type { Item } from '../../base/table/item.ts';
import type { EntityRecord } from '../../core/entity/record.ts';
import { folded, fromJoinedWords, fromPlace, wordStarts } from './folded.ts';
import { nameKey } from './kinds.ts';

// The words that a thing is found by: an item for each, in alphabetical order.

/**
 * Words of a name and its line that a thing is found by. Each costs a write unit. A name may cost
 * ten, and the places of a thing with reviews take four.
 */
export const mostWords = 6;

/** Words of the line that have a place, however long the name is, and words joined of others. */
const mostOfLine = 3;
const mostOfLineUnspaced = 2;
const mostJoined = 2;

/**
 * Bytes of words in a key. With type, id and namer an entry has at most 204: 20 make 4 KB. One that
 * leads to another thing has 238.
 */
const mostBytes = 101;

/** Levels, from most reviews down. Each is a range of keys, so reviewed things are found first. */
export const levels = [3, 2, 1, 0] as const;

/** Returns the level of a thing by its public reviews: 0, 1 to 9, 10 to 99, or more. */
export function levelOf(reviews: number): number {
  return reviews === 0 ? 0 : Math.min(levels[0], `${reviews}`.length);
}

/**
 * Returns the entries of a record at a level. `by` tells members apart who have named things. What
 * a database, moderators or the operator named has none. `leads_to` is the thing that such a name
 * finds.
 */
export function wordEntries(record: EntityRecord, level: number): Item[] {
  const { entity_id, entity_type, origin, user_id, leads_to } = record;
  // Moderators made it lead, so nobody fills a page with such names.
  const by = origin === 'member' && !leads_to ? user_id?.slice(0, 8) : undefined;
  return textsOf(record).map((words) => ({
    ...nameKey(level, words, entity_type, entity_id),
    ...(by !== undefined && { by }),
    ...(leads_to !== undefined && { leads_to }),
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
  const ofTitle = wordStarts(name);
  const ofLine = longerFirst(
    wordStarts(about).map(({ place, length }) => ({ place: title.length + 1 + place, length })),
  );
  const from = ({ place }: { place: number }) => fromPlace(words, place);
  const joined = fromJoinedWords(`${name} ${about}`).slice(0, mostJoined);
  // The L of L’Avventura is found by the joined word.
  const [{ length: letters } = { length: 0 }, second] = ofTitle;
  const isElided = joined.length > 0 && letters === 1 && second !== undefined && second.length > 1;
  const [first, ...others] = isElided ? ofTitle.slice(1) : ofTitle;
  const leading = [first ? from(first) : words, ...joined];
  const left = mostWords - leading.length;
  const isUnspaced = others.some(({ length }) => length === 0);
  const most = isUnspaced ? mostOfLineUnspaced : mostOfLine;
  const forLine = about === '' ? 0 : Math.min(ofLine.length, Math.max(most, left - others.length));
  const chosen = [
    ...leading,
    ...longerFirst(others)
      .slice(0, left - forLine)
      .map(from),
    ...ofLine.slice(0, forLine).map(from),
  ];
  return [...new Set(chosen.map(shortened))];
}

/** Sorts words by their length: `of` and `the` find too much. */
function longerFirst<T extends { length: number }>(starts: readonly T[]): T[] {
  return starts.toSorted((a, b) => b.length - a.length);
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
