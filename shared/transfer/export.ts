import * as v from 'valibot';
import type { PublicRecord } from '../changes/presented.ts';
import { reviewRecord } from '../changes/record.ts';
import { Case, countReports, queuedIn } from '../moderation/case.ts';
import { Report } from '../moderation/report.ts';
import { nobody } from '../oauth/personal-token-repository.ts';
import { type License, licenses } from '../review/licenses.ts';
import { isPublic, Review } from '../review/review.ts';
import { Revision, revisionOf } from '../review/revision.ts';
import type { Item } from '../table/item.ts';
import { caseKey } from '../table/keys.ts';
import { scanItems } from '../table/query.ts';
import { User } from '../user/user.ts';
import { fullReviewRecord, kindOfItem, rawRecord, userRecord, voteRecord } from './item-record.ts';
import {
  formats,
  formatVersion,
  type Header,
  isObject,
  type RawKind,
  type TransferRecord,
} from './record.ts';
import type { Group, Spool } from './spool.ts';

/** A public account as dumps contain it. */
export interface PublicUserRecord {
  kind: 'user';
  id: string;
  display_name: string;
  /** ISO 8601. */
  created: string;
  karma: number;
}

/**
 * Scans the table into a spool, resuming where the spool stands. Reports the number of items read
 * to `onProgress`.
 */
export async function scanInto(spool: Spool, onProgress: (items: number) => void): Promise<void> {
  const from = spool.position();
  let read = 0;
  if (from !== null) {
    for await (const { items, position } of scanItems({ from })) {
      spool.add(items, position);
      read += items.length;
      onProgress(read);
    }
  }
  spool.sort();
}

/**
 * Yields all records of a spool in a deterministic order: users, identities, applications, grants,
 * marked claims, reviews, decisions. Each review is followed by its votes, reports and case. A
 * record that names a missing record is left out: the missing one was deleted during the scan.
 */
export function* allRecords(spool: Spool): Generator<TransferRecord> {
  const hasUser = (id: unknown) => spool.has(0, `${id}`, 'USER');
  const hasReferences = (kind: RawKind, { user_id, client_id }: Item) =>
    (hasUser(user_id) || (kind === 'identity' && user_id === undefined)) &&
    (kind !== 'grant' || client_id === nobody || spool.has(2, `${client_id}`, 'APP'));
  for (const { items } of spool.read(0)) {
    const user = items.find(({ sk }) => sk === 'USER');
    if (user)
      yield userRecord(
        user,
        items.find(({ sk }) => sk === 'CONTACT'),
      );
  }
  const replaced = spool.replaced();
  yield* raw([1, 2, 3, 6]);
  for (const { id, items } of spool.read(4)) {
    const stored = items.find(({ sk }) => sk === 'REVIEW');
    if (!stored || replaced.has(id) || !hasUser(stored.user_id)) continue;
    const review = fullReviewRecord(stored, ofKind(items, 'revision'));
    if (!review) continue;
    yield review;
    for (const item of ofKind(items, 'vote')) {
      if (hasUser(item.user_id)) yield voteRecord(item, review.revisions.length);
    }
    const reports = ofKind(items, 'report').filter(({ user_id }) => hasUser(user_id));
    for (const item of reports) yield rawRecord('report', item);
    for (const item of ofKind(items, 'case')) yield caseRecord(item, reports);
  }
  for (const { items } of spool.read(5)) {
    for (const { author, ...item } of items) {
      // A decision about an erased account stays without its note.
      const log = hasUser(item.user_id) ? { author, ...item } : { ...item, note: '' };
      yield rawRecord('decision', log);
    }
  }

  function* raw(groups: readonly Group[]): Generator<TransferRecord> {
    for (const group of groups) {
      for (const { items } of spool.read(group)) {
        for (const item of items) {
          const kind = kindOfItem(item) as RawKind;
          const isReplaced = replaced.has(`${item.user_id} ${item.entity_id}`);
          if (hasReferences(kind, item) && !isReplaced) yield rawRecord(kind, item);
        }
      }
    }
  }
}

/** Makes the record of a case, which counts the exported reports. */
function caseRecord(item: Item, reports: readonly Item[]): TransferRecord {
  const reviewCase = v.parse(Case, item);
  const open = reports.filter(({ round }) => round === reviewCase.round);
  const isOpen =
    reviewCase.state === 'open' && (open.length > 0 || reviewCase.appeal !== undefined);
  const counted: Case = {
    ...reviewCase,
    state: isOpen ? 'open' : 'closed',
    ...countReports(isOpen ? open.map((report) => v.parse(Report, report)) : []),
  };
  return rawRecord('case', { ...caseKey(reviewCase.review_id), ...queuedIn(counted), ...counted });
}

/** Yields the public reviews of a spool by id. */
export function* publicReviews(spool: Spool): Generator<PublicRecord> {
  const replaced = spool.replaced();
  for (const { id, items } of spool.read(4)) {
    const item = items.find(({ sk }) => sk === 'REVIEW');
    const review = item && v.parse(Review, item);
    if (!review || replaced.has(id) || !isPublic(review)) continue;
    const earlier = ofKind(items, 'revision')
      .map((revision) => v.parse(Revision, revision))
      .filter((revision) => revision.id <= review.edits);
    if (earlier.length < review.edits || !spool.has(0, review.user_id, 'USER')) continue;
    yield reviewRecord(review, [...earlier, revisionOf(review)]);
  }
}

/** Yields the public accounts of a spool by id. */
export function* publicUsers(spool: Spool): Generator<PublicUserRecord> {
  for (const { items } of spool.read(0)) {
    const item = items.find(({ sk }) => sk === 'USER');
    if (!item) continue;
    const { id, display_name, created, karma } = v.parse(User, item);
    yield { kind: 'user', id, display_name, created, karma };
  }
}

/**
 * Makes the headers of the files of a public dump: one file of users, and one file of reviews for
 * each licence in use.
 */
export function publicHeaders(spool: Spool): { users: Header; reviews: Map<string, Header> } {
  const format = formats.public;
  const byLicense = new Map(licenses.map((license) => [license.id, counting({ format, license })]));
  for (const review of publicReviews(spool)) byLicense.get(review.license)?.count(review);
  const reviews = [...byLicense].map(([id, { header }]) => [id, header()] as const);
  return {
    users: headerOf(publicUsers(spool), { format }),
    reviews: new Map(reviews.filter(([, { counts }]) => counts?.review)),
  };
}

/** Reads all records to make their header. */
export function headerOf(records: Iterable<Countable>, about: About = { format: formats.all }) {
  const { count, header } = counting(about);
  for (const record of records) count(record);
  return header();
}

type Countable = object & { kind: string };
interface About {
  format: string;
  license?: License;
}

function counting({ format, ...about }: About) {
  const counts: Record<string, number> = {};
  let newest = '';
  return {
    count(record: Countable): void {
      counts[record.kind] = (counts[record.kind] ?? 0) + 1;
      const time = newestTime(record);
      if (time > newest) newest = time;
    },
    header(): Header {
      const time = newest || null;
      return { kind: 'header', format, version: formatVersion, ...about, time, counts };
    },
  };
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

function ofKind(items: readonly Item[], kind: string): Item[] {
  return items.filter((item) => kindOfItem(item) === kind);
}

const timeNames = /^(created|published_on|timestamp|voted_at|renewed|[a-z_]+ed_at)$/;

/** Returns the newest time of an action in a record. Empty if there is none. */
function newestTime(value: unknown, name = ''): string {
  if (typeof value === 'string') return timeNames.test(name) ? value : '';
  if (!isObject(value)) return '';
  const times = Object.entries(value).map(([name, each]) => newestTime(each, name));
  return times.sort().at(-1) ?? '';
}
