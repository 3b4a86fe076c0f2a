import * as v from 'valibot';
import type { EntityGroup, EntityType } from './entity-type.ts';

/** A configured music or book database (see README.md). */
export interface Provider {
  /** URL templates of the JSON API and of the page for people. */
  api: string;
  page: string;
  /** User-Agent of our requests. */
  agent: string;
  /** Milliseconds between two requests by all our processes. 0 means no limit. */
  interval: number;
}

/** Search field of the music database for the id of an entity. */
const searchFields: Partial<Record<EntityType, string>> = {
  event: 'eid',
  place: 'pid',
  release_group: 'rgid',
  work: 'wid',
  artist: 'arid',
  label: 'laid',
  recording: 'rid',
};

/** A name, which the databases put in one of three places. */
const Named = v.pipe(
  v.object({
    name: v.optional(v.string()),
    title: v.optional(v.string()),
    defaultAlias: v.optional(v.object({ name: v.string() })),
  }),
  v.transform(({ name, title, defaultAlias }) => name ?? title ?? defaultAlias?.name),
  v.string(),
  // A lone surrogate cannot be stored. Control characters and direction marks would be shown.
  v.transform((name) =>
    name
      .toWellFormed()
      .replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '')
      .trim(),
  ),
  v.minLength(1),
  v.maxLength(1000),
);

/** Response for several entities. One of its fields is the list of those found. */
const List = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((answer) => Object.values(answer).find(Array.isArray)),
  v.array(v.looseObject({ id: v.string() })),
);

const maxBytes = { each: 262_144, all: 4_194_304 };

/** Database of a group. Undefined if none is configured. */
export function providerOf(group: EntityGroup): Provider | undefined {
  const prefix = group.toUpperCase();
  const api = process.env[`${prefix}_API`];
  const page = process.env[`${prefix}_PAGE`];
  const agent = process.env[`${prefix}_AGENT`] ?? 'review-service';
  const interval = Number(process.env[`${prefix}_INTERVAL`]) || 0;
  return api && page ? { api, page, agent, interval } : undefined;
}

/** Number of entities of a type that one request can ask for. */
export function batchSize({ api }: Provider): number {
  return /\{(ids|query)\}/.test(api) ? 100 : 1;
}

/**
 * Asks for the names of at most `batchSize` entities of a type. Returns them by id, with null for
 * an unknown entity. An entity whose name cannot be parsed is left out of a batch. Throws any
 * error. Redirects are not followed, so that only the configured address is asked.
 */
export async function askFor(
  { api, agent }: Provider,
  type: EntityType,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string | null>> {
  const query = `${searchFields[type]}:(${ids.join(' OR ')})`;
  const url = fill(api, type, ids[0] ?? '')
    .replace('{ids}', ids.join(','))
    .replace('{query}', encodeURIComponent(query));
  const response = await fetch(url, {
    headers: { Accept: 'application/json', 'User-Agent': agent },
    redirect: 'error',
    signal,
  });
  const isMissing = response.status === 404 || response.status === 410;
  const isList = /\{(ids|query)\}/.test(api);
  if (isMissing && !isList) {
    await response.body?.cancel();
    return new Map(ids.map((id) => [id, null]));
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`The database answers ${response.status}`);
  }
  const answer: unknown = JSON.parse(
    await readText(response, Math.min(maxBytes.all, ids.length * maxBytes.each)),
  );
  if (!isList) return new Map(ids.map((id) => [id, v.parse(Named, answer)]));
  const found = new Map(v.parse(List, answer).map((each) => [each.id.toLowerCase(), each]));
  return new Map(
    ids.flatMap((id): [string, string | null][] => {
      const each = found.get(id);
      if (!each) return [[id, null]];
      const named = v.safeParse(Named, each);
      return named.success ? [[id, named.output]] : [];
    }),
  );
}

/** Address of the page for people about an entity. */
export function pageOf({ page }: Pick<Provider, 'page'>, type: EntityType, id: string): string {
  return fill(page, type, id);
}

function fill(template: string, entityType: EntityType, id: string): string {
  const type = entityType.replace(/^bk_(literary_)?/, '').replaceAll('_', '-');
  return template.replace('{type}', type).replace('{id}', id);
}

/** Reads the body. Throws when it exceeds `most` bytes, without reading the rest. */
async function readText(response: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > most) throw new Error(`The answer has over ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
