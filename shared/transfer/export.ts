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

/** A public account outside of the table. */
export interface PublicUserRecord {
  kind: 'user';
  id: string;
  display_name: string;
  /** ISO 8601. */
  created: string;
  karma: number;
}

/** Reads the table into a spool, from where it stands. Gives the number of items read to `onProgress`. */
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
 * All records of a spool, in an order that depends on nothing but them: users, identities,
 * applications, grants, marked claims, each review followed by its votes, reports and case,
 * decisions. What a record names is there, or the record is left out: it was deleted while the
 * table was read.
 */
export function* allRecords(spool: Spool): Generator<TransferRecord> {
  const hasUser = (id: unknown) => spool.has(0, `${id}`, 'USER');
  const ofOthers = (kind: RawKind, { user_id, client_id }: Item) =>
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
      // What is left of a decision about an account that is erased.
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
          if (ofOthers(kind, item) && !isReplaced) yield rawRecord(kind, item);
        }
      }
    }
  }
}

/** A case counts the reports that are there with it. */
function caseRecord(item: Item, reports: readonly Item[]): TransferRecord {
  const file = v.parse(Case, item);
  const open = reports.filter(({ round }) => round === file.round);
  const isOpen = file.state === 'open' && (open.length > 0 || file.appeal !== undefined);
  const counted: Case = {
    ...file,
    state: isOpen ? 'open' : 'closed',
    ...countReports(isOpen ? open.map((report) => v.parse(Report, report)) : []),
  };
  return rawRecord('case', { ...caseKey(file.review_id), ...queuedIn(counted), ...counted });
}

/** The public reviews of a spool by id. */
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

/** The users of a spool by id, as everybody may see them. */
export function* publicUsers(spool: Spool): Generator<PublicUserRecord> {
  for (const { items } of spool.read(0)) {
    const item = items.find(({ sk }) => sk === 'USER');
    if (!item) continue;
    const { id, display_name, created, karma } = v.parse(User, item);
    yield { kind: 'user', id, display_name, created, karma };
  }
}

/** The first lines of the files of a public dump: that of users, and one of reviews for each licence that some have. */
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

/** Reads all records, to say in a first line what follows it. */
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

/** Records as JSON Lines, in pieces of some size. */
export function* jsonLines(records: Iterable<object>): Generator<string> {
  let piece = '';
  for (const record of records) {
    piece += `${JSON.stringify(record)}\n`;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  if (piece) yield piece;
}

function ofKind(items: readonly Item[], kind: string): Item[] {
  return items.filter((item) => kindOfItem(item) === kind);
}

const timeNames = /^(created|published_on|timestamp|voted_at|renewed|[a-z_]+ed_at)$/;

/** The newest of the times in a record at which something was done; empty where there is none. */
function newestTime(record: object): string {
  let newest = '';
  for (const [name, value] of Object.entries(record)) {
    const time = Array.isArray(value)
      ? value
          .map((each) => (isObject(each) ? newestTime(each) : ''))
          .sort()
          .at(-1)
      : name === 'item' && isObject(value)
        ? newestTime(value)
        : timeNames.test(name) && typeof value === 'string'
          ? value
          : '';
    if (time && time > newest) newest = time;
  }
  return newest;
}
