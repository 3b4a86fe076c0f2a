// The log of decisions: an entry for each decision, listed for all and for the person concerned.
import { randomUUID } from 'node:crypto';
import { notFound } from '../../base/errors.ts';
import type { Partition } from '../../base/list/descend.ts';
import { type ListPage, readNewest } from '../../base/list/read-page.ts';
import { pick } from '../../base/pick.ts';
import { batchGet, getItems } from '../../base/table/batch.ts';
import { type Key, keyString, type SortKey } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { queryIndex } from '../../base/table/query.ts';
import { transact, type Write } from '../../base/table/transact.ts';
import type { RecordChange } from '../entity/links.ts';
import { countsKey, decisionKey, reviewKey, userKey } from '../keys.ts';
import { countsIn } from '../review/owner-counts.ts';
import { Review } from '../review/review.ts';
import { parseUser, type User } from '../user/user.ts';
import { mayWrite } from '../user/writer.ts';
import { type Decider, Decision, loggedFields, type RecordDecision } from './decision.ts';

/** In milliseconds since 1970. */
let latest = 0;

/**
 * The present time, later than that of the decision before in this process: the log is ordered by
 * it, and several decisions may be made within a millisecond. A clock that was set back by more
 * than a second is followed.
 */
function timeOfDecision(): string {
  const now = Date.now();
  latest = now > latest || now < latest - 1000 ? now : latest + 1;
  return new Date(latest).toISOString();
}

/** Makes a decision of this moment, with a new id. */
export function newDecision(
  decision: Decision['decision'],
  { reason, note, moderator_id }: Decider,
  about: Pick<Decision, 'user_id' | 'review_id' | 'reports'> & Partial<Decision>,
): Decision {
  const id = randomUUID();
  return { id, ...about, decision, reason, note, moderator_id, decided_at: timeOfDecision() };
}

/**
 * Makes the entry of the log for a change of a record, or for a first one. Its subject is who wrote
 * the words.
 */
export function entryOf(
  decision: 'name' | 'correct' | RecordDecision,
  { before, after }: RecordChange,
  by: Decider,
): Decision {
  const { entity_id, entity_type, user_id = null } = after;
  return newDecision(decision, by, {
    user_id,
    review_id: null,
    reports: 0,
    entity_id,
    entity_type,
    ...(before && { before: pick(before, loggedFields) }),
    after: pick(after, loggedFields),
  });
}

/** Writes a decision into the log, on condition that the decider is still a moderator. */
export function logged(decision: Decision): Write[] {
  const { moderator_id } = decision;
  const entry = logEntry(decision);
  if (moderator_id === null) return [entry];
  const Key = userKey(moderator_id);
  const isModerator: Write = {
    ConditionCheck: { Key, where: mayWrite, was: { is_moderator: true } },
    otherwise: notFound('Page'),
  };
  return [entry, isModerator];
}

/** Writes a decision into the log without that condition: it carries out an earlier decision. */
export function logEntry(decision: Decision): Write {
  const { id, user_id, moderator_id, decided_at } = decision;
  // What people name or correct themselves is no decision on them.
  const list = user_id === moderator_id ? 'NAMING' : 'SUBJECT';
  const Item = {
    ...decisionKey(id),
    all: 'DECISION',
    ...(user_id !== null && { author: `${list}#${user_id}` }),
    date: `${decided_at}#${id}`,
    ...decision,
  };
  return { Put: { Item } };
}

/** A part of the log about a person: decisions on them, or the names that they gave themselves. */
export type Log = 'SUBJECT' | 'NAMING';

/** Reads a page of the log, newest first: all, or a part of it about a person. */
export async function listDecisions(
  limit: number,
  { userId, about = 'SUBJECT', after }: { userId?: string; about?: Log; after?: SortKey } = {},
): Promise<Pick<ListPage, 'next'> & { decisions: Decision[] }> {
  const log: Partition =
    userId === undefined
      ? { scope: 'all', value: 'DECISION' }
      : { scope: 'author', value: `${about}#${userId}` };
  const { entries, next } = await readNewest(log, limit, after);
  return { decisions: await readDecisions(entries), next };
}

/** Yields the whole log, newest first, page by page. For operators. */
export async function* allDecisions(): AsyncGenerator<Decision[]> {
  const pages = queryIndex('all-by-date', 'DECISION', { descending: true, pageSize: 100 });
  for await (const entries of pages) yield readDecisions(entries);
}

/** Yields the log about a person page by page, the newest first, down to a time. */
export async function* decisionsAbout(
  userId: string,
  about: Log,
  since?: string,
): AsyncGenerator<Decision[]> {
  const pages = queryIndex('author-by-date', `${about}#${userId}`, {
    range: { low: since },
    descending: true,
    pageSize: 100,
  });
  for await (const entries of pages) yield readDecisions(entries);
}

/** A decision with the current state of its review. */
export interface Decided {
  decision: Decision;
  review: Review | undefined;
}

/** Reads a page of the decisions on a user and the user's reviews, newest first. */
export async function listDecided(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Pick<ListPage, 'next'> & { decided: Decided[] }> {
  const { decisions, next } = await listDecisions(limit, { userId, after });
  const ids = new Set(decisions.flatMap(({ review_id }) => review_id ?? []));
  const items = await batchGet([...ids].map(reviewKey));
  const decided = decisions.map((decision) => {
    const item = items.get(keyString(reviewKey(decision.review_id ?? '')));
    return { decision, review: parseItem(Review, item) };
  });
  return { decided, next };
}

/** Reads what moderators need to know of a user, if the account exists. */
export async function findHistory(
  userId: string,
): Promise<{ user: User; reviews: number; decisions: Decision[] } | undefined> {
  const [[item, counts], { decisions }] = await Promise.all([
    getItems([userKey(userId), countsKey(userId)], { consistent: true }),
    listDecisions(20, { userId }),
  ]);
  const user = parseUser(item);
  if (!user) return undefined;
  // Its parts are newer, and may be many.
  const isListed = decisions.some(({ id }) => id === user.taken_back);
  const isMissing = user.taken_back !== undefined && !isListed;
  const whole = isMissing ? await readDecisions([decisionKey(`${user.taken_back}`)]) : [];
  return { user, reviews: countsIn(counts).all, decisions: [...whole, ...decisions] };
}

/** Reduces a decision on an account that is being erased to ids, and unlists it. */
export async function eraseDecision({ pk, sk }: Key, isGone: Write): Promise<void> {
  const set = { note: '', author: undefined };
  await transact([isGone, { Update: { Key: { pk, sk }, set, was: { sk } } }]);
}

async function readDecisions(entries: readonly Key[]): Promise<Decision[]> {
  return parseItems(Decision, await getItems(entries));
}
