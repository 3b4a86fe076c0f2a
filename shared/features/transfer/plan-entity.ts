import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import type { Item, Key } from '../../base/table/item.ts';
import type { Write } from '../../base/table/transact.ts';
import {
  EntityRecord,
  isByDatabase,
  isSettled,
  type linkFields,
  recordKey,
  recordWrites,
  renewedAfter,
} from '../../core/entity/record.ts';
import { type Find, hasAccount } from './find.ts';
import type { RawRecord } from './record.ts';

// What an import writes for the record of an entity.

/**
 * Plans the record of an entity. It stays when the account of who wrote it is gone. Its links to
 * what is the same stay unless the table has other ones. It replaces what only a search has found.
 */
export function planEntity({ item }: RawRecord, find: Find): Write[] {
  const existing = recordIn(find(item));
  if (existing && existing.expires_at === undefined) return [];
  const { user_id, ...stored } = v.parse(EntityRecord, item);
  const record = { ...stored, ...linksIn(stored, find), due_at: dueAfterImport(stored) };
  const isByAccount = user_id !== undefined && hasAccount(user_id, find);
  const before = existing && { ...pick(record, ['entity_id', 'entity_type']), ...existing };
  return recordWrites(before, isByAccount ? { ...record, user_id } : record);
}

/** Returns what is read of the record in an item, or undefined if the item has no name. */
function recordIn(item: Item | undefined) {
  return typeof item?.name === 'string'
    ? (pick(item, ['name', 'version', 'expires_at']) as Pick<
        EntityRecord,
        'name' | 'version' | 'expires_at'
      >)
    : undefined;
}

/** A database is asked again in its time, and at once for what a member wrote. */
function dueAfterImport(record: EntityRecord): number | undefined {
  if (isSettled(record)) return undefined;
  const wait = isByDatabase(record) ? renewedAfter : 0;
  return Date.parse(`${record.written_at}`) + wait || Date.now();
}

type Links = Pick<EntityRecord, (typeof linkFields)[number]>;

/** Returns the links of a record, but for those that the thing at their other end does not have. */
function linksIn({ entity_type, entity_id, ...links }: EntityRecord, find: Find): Links {
  const { same_as, leads_to, led_from = [] } = links;
  const findThing = (id: string) => find(recordKey({ entity_type, entity_id: id }));
  const end = leads_to === undefined ? undefined : findThing(leads_to);
  const isLed = !end || [end.led_from].flat().includes(entity_id);
  const rest = led_from.filter((id) => isLedTo(findThing(id), entity_id));
  return {
    same_as: isLed ? same_as : undefined,
    leads_to: isLed ? leads_to : undefined,
    led_from: rest.length > 0 ? rest : undefined,
  };
}

/** Returns true if a thing leads to this one, or is not there yet. */
const isLedTo = (other: Item | undefined, id: string) => !other || other.leads_to === id;

/** Returns the keys of the thing that a record leads to, and of those that lead to it. */
export function linkedKeys({ entity_type, leads_to, led_from = [] }: EntityRecord): Key[] {
  const ids = leads_to === undefined ? led_from : [leads_to, ...led_from];
  return ids.map((entity_id) => recordKey({ entity_type, entity_id }));
}
