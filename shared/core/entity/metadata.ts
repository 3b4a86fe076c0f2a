import { authUrl } from '../../base/auth-url.ts';
import { pick } from '../../base/pick.ts';
import { batchGet } from '../../base/table/batch.ts';
import { keyString } from '../../base/table/item.ts';
import { type EntityType, entityTypes, groupOf } from './entity-type.ts';
import { pageOf, providerOf } from './metadata-provider.ts';
import { pictureOf } from './picture.ts';
import type { Metadata, PresentedState } from './presented.ts';
import { type Entity, type EntityRecord, recordIn, recordKey } from './record.ts';
import { isNameFor, isPublicName, type Viewer } from './state.ts';

// Names and pages of entities, for pages and answers, from the table alone.

/** An entity with a name. Pages also know its artists or authors, and its year. */
export interface KnownEntity extends Metadata {
  by?: string | undefined;
  year?: string | undefined;
  /** Set if its author and moderators alone read the name. */
  state?: EntityRecord['state'];
  /** The entity that it is the same as. */
  leads_to?: string | undefined;
}

/**
 * Returns the metadata of each entity, in their order, null for an entity without a name that
 * everybody may read. A `viewer` also reads the own names that wait, and a moderator all of them.
 */
export async function findMetadata(
  entities: readonly Entity[],
  viewer?: Viewer,
): Promise<(KnownEntity | null)[]> {
  const records = await findRecords(entities);
  return records.map((record) => metadataOf(record, viewer));
}

/** Returns the metadata in a record, as `findMetadata` does. */
export function metadataOf(record: EntityRecord | undefined, viewer?: Viewer): KnownEntity | null {
  return record && isNameFor(record, viewer) ? knownEntity(record) : null;
}

/** Returns the record of each entity in any state, in their order, eventually consistent. */
export async function findRecords(
  entities: readonly Entity[],
): Promise<(EntityRecord | undefined)[]> {
  const keys = new Map(entities.map(recordKey).map((key) => [keyString(key), key]));
  const items = await batchGet([...keys.values()]);
  return entities.map((entity) => recordIn(entity, items.get(keyString(recordKey(entity)))));
}

/**
 * Returns the record of an id in any state that `isShown` accepts. Without its type, that is the
 * one of the one type of which the id has one, and costs half a unit for each type.
 */
export async function findRecord(
  entity_id: string,
  type: EntityType | null,
  isShown: (record: EntityRecord) => boolean = () => true,
): Promise<EntityRecord | undefined> {
  const types = type === null ? entityTypes : [type];
  const found = await findRecords(types.map((entity_type) => ({ entity_id, entity_type })));
  const [only, ...others] = found.filter((record) => record !== undefined).filter(isShown);
  return others.length === 0 ? only : undefined;
}

/** Returns an entity for pages. The page of a thing without one elsewhere is the page here. */
export function knownEntity(record: EntityRecord): KnownEntity {
  const { entity_id: id, entity_type: type, name, about = null } = record;
  const { by, year, state, leads_to } = record;
  const image = pictureOf(type, id) ?? record.image ?? null;
  const provider = providerOf(groupOf(type));
  const elsewhere = provider ? pageOf(provider, type, id) : record.url;
  const url = elsewhere ?? `${authUrl()}/entity/${id}`;
  return { id, type, name, url, about, image, by, year, state, leads_to };
}

/** Presents the state of an entity, which has no name for the public while that waits. */
export function presentState(record: EntityRecord | undefined): PresentedState {
  if (!record || record.state === 'waiting') return { state: null, leads_to: null };
  const { leads_to = null } = record;
  return isPublicName(record)
    ? { state: 'public', leads_to }
    : { state: 'removed', leads_to: null };
}

/** Presents an entity as change feeds have it: without its name if that is not public. */
export function presentEntity(record: EntityRecord): PresentedState & { entity: Metadata | null } {
  const entity = isPublicName(record) ? presentMetadata(knownEntity(record)) : null;
  return { entity, ...presentState(record) };
}

/** Presents an entity as answers have it. */
export function presentMetadata(known: KnownEntity | null): Metadata | null {
  return known && pick(known, ['id', 'type', 'name', 'url', 'about', 'image']);
}
