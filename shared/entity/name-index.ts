import type { DynamoDBRecord } from 'aws-lambda';
import { batchGet, batchWrite } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { metadataKey, nameKey, namesFrom } from '../table/keys.ts';
import { collect, queryItems, scanItems } from '../table/query.ts';
import type { EntityType } from './entity-type.ts';
import { folded, fromEachWord, hasWord } from './folded.ts';
import {
  type Entity,
  type EntityRecord,
  entityOf,
  recordIn,
  recordKey,
  recordSort,
} from './record.ts';
import { isFindable } from './state.ts';

// The index of names: an item for each of the first words of a name, in alphabetical order. The
// stream keeps it, because a transaction would cost twice the units.

/** Words of a name that it is found by: each costs a write unit. */
export const mostWords = 8;

/** Bytes of an entry's words. With its id, an entry has at most 350 bytes. */
const mostBytes = 240;

/** Entries that a search reads: 22 KB, so three units. A record costs one at most. */
const mostEntries = 64;

/** Most results of a search. */
export const mostFound = 8;

/** Returns the keys of the entries of an entity with a name. */
export function entriesOf({ entity_type, entity_id }: Entity, name: string): Key[] {
  const texts = fromEachWord(folded(name), mostWords).map(shortened);
  return [...new Set(texts)].map((words) => nameKey(words, entity_type, entity_id));
}

/** Cuts to the bytes of an entry, at a whole character. */
function shortened(words: string): string {
  const cut = Buffer.from(words).subarray(0, mostBytes).toString();
  return cut.length < words.length ? cut.replace(/\ufffd+$/, '') : words;
}

/** Follows the names in stream records. Repeated records change nothing. */
export async function indexNames(records: readonly DynamoDBRecord[]): Promise<void> {
  // One after the other: those of one entity come in their order.
  for (const { dynamodb: { Keys, OldImage, NewImage } = {} } of records) {
    const entity = Keys?.sk?.S === recordSort ? entityOf(`${Keys.pk?.S}`) : undefined;
    if (!entity) continue;
    const before = named(entity, OldImage);
    const after = named(entity, NewImage);
    const has = (keys: readonly Key[], { sk }: Key) => keys.some((key) => key.sk === sk);
    await batchWrite([
      ...before.filter((key) => !has(after, key)).map((key) => ({ delete: key })),
      ...after.filter((key) => !has(before, key)).map((key) => ({ put: key })),
    ]);
  }
}

/** Returns the entries of an image, none if the entity is not to be found. */
function named(entity: Entity, image: Image): Key[] {
  const name = image?.name?.S;
  return name !== undefined && isFindable(image) ? entriesOf(entity, name) : [];
}

type Image = NonNullable<DynamoDBRecord['dynamodb']>['NewImage'];

/**
 * Writes the entries of all names by one scan, after a bulk import or an upgrade. Returns the
 * number of names.
 */
export async function rebuildNames(
  onProgress: (items: number) => void = () => {},
): Promise<number> {
  let read = 0;
  let names = 0;
  for await (const { items } of scanItems()) {
    const entries = items.map(entriesIn);
    await batchWrite(entries.flat().map((key) => ({ put: key })));
    names += entries.filter(({ length }) => length > 0).length;
    read += items.length;
    onProgress(read);
  }
  return names;
}

/** Returns the entries that the record in an item has, none for another item. */
export function entriesIn(item: Item): Key[] {
  const entity = item.sk === recordSort ? entityOf(item.pk) : undefined;
  return entity && isFindable(item) ? entriesOf(entity, `${item.name}`) : [];
}

/**
 * Finds records by a name: the beginning of any of its first words, or of several words of it.
 * Returns at most eight, for at most twelve read units, eventually consistent.
 */
export async function findByName(name: string, type?: EntityType): Promise<EntityRecord[]> {
  const text = shortened(folded(name));
  if (text === '') return [];
  let entries = await readEntries(text);
  const words = text.split(' ');
  if (entries.length === 0 && words.length > 1) {
    const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
    const all = await readEntries(longest);
    entries = all.filter((entry) => words.every((word) => hasWord(entry.words, word)));
  }
  const found = new Map(
    entries
      .filter(({ entity }) => type === undefined || entity.entity_type === type)
      .map(({ entity }) => [keyString(recordKey(entity)), entity]),
  );
  const entities = [...found.values()].slice(0, mostFound);
  const items = await batchGet(entities.map(recordKey));
  const records = entities.flatMap(
    (entity) => recordIn(entity, items.get(keyString(recordKey(entity)))) ?? [],
  );
  const isMatch = ({ name: found }: EntityRecord) =>
    words.every((word) => hasWord(folded(found), word));
  // The very name first. The sort is stable.
  const rank = (record: EntityRecord) => (folded(record.name) === text ? 0 : 1);
  // The index may be behind.
  const current = records.filter((record) => isFindable(record) && isMatch(record));
  return current.toSorted((a, b) => rank(a) - rank(b));
}

async function readEntries(words: string): Promise<{ words: string; entity: Entity }[]> {
  const page = { pageSize: mostEntries, consistent: false };
  const items = await collect(queryItems(namesFrom(words), page), mostEntries);
  return items.flatMap(({ sk }) => {
    const parts = sk.split('#');
    const [type = '', id = ''] = parts.slice(-2);
    const entity = entityOf(metadataKey(type, id).pk);
    return entity ? [{ words: parts.slice(1, -2).join('#'), entity }] : [];
  });
}
