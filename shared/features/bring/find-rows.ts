// Looks the rows of a file up: which things they are about, and which the person has reviewed.
import { hash } from 'node:crypto';
import * as v from 'valibot';
import { getItems } from '../../base/table/batch.ts';
import { isOwnType } from '../../core/entity/entity-type.ts';
import type { EntityRecord } from '../../core/entity/record.ts';
import { claimKey } from '../../core/keys.ts';
import { namingFields } from '../names/public.ts';
import { findNamesakes, folded } from '../things/public.ts';
import { type BroughtFile, nameOf, type Row } from './brought-file.ts';

const Naming = v.object(namingFields);

/** Rows that are looked up at a time. */
const atOnce = 5;

/** Looks the rows of a part up. Repeatable. */
export async function findRows(file: BroughtFile, rows: readonly Row[]): Promise<Row[]> {
  const found: Row[] = [];
  for (let start = 0; start < rows.length; start += atOnce) {
    const some = rows.slice(start, start + atOnce);
    found.push(...(await Promise.all(some.map((row) => findRow(file, row)))));
  }
  const ids = new Set(found.flatMap(({ entity_id }) => entity_id ?? []));
  const claims = await getItems([...ids].map((id) => claimKey(file.user_id, id)));
  // The claim of a deleted review with undecided reports prevents no other.
  const own = new Set([...ids].filter((_, i) => claims[i] && claims[i].reported === undefined));
  return found.map((row): Row => (own.has(row.entity_id ?? '') ? { ...row, state: 'have' } : row));
}

async function findRow({ user_id, entity_type }: BroughtFile, row: Row): Promise<Row> {
  if (row.state === 'bad' || row.state === 'have') return row;
  const namesakes = await findNamesakes({ entity_id: '', entity_type }, row.title);
  const meant = namesakes.filter((record) => isMeant(record, row));
  const [one, other] = meant;
  if (other) return { ...row, why: `${meant.length} things here have this name` };
  if (one) return { ...row, state: 'found', entity_id: one.entity_id };
  if (!isOwnType(entity_type)) return { ...row, why: 'Nothing here has this name' };
  const naming = v.safeParse(Naming, namingOf(row));
  if (!naming.success) return { ...row, why: `The name ${naming.issues[0].message}` };
  // The same for a file that is brought again, while its names wait for a moderator.
  const entity_id = derivedId(user_id, entity_type, nameOf(row));
  return { ...row, state: 'new', entity_id };
}

/** Returns the words by which a thing of a row is added. */
export function namingOf({ title, by, year }: Row) {
  const about = [by, year].filter(Boolean).join(' · ') || undefined;
  return { name: title, about, url: undefined };
}

/** A thing of another author, or else of another year, is another one. */
function isMeant({ about = '', by = about, year }: EntityRecord, row: Row): boolean {
  const line = folded(by);
  if (row.by !== undefined && /\p{L}/u.test(line)) {
    const name = folded(row.by).split(' ').at(-1) ?? '';
    return line.split(' ').includes(name);
  }
  const years = year ? [year] : (about.match(/\b\d{4}\b/g) ?? []);
  return row.year === undefined || years.length === 0 || years.includes(row.year);
}

/** Returns an id that is the same for the same texts: a UUID of a custom form (RFC 9562, 5.8). */
export function derivedId(...texts: readonly string[]): string {
  const hex = hash('sha256', JSON.stringify(texts));
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join('-');
}
