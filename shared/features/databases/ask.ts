import { describeError } from '../../base/describe-error.ts';
import { patienceOf } from '../../base/table/pace.ts';
import { type EntityType, groupOf } from '../../core/entity/entity-type.ts';
import { type KnownEntity, knownEntity } from '../../core/entity/metadata.ts';
import { type Provider, pageOf, providerOf } from '../../core/entity/metadata-provider.ts';
import {
  type Entity,
  type EntityRecord,
  isSettled,
  readRecord,
  recordWrites,
  renewed,
  renewedAfter,
} from '../../core/entity/record.ts';
import { writeRecords } from '../../core/entity/write-records.ts';
import { askFor, lookUp } from './request.ts';
import { takeTurn } from './search.ts';

// Asks the music and book databases for records of entities, and stores what they give.

/** Milliseconds that a form waits for its turn to ask, and then for the answer. */
const patience = 1_000;

/**
 * Asks a database for at most `batchSize` entities of one type, or for one of them by its id alone
 * if `isLookup`. Returns the records of those that it knows. Throws like `askFor`.
 */
export async function askForRecords(
  provider: Provider,
  entity_type: EntityType,
  ids: readonly string[],
  { signal, isLookup = false }: { signal: AbortSignal; isLookup?: boolean },
): Promise<EntityRecord[]> {
  const answer = isLookup
    ? await lookUp(provider, entity_type, ids[0] ?? '', signal)
    : await askFor(provider, entity_type, ids, signal);
  const now = Date.now();
  return [...answer].map(([entity_id, description]) => ({
    entity_id,
    entity_type,
    ...description,
    url: pageOf(provider, entity_type, entity_id),
    origin: provider.group,
    written_at: new Date(now).toISOString(),
    due_at: now + renewedAfter,
  }));
}

/**
 * Asks the database of an entity that has no public name here, for two seconds at most, and keeps
 * the name. What a moderator has removed stays without one. Call it for people who are signed in
 * and about to write, and for nobody else.
 */
export async function askForMetadata(entity: Entity): Promise<KnownEntity | null> {
  const { entity_type, entity_id } = entity;
  const provider = providerOf(groupOf(entity_type));
  if (!provider) return null;
  try {
    const before = await readRecord(entity);
    if (before && isSettled(before)) return null;
    if (!(await takeTurn(provider.group, patienceOf(patience)))) return null;
    const signal = AbortSignal.timeout(patience);
    const [record] = await askForRecords(provider, entity_type, [entity_id], { signal });
    if (!record) return null;
    await writeRecords([recordWrites(before, renewed(before, record))]);
    return knownEntity(record);
  } catch (error) {
    console.warn({ message: 'No name', error: describeError(error) });
    return null;
  }
}
