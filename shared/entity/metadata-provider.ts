import * as v from 'valibot';
import { Described, type Description, List } from './database-answer.ts';
import { type Database, type DatabaseType, databases } from './databases.ts';
import type { EntityGroup, EntityType } from './entity-type.ts';

// Requests to the music and book databases.

/** A configured music or book database (see README.md). */
export interface Provider {
  group: Database;
  /** URL templates of the JSON API and of the page for people. */
  api: string;
  page: string;
  /** User-Agent of our requests. */
  agent: string;
  /** Milliseconds between two requests by all our processes, or 0. */
  interval: number;
}

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

/** Returns the settings of a database, whether or not it is configured. */
export function settingsOf(
  group: Database,
): Partial<Omit<Provider, 'group'>> & Pick<Provider, 'agent' | 'interval'> {
  const prefix = group.toUpperCase();
  return {
    api: process.env[`${prefix}_API`],
    page: process.env[`${prefix}_PAGE`],
    agent: process.env[`${prefix}_AGENT`] || 'review-service',
    interval: Number(process.env[`${prefix}_INTERVAL`]) || 0,
  };
}

/** Returns the database of a group, if it has one that is configured. */
export function providerOf(group: EntityGroup): Provider | undefined {
  if (group === 'own') return undefined;
  const { api, page, ...others } = settingsOf(group);
  return api && page ? { group, api, page, ...others } : undefined;
}

/** Returns the databases that are configured. */
export function providers(): Provider[] {
  return (Object.keys(databases) as Database[]).flatMap((group) => providerOf(group) ?? []);
}

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

/** Returns the page of an entity in its database, for people. */
export function pageOf({ page }: Pick<Provider, 'page'>, type: EntityType, id: string): string {
  return fill(page, type, id);
}

function fill(template: string, type: EntityType, id: string): string {
  return withType(template, type).replace('{id}', id);
}

/** Fills in the type as its database spells it, such as `release-group`. */
export function withType(template: string, type: EntityType): string {
  return template.replace('{type}', type.replace(/^bk_(literary_)?/, '').replaceAll('_', '-'));
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
