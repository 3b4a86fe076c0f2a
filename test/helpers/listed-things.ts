/** Things that are listed, and the entries that list them. A test file needs `film` and `game`. */
import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/list-entities.ts';
import { type Item, keyString } from '../../shared/base/table/item.ts';
import { transact } from '../../shared/base/table/transact.ts';
import type { EntityType } from '../../shared/core/entity/entity-type.ts';
import { type Entity, type EntityRecord, recordWrites } from '../../shared/core/entity/record.ts';
import { auditPartitions } from '../../shared/features/audit/audit.ts';
import { invoke } from './invoke.ts';
import { scanTable } from './items.ts';

export const film = 'film' as EntityType;
export const game = 'game' as EntityType;

/** Asks for a page of a list of things. */
export const list = (query: Record<string, string>) => invoke(handler, { query });

/** Reads a whole list by its cursors. Returns the entities, and the sizes of pages. */
export async function walk(query: Record<string, string>) {
  const entities: Record<string, unknown>[] = [];
  const sizes: number[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { status, body, headers } = await list({ ...query, ...(cursor && { cursor }) });
    expect(status).toBe(200);
    if (body.next) expect(headers.link).toContain(`cursor=${body.next}`);
    entities.push(...body.entities);
    sizes.push(body.entities.length);
    cursor = body.next;
  }
  return { entities, sizes, names: entities.map(({ name }) => name) };
}

/** Stores a record in the place of another, or of none. */
export async function name(
  entity: Entity,
  words: Partial<EntityRecord>,
  before?: EntityRecord,
): Promise<EntityRecord> {
  const record: EntityRecord = { ...entity, name: 'Blue', origin: 'operator', ...words };
  await transact(recordWrites(before, record));
  return record;
}

/** A thing that nobody has named yet. */
export const newThing = (entity_type: EntityType = film): Entity => ({
  entity_id: randomUUID(),
  entity_type,
});

/** Entries of things that an audit misses, or finds beside those that there should be. */
export async function faults(): Promise<string[]> {
  const items = await scanTable();
  const keys = items.map((item) => (isEntry(item) ? keyString(item) : item.pk));
  const due = keys.filter((pk) => /^(ENTITY|METADATA|WORD|THINGS)#/.test(pk));
  const behind = new Set<string>();
  const { differences } = await auditPartitions([...new Set(due)], { settle: 0 }, behind);
  // Things of these tests lead to others that are not there.
  const others = differences.filter(({ attribute }) => attribute !== 'led_from');
  return [...behind, ...others.map(keyString)];
}

const isEntry = ({ pk }: Item) => /^(WORD|THINGS)#/.test(pk);

/** The entries of things among items, by their keys. */
export const entriesIn = (items: readonly Item[]) =>
  items.filter(isEntry).toSorted((a, b) => (a.pk + a.sk < b.pk + b.sk ? -1 : 1));
