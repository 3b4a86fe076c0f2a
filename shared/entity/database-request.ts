import * as v from 'valibot';
import { Described, type Description, List } from './database-answer.ts';
import type { DatabaseType } from './databases.ts';
import type { EntityType } from './entity-type.ts';
import { fill, type Provider } from './metadata-provider.ts';

// Requests to the music and book databases.

/** Search field of the music database for the id of an entity. */
const searchFields: Partial<Record<DatabaseType, string>> = {
  event: 'eid',
  place: 'pid',
  release_group: 'rgid',
  work: 'wid',
  artist: 'arid',
  label: 'laid',
  recording: 'rid',
};

const maxBytes = { each: 262_144, all: 4_194_304 };

/** Number of entities of a type that one request can ask for. */
export function batchSize({ api }: Provider): number {
  return isOfLists(api) ? 100 : 1;
}

const isOfLists = (api: string) => /\{(ids|query)\}/.test(api);

/**
 * Asks for at most `batchSize` entities of a type. Returns their descriptions by id, without those
 * that are unknown or cannot be parsed. Throws any error.
 */
export async function askFor(
  { api, agent }: Provider,
  type: EntityType,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Description>> {
  const query = `${searchFields[type as DatabaseType]}:(${ids.join(' OR ')})`;
  const url = fill(api, type, ids[0] ?? '')
    .replace('{ids}', ids.join(','))
    .replace('{query}', encodeURIComponent(query));
  const response = await request(url, agent, signal);
  const isList = isOfLists(api);
  if (!response.ok) {
    await response.body?.cancel();
    const isMissing = response.status === 404 || response.status === 410;
    if (isMissing && !isList) return new Map();
    throw new Error(`The database answers ${response.status}`);
  }
  const most = Math.min(maxBytes.all, ids.length * maxBytes.each);
  const answer = await readJson(response, most);
  const byId: ReadonlyMap<string, unknown> = isList
    ? new Map(v.parse(List, answer).map((each) => [each.id.toLowerCase(), each]))
    : new Map(ids.map((id) => [id, answer]));
  const descriptions = new Map<string, Description>();
  for (const id of ids) {
    const described = v.safeParse(Described, byId.get(id));
    if (described.success) descriptions.set(id, described.output);
  }
  return descriptions;
}

/** Asks a database. Only the configured address is asked: a redirect throws. */
export function request(url: string, agent: string, signal: AbortSignal): Promise<Response> {
  const headers = { Accept: 'application/json', 'User-Agent': agent };
  return fetch(url, { headers, redirect: 'error', signal });
}

/** Reads the body as JSON. Throws when it exceeds `most` bytes, without reading the rest. */
export async function readJson(response: Response, most: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > most) throw new Error(`The answer has over ${most} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}
