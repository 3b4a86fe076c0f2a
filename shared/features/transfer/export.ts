// Makes records of a scan of the table: all for operators, or the public ones.
import * as v from 'valibot';
import { type License, licenses } from '../../base/licenses.ts';
import { pick } from '../../base/pick.ts';
import type { Item } from '../../base/table/item.ts';
import { parseItems } from '../../base/table/parse.ts';
import { type Progress, scanItems } from '../../base/table/query.ts';
import type { EntityType } from '../../core/entity/entity-type.ts';
import { entityOf, recordIn, stateFields } from '../../core/entity/record.ts';
import { isPublicName } from '../../core/entity/state.ts';
import { caseKey } from '../../core/keys.ts';
import { Case, countReports, queuedIn, Report } from '../../core/review/case.ts';
import { isPublic } from '../../core/review/review.ts';
import { type Revision, revisionOf } from '../../core/review/revision.ts';
import { User } from '../../core/user/user.ts';
import { type PublicRecord, reviewRecord } from '../changes/public.ts';
import { type ExportedKind, kindNames, kinds } from '../kinds.ts';
import { listedIn, Webhook, withoutCursor } from '../webhooks/public.ts';
import {
  exportedKindOf,
  fullReviewRecord,
  isObject,
  rawRecord,
  userRecord,
  voteRecord,
  wholeReview,
} from './item-record.ts';
import {
  formats,
  formatVersion,
  type Header,
  type RawKind,
  type TransferRecord,
} from './record.ts';
import type { Spool } from './spool.ts';

/** Scans the table into a spool, from where the spool stands. Reports the number of items read. */
export async function scanInto(spool: Spool, onProgress?: Progress): Promise<void> {
  const from = spool.position();
  if (from !== null) {
    for await (const { items, position } of scanItems({ from, onProgress })) {
      spool.add(items, position);
    }
  }
  spool.sort();
}

/**
 * Yields all records of a spool in a deterministic order: kinds in the order of their table. Each
 * review is followed by its votes, reports, waiting text and case. A record that names a missing
 * record is left out: the missing one was deleted during the scan.
 */
export function* allRecords(spool: Spool): Generator<TransferRecord> {
  const replaced = spool.replaced();
  for (const kind of kindNames) {
    if (kinds[kind].unexported || kinds[kind].beside) continue;
    for (const { id, items } of spool.read(kind as ExportedKind)) {
      if (kind === 'user') {
        const [user] = ofKind('user', items);
        if (user) yield userRecord(user, ofKind('contact', items)[0]);
      } else if (kind === 'review') {
        if (!replaced.has(id)) yield* recordsOfReview(items, spool);
      } else {
        const isReplaced = ({ user_id, entity_id }: Item) =>
          kind === 'claim' && replaced.has(`${user_id} ${entity_id}`);
        const lasting = items.filter((item) => !isReplaced(item));
        yield* rawRecords(kind as RawKind, lasting, spool);
      }
    }
  }
}

function* recordsOfReview(items: readonly Item[], spool: Spool): Generator<TransferRecord> {
  const found = reviewIn(items);
  if (!found || !spool.hasThings(found.item)) return;
  const { item: reviewItem, revisions } = found;
  yield fullReviewRecord(reviewItem, revisions);
  for (const item of ofKind('vote', items)) {
    if (spool.hasThings(item)) yield voteRecord(item, revisions.length);
  }
  const reports = ofKind('report', items).filter((item) => spool.hasThings(item));
  yield* rawRecords('report', reports, spool);
  yield* rawRecords('waiting', ofKind('waiting', items), spool);
  for (const item of ofKind('case', items)) yield caseRecord(item, reports);
}

/** Forms in which items are exported, if not as they are stored. */
const forms: { [K in RawKind]?: (item: Item, spool: Spool) => Item[] } = {
  webhook: portable,
  entity: lastingRecord,
  decision: portableDecision,
};

function* rawRecords(
  kind: RawKind,
  items: readonly Item[],
  spool: Spool,
): Generator<TransferRecord> {
  for (const item of items) {
    if (!kinds[kind].isLasting && !spool.hasThings(item)) continue;
    for (const form of forms[kind]?.(item, spool) ?? [item]) yield rawRecord(kind, form);
  }
}

/** A decision about an erased account stays without its note. */
function portableDecision({ author, ...item }: Item, spool: Spool): Item[] {
  return [spool.hasThings(item as Item) ? { author, ...item } : { ...item, note: '' }];
}

/** Fields of a record that mean something in another table. */
const lastingFields = [
  'entity_id',
  'entity_type',
  'name',
  'about',
  'by',
  'year',
  'url',
  'image',
  'origin',
  'written_at',
  'merged_into',
  ...stateFields,
] as const;

/** Returns the record of an entity as an export has it, without an account that is gone. */
function lastingRecord(item: Item, spool: Spool): Item[] {
  const { pk, sk, user_id, author, date } = item;
  const fields = lastingFields.filter((name) => item[name] !== undefined);
  const writer = user_id !== undefined && spool.hasThings(item) ? { user_id, author, date } : {};
  const { entity_type, entity_id } = entityOf(pk) ?? {};
  return [{ pk, sk, ...writer, ...pick(item, fields), entity_type, entity_id }];
}

/**
 * Returns a webhook as an export has it, or none if it cannot be read. Its cursor means nothing in
 * another table: an imported webhook begins anew.
 */
function portable(item: Item): Item[] {
  const { pk, sk } = item;
  return parseItems(Webhook, [item]).map((webhook) => {
    const chosen = withoutCursor(webhook);
    return { pk, sk, ...listedIn(chosen), ...chosen };
  });
}

/** Makes the record of a case, which counts the exported reports. */
function caseRecord(item: Item, reports: readonly Item[]): TransferRecord {
  const reviewCase = v.parse(Case, item);
  const open = reports.filter(({ round }) => round === reviewCase.round);
  const { state, appeal, carried, is_held } = reviewCase;
  const hasReason =
    open.length > 0 || appeal !== undefined || carried !== undefined || is_held === true;
  const counted: Case =
    state === 'open' && hasReason
      ? {
          ...reviewCase,
          ...countReports(
            open.map((each) => v.parse(Report, each)),
            carried,
          ),
        }
      : { ...reviewCase, ...countReports([]), state: 'closed' };
  return rawRecord('case', { ...caseKey(reviewCase.review_id), ...queuedIn(counted), ...counted });
}

/** Yields the public reviews of a spool by id. */
export function* publicReviews(spool: Spool): Generator<PublicRecord> {
  const replaced = spool.replaced();
  for (const { id, items } of spool.read('review')) {
    const found = reviewIn(items);
    if (!found || replaced.has(id) || !isPublic(found.review)) continue;
    if (spool.hasThings(found.item)) yield reviewRecord(found.review, found.revisions);
  }
}

/** Returns a review of these items with all its revisions, unless something is missing. */
function reviewIn(items: readonly Item[]) {
  const [item] = ofKind('review', items);
  const review = item && wholeReview(item, ofKind('text', items));
  if (!review) return undefined;
  const revisions = ofKind('revision', items) as unknown[] as Revision[];
  // Revisions made after the review was read are skipped.
  const earlier = revisions.filter(({ id }) => Number(id) <= review.edits);
  if (earlier.length < review.edits) return undefined;
  return { item, review, revisions: [...earlier, revisionOf(review)] };
}

/** The record of an entity in a public dump. */
interface PublicEntity {
  kind: 'entity';
  id: string;
  type: EntityType;
  name: string;
  about: string | null;
  url: string | null;
  image: string | null;
  leads_to: string | null;
}

/** Yields the records of entities with public names of a spool, by type and id. */
export function* publicEntities(spool: Spool): Generator<PublicEntity> {
  for (const { items } of spool.read('entity')) {
    for (const item of items) {
      const entity = entityOf(item.pk);
      const record = entity && recordIn(entity, item);
      if (!record || !isPublicName(record)) continue;
      const { entity_id: id, entity_type: type, name } = record;
      const { about = null, url = null, image = null, leads_to = null } = record;
      yield { kind: 'entity', id, type, name, about, url, image, leads_to };
    }
  }
}

const publicNames = ['id', 'display_name', 'created', 'karma'] as const;

type PublicUser = { kind: 'user' } & Pick<User, (typeof publicNames)[number]>;

/** Yields the accounts of a spool that have a public review, by id. */
export function* publicUsers(spool: Spool): Generator<PublicUser> {
  const authors = new Set<string>();
  for (const { user_id } of publicReviews(spool)) authors.add(user_id);
  for (const { id, items } of spool.read('user')) {
    const [item] = ofKind('user', items);
    if (item && authors.has(id)) yield { kind: 'user', ...pick(v.parse(User, item), publicNames) };
  }
}

/**
 * Makes the headers of a public dump: of its users and entities, and of its reviews by licence in
 * use.
 */
export function publicHeaders(spool: Spool): {
  users: Header;
  entities: Header;
  reviews: Map<string, Header>;
} {
  const format = formats.public;
  const reviews = new Map(licenses.map((license) => [license.id, newHeader({ format, license })]));
  for (const review of publicReviews(spool)) {
    count(review, reviews.get(review.license));
  }
  for (const [id, { counts }] of reviews) {
    if (!counts.review) reviews.delete(id);
  }
  return {
    users: headerOf(publicUsers(spool), format),
    entities: headerOf(publicEntities(spool), format),
    reviews,
  };
}

/** Reads all records to make their header. */
export function headerOf(records: Iterable<Countable>, format: string = formats.all): Header {
  const header = newHeader({ format });
  for (const record of records) {
    count(record, header);
  }
  return header;
}

type Countable = object & { kind: string };
type CountedHeader = Header & { counts: Record<string, number> };

function newHeader({ format, ...about }: { format: string; license?: License }): CountedHeader {
  return { kind: 'header', format, version: formatVersion, ...about, time: null, counts: {} };
}

function count(record: Countable, header?: CountedHeader): void {
  if (!header) return;
  header.counts[record.kind] = (header.counts[record.kind] ?? 0) + 1;
  const time = newestTime(record);
  if (time > (header.time ?? '')) header.time = time;
}

/** Formats records as JSON Lines, in chunks of about 64 KB. */
export function* jsonLines(records: Iterable<object>): Generator<string> {
  let chunk = '';
  for (const record of records) {
    chunk += `${JSON.stringify(record)}\n`;
    if (chunk.length < 65_536) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk) yield chunk;
}

function ofKind(kind: ExportedKind, items: readonly Item[]): Item[] {
  return items.filter((item) => exportedKindOf(item) === kind);
}

const timeNames = /^(created|published_on|timestamp|voted_at|renewed|[a-z_]+ed_at)$/;

/** Returns the newest time of an action in a record. Empty if there is none. */
function newestTime(value: unknown, name = ''): string {
  if (typeof value === 'string') return timeNames.test(name) ? value : '';
  if (!isObject(value)) return '';
  const times = Object.entries(value).map(([name, each]) => newestTime(each, name));
  return times.sort().at(-1) ?? '';
}
