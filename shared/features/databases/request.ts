import * as v from 'valibot';
import { canonicalUuid } from '../../base/values.ts';
import type { DatabaseType } from '../../core/entity/databases.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import { fill, type Provider } from '../../core/entity/metadata-provider.ts';
import type { Description, EntityRecord } from '../../core/entity/record.ts';
import { Described, List } from './answer.ts';

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
 * Returns the template to ask for one entity by its id. For a database that answers for several it
 * is the path below the type, or undefined if the path does not end with the type.
 */
function lookupOf(api: string): string | undefined {
  if (!isOfLists(api)) return api;
  const [path = '', ...queries] = api.split('?');
  if (!path.endsWith('/{type}')) return undefined;
  const others = queries
    .join('?')
    .split('&')
    .filter((each) => each !== '' && !isOfLists(each));
  return `${path}/{id}${others.length > 0 ? '?' : ''}${others.join('&')}`;
}

/** Returns true if an entity that an answer for several lacks can be asked for by its id. */
export const canLookUp = ({ api }: Provider) => isOfLists(api) && lookupOf(api) !== undefined;

/**
 * Thrown for an answer that makes no sense: an error of the database about these entities, an
 * answer that is too long, or one that cannot be read. Another entity may have a good answer. Any
 * other error means that the database cannot be reached or is busy.
 */
export class OddAnswer extends Error {}

/** The description of an entity, and its id in the database now, if that is another. */
type Found = Description & Pick<EntityRecord, 'merged_into'>;

/**
 * Asks for at most `batchSize` entities of a type. Returns what is found by id, without those that
 * are unknown or cannot be described. Throws `OddAnswer`, or another error if the database fails.
 */
export async function askFor(
  provider: Provider,
  type: EntityType,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Found>> {
  const { api, agent } = provider;
  const [first = ''] = ids;
  if (!isOfLists(api)) return lookUp(provider, type, first, signal);
  const query = `${searchFields[type as DatabaseType]}:(${ids.join(' OR ')})`;
  const url = fill(api, type, first)
    .replace('{ids}', ids.join(','))
    .replace('{query}', encodeURIComponent(query));
  const response = await request(url, agent, signal);
  if (!response.ok) throw await failureOf(response);
  const answer = await readJson(response, Math.min(maxBytes.all, ids.length * maxBytes.each));
  const list = v.safeParse(List, answer);
  if (!list.success) throw new OddAnswer('The answer has no list');
  const byId = new Map(list.output.map((each) => [each.id.toLowerCase(), each]));
  return described(ids, (id) => byId.get(id));
}

/** Asks for one entity by its id, as `askFor` does. */
export async function lookUp(
  { api, agent }: Provider,
  type: EntityType,
  id: string,
  signal: AbortSignal,
): Promise<Map<string, Found>> {
  const response = await request(fill(lookupOf(api) ?? api, type, id), agent, signal);
  if (response.status === 404 || response.status === 410) {
    await response.body?.cancel();
    return new Map();
  }
  if (!response.ok) throw await failureOf(response);
  const answer = await readJson(response, maxBytes.each);
  const found = described([id], () => answer);
  const description = found.get(id);
  const current = idNow(answer, response.url);
  if (description && current !== undefined && current !== id) {
    found.set(id, { ...description, merged_into: current });
  }
  return found;
}

const Identified = v.object({ id: v.optional(v.string()), bbid: v.optional(v.string()) });

/** Returns the id that the answer says, or that its address has after a redirect. */
function idNow(answer: unknown, url: string): string | undefined {
  const named = v.safeParse(Identified, answer);
  const said = named.success ? (named.output.id ?? named.output.bbid) : undefined;
  const parts = [said ?? '', ...new URL(url).pathname.split('/').toReversed()];
  return parts.map(canonicalUuid).find((each) => each !== undefined);
}

function described(ids: readonly string[], answerOf: (id: string) => unknown): Map<string, Found> {
  return new Map(
    ids.flatMap((id) => {
      const result = v.safeParse(Described, answerOf(id));
      return result.success ? [[id, result.output] as const] : [];
    }),
  );
}

/** Returns the error of a status. A busy database says so by 429 or 503. */
export async function failureOf(response: Response): Promise<Error> {
  await response.body?.cancel();
  const { status } = response;
  const message = `The database answers ${status}`;
  return status === 429 || status === 503 ? new Error(message) : new OddAnswer(message);
}

const redirects = [301, 302, 303, 307, 308];

/**
 * Asks a database. Follows one redirect within the origin of the configured address, such as that
 * of an entity that was merged. Throws `OddAnswer` for any other redirect.
 */
export async function request(url: string, agent: string, signal: AbortSignal): Promise<Response> {
  const headers = { Accept: 'application/json', 'User-Agent': agent };
  const ask = (address: string) => fetch(address, { headers, redirect: 'manual', signal });
  const first = await ask(url);
  if (!redirects.includes(first.status)) return first;
  await first.body?.cancel();
  const target = URL.parse(first.headers.get('location') ?? '', url);
  const isOwn = target?.origin === new URL(url).origin && target.username + target.password === '';
  if (!isOwn) throw new OddAnswer('The database redirects elsewhere');
  const second = await ask(target.href);
  if (!redirects.includes(second.status)) return second;
  await second.body?.cancel();
  throw new OddAnswer('The database redirects twice');
}

/**
 * Reads the body as JSON. Throws `OddAnswer` if it cannot be read, or exceeds `most` bytes, without
 * reading the rest.
 */
export async function readJson(response: Response, most: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > most) throw new OddAnswer(`The answer has over ${most} bytes`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: string };
    const isUnreadable = error instanceof SyntaxError || `${code}`.startsWith('Z_');
    throw isUnreadable ? new OddAnswer('The answer is not JSON') : error;
  }
}
