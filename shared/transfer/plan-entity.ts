import * as v from 'valibot';
import {
  EntityRecord,
  isByDatabase,
  isSettled,
  type linkFields,
  recordKey,
  recordWrites,
  renewedAfter,
} from '../entity/record.ts';
import type { Item, Key } from '../table/item.ts';
import type { Write } from '../table/transact.ts';
import { type Find, hasAccount } from './find.ts';
import type { RawRecord } from './record.ts';

// What an import writes for the record of an entity.

/**
 * Plans the record of an entity. It stays when the account of who wrote it is gone. Its links to
 * what is the same stay unless the table has other ones.
 */
export function planEntity({ item }: RawRecord, find: Find): Write[] {
  if (typeof find(item)?.name === 'string') return [];
  const { user_id, ...stored } = v.parse(EntityRecord, item);
  const record = { ...stored, ...linksIn(stored, find), due_at: dueAfterImport(stored) };
  const isByAccount = user_id !== undefined && hasAccount(user_id, find);
  return recordWrites(undefined, isByAccount ? { ...record, user_id } : record);
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
