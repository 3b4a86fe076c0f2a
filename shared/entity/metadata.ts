import * as v from 'valibot';
import { type EntityType, groupOf } from './entity-type.ts';
import type { Metadata } from './presented.ts';

/** An entity as a review names it. */
interface Entity {
  entity_id: string;
  entity_type: EntityType;
}

/** The databases answer with a name at one of three places. */
const Answer = v.pipe(
  v.object({
    name: v.optional(v.string()),
    title: v.optional(v.string()),
    defaultAlias: v.optional(v.object({ name: v.string() })),
  }),
  v.transform(({ name, title, defaultAlias }) => name ?? title ?? defaultAlias?.name),
  v.string(),
);

const timeoutMs = 2_000;
const keepMs = { known: 3_600_000, unknown: 60_000 };
const maxKept = 5_000;
const kept = new Map<string, { metadata: Metadata | null; until: number }>();

/**
 * Metadata of each of the entities, in their order; null where the database does not know one, does not answer in 2 s, or none is
 * configured. Never throws. Configuration: the URL templates MUSICDB_API and MUSICDB_PAGE (BOOKDB_… likewise) with
 * `{type}`, such as `release-group`, and `{id}`.
 */
export async function findMetadata(entities: readonly Entity[]): Promise<(Metadata | null)[]> {
  const asked = new Map<string, Promise<Metadata | null>>();
  return Promise.all(
    entities.map((entity) => {
      const key = keyOf(entity);
      const answer = asked.get(key) ?? find(key, entity);
      asked.set(key, answer);
      return answer;
    }),
  );
}

async function find(key: string, entity: Entity): Promise<Metadata | null> {
  const before = kept.get(key);
  if (before && before.until > Date.now()) return before.metadata;
  const metadata = await ask(entity);
  if (kept.size >= maxKept) kept.clear();
  kept.set(key, { metadata, until: Date.now() + (metadata ? keepMs.known : keepMs.unknown) });
  return metadata;
}

/** Reviews need not agree on what an entity is: each is asked for as what it is said to be. */
function keyOf({ entity_type, entity_id }: Entity): string {
  return `${entity_type} ${entity_id}`;
}

async function ask(entity: Entity): Promise<Metadata | null> {
  const group = groupOf(entity.entity_type).toUpperCase();
  const api = process.env[`${group}_API`];
  const page = process.env[`${group}_PAGE`];
  if (!api || !page) return null;
  try {
    const response = await fetch(fill(api, entity), {
      headers: { Accept: 'application/json', 'User-Agent': 'review-service' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) return null;
    return {
      id: entity.entity_id,
      type: entity.entity_type,
      name: v.parse(Answer, await response.json()),
      url: fill(page, entity),
    };
  } catch {
    // A review is worth showing without the name of its entity.
    return null;
  }
}

function fill(template: string, { entity_id, entity_type }: Entity): string {
  const type = entity_type.replace(/^bk_(literary_)?/, '').replaceAll('_', '-');
  return template.replace('{type}', type).replace('{id}', entity_id);
}
