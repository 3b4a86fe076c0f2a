import { hash } from 'node:crypto';
import * as v from 'valibot';
import { describeError } from '../../base/describe-error.ts';
import { getItems } from '../../base/table/batch.ts';
import type { Key } from '../../base/table/item.ts';
import {
  inEpochSeconds,
  type Patience,
  patienceOf,
  takeSoon,
  waitInLine,
} from '../../base/table/pace.ts';
import { getItem } from '../../base/table/query.ts';
import { transact } from '../../base/table/transact.ts';
import { canonicalUuid } from '../../base/values.ts';
import type { Database } from '../../core/entity/databases.ts';
import { type EntityGroup, type EntityType, groupOf } from '../../core/entity/entity-type.ts';
import { pageOf, settingsOf, withType } from '../../core/entity/metadata-provider.ts';
import { type EntityRecord, recordKey, recordWrites } from '../../core/entity/record.ts';
import { writeRecords } from '../../core/entity/write-records.ts';
import { Described, List } from './answer.ts';
import { paceKey, searchKey, searchPaceKey } from './kinds.ts';
import { failureOf, readJson, request } from './request.ts';

// Search for entities by name in the music and book databases.

/** An entity that a database found, and what tells it from others of its name. */
const FoundEntity = v.object({
  id: v.string(),
  name: v.string(),
  about: v.string(),
  by: v.optional(v.string()),
  year: v.optional(v.string()),
});
export type FoundEntity = v.InferOutput<typeof FoundEntity>;

const StoredSearch = v.object({ matches: v.array(FoundEntity), due_at: v.number() });

/** Matches of a page, and bytes of an answer that are read. */
const mostMatches = 10;
const mostBytes = 262_144;

/**
 * Milliseconds that we wait in line, then for an answer, and that we keep it. Lambda ends a request
 * after 15 s. With an interval of a second, ten people are in line. Everybody later reads that it
 * is busy.
 */
const patience = 12_000;
const mostForAnswer = 2_500;
const keptFor = 3_600_000;

/** Intervals for each search: with a long line, names get every fifth turn. */
const share = 1.25;

/** Least milliseconds between two searches, for a database without an interval. */
const leastPause = 100;

/** Returns true if the group has a database that can be searched by name. */
export function isSearchable(group: EntityGroup): group is Database {
  return group !== 'own' && templateOf(group) !== undefined;
}

/**
 * Searches for entities of a type by name. Waits in line, or returns `busy` if the line is long.
 * Returns `away` if the database cannot be searched or fails. Searches take turns with requests for
 * names, and four of five turns at most. Answers are kept for an hour, and so are the names in
 * them.
 */
export async function searchEntities(
  type: EntityType,
  name: string,
): Promise<FoundEntity[] | 'busy' | 'away'> {
  const group = groupOf(type);
  const template = group === 'own' ? undefined : templateOf(group);
  if (group === 'own' || template === undefined) return 'away';
  const Key = searchKey(hash('sha256', JSON.stringify([template, type, name])));
  const stored = await findStored(Key, false);
  if (stored) return stored;
  const isTurn = await takeTurn(group, patienceOf(patience));
  // Another one may have searched for the same meanwhile.
  const late = await findStored(Key, true);
  if (late) return late;
  if (!isTurn) return 'busy';
  try {
    const matches = await askForMatches(group, template, type, name);
    const due_at = Date.now() + keptFor;
    const expires_at = inEpochSeconds(due_at);
    await transact([{ Put: { Item: { ...Key, matches, due_at, expires_at } } }]);
    await keepMatches(type, matches, due_at);
    return matches;
  } catch (error) {
    console.warn({ message: 'No search', error: describeError(error) });
    return 'away';
  }
}

async function findStored(Key: Key, consistent: boolean): Promise<FoundEntity[] | undefined> {
  const stored = v.safeParse(StoredSearch, await getItem(Key, { consistent }));
  const isDue = !stored.success || stored.output.due_at <= Date.now();
  return isDue ? undefined : stored.output.matches;
}

function templateOf(group: Database): string | undefined {
  return process.env[`${group.toUpperCase()}_SEARCH`] || undefined;
}

/** Waits for a turn among people who ask a database, and then among requests for names. */
export async function takeTurn(group: Database, left: Patience): Promise<boolean> {
  const { interval } = settingsOf(group);
  const own = { Key: searchPaceKey(group), milliseconds: Math.max(leastPause, share * interval) };
  if (!(await waitInLine(own, left))) return false;
  return interval === 0 || takeSoon({ Key: paceKey(group), milliseconds: interval }, left);
}

/** Stores records for the pages of found entities that have none, until `due_at` (epoch ms). */
async function keepMatches(
  type: EntityType,
  matches: readonly FoundEntity[],
  due_at: number,
): Promise<void> {
  const group = groupOf(type);
  if (group === 'own') return;
  const { page } = settingsOf(group);
  if (!page) return;
  const entities = matches.map(({ id }) => ({ entity_id: id, entity_type: type }));
  const items = await getItems(entities.map(recordKey));
  const writes = entities.flatMap((entity, i) => {
    const match = matches[i];
    if (!match || items[i]) return [];
    const { id, about, ...description } = match;
    const record: EntityRecord = {
      ...entity,
      ...description,
      ...(about !== '' && { about }),
      url: pageOf({ page }, type, id),
      origin: group,
      due_at,
      expires_at: inEpochSeconds(due_at),
    };
    return [recordWrites(undefined, record)];
  });
  await writeRecords(writes);
}

async function askForMatches(
  group: Database,
  template: string,
  type: EntityType,
  name: string,
): Promise<FoundEntity[]> {
  const url = withType(template, type).replace('{name}', encodeURIComponent(name));
  const { agent } = settingsOf(group);
  const response = await request(url, agent, AbortSignal.timeout(mostForAnswer));
  if (!response.ok) throw await failureOf(response);
  const found = v.parse(List, await readJson(response, mostBytes));
  const byId = new Map(found.flatMap(matchOf).map((match) => [match.id, match]));
  return [...byId.values()].slice(0, mostMatches);
}

/** Reads a match. Returns none without an id and a name. */
function matchOf({ id: sent, ...found }: { id: string }): FoundEntity[] {
  const id = canonicalUuid(sent);
  const described = v.safeParse(Described, found);
  if (!id || !described.success) return [];
  return [{ id, about: '', ...described.output }];
}
