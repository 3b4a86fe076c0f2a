import { authUrl } from '../auth-url.ts';
import { pick } from '../pick.ts';
import { batchGet } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { type EntityType, entityTypes, groupOf } from './entity-type.ts';
import { pageOf, providerOf } from './metadata-provider.ts';
import { pictureOf } from './picture.ts';
import type { Metadata } from './presented.ts';
import { type Entity, type EntityRecord, recordIn, recordKey } from './record.ts';

// Names and pages of entities, for pages and answers, from the table alone.

/** An entity with a name. Pages also know its artists or authors, and its year. */
export interface KnownEntity extends Metadata {
  by?: string | undefined;
  year?: string | undefined;
}

/** Returns the metadata of each entity, in their order, null for an entity without a name. */
export async function findMetadata(entities: readonly Entity[]): Promise<(KnownEntity | null)[]> {
  const keys = new Map(entities.map(recordKey).map((key) => [keyString(key), key]));
  const items = await batchGet([...keys.values()]);
  return entities.map((entity) => {
    const record = recordIn(entity, items.get(keyString(recordKey(entity))));
    return record ? knownEntity(record) : null;
  });
}

/**
 * Returns the type of which an entity has a name here, if there is one alone. Reads a record of
 * each type, so half a unit for each.
 */
export async function findNamedType(entity_id: string): Promise<EntityType | undefined> {
  const known = await findMetadata(entityTypes.map((entity_type) => ({ entity_id, entity_type })));
  const [only, ...others] = known.flatMap((each) => each ?? []);
  return others.length === 0 ? only?.type : undefined;
}

/** Returns an entity for pages. The page of a thing without one elsewhere is the page here. */
export function knownEntity(record: EntityRecord): KnownEntity {
  const { entity_id: id, entity_type: type, name, about = null } = record;
  const image = pictureOf(type, id) ?? record.image ?? null;
  const provider = providerOf(groupOf(type));
  const elsewhere = provider ? pageOf(provider, type, id) : record.url;
  const url = elsewhere ?? `${authUrl()}/entity/${id}`;
  return { id, type, name, url, about, image, by: record.by, year: record.year };
}

/** Presents an entity as answers have it. */
export function presentMetadata(known: KnownEntity | null): Metadata | null {
  return known && pick(known, ['id', 'type', 'name', 'url', 'about', 'image']);
}
