import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type ApiError, invalidRequest, notFound } from '../errors.ts';
import { type List, type Page, readPage } from '../list/read-page.ts';
import { announceFacet } from '../list/totals.ts';
import { countMatching, facetCounts } from '../review/counts.ts';
import { facetOf, isPublic, Review } from '../review/review.ts';
import { countWrites, replaceReview } from '../review/review-writes.ts';
import { batchGet, getItems } from '../table/batch.ts';
import { type Entry, type Key, keyString, type SortKey } from '../table/item.ts';
import { reportKey, reviewKey, userKey } from '../table/keys.ts';
import { getItem, queryIndex } from '../table/query.ts';
import { retryStale, transact, type Write } from '../table/transact.ts';
import { isAlive, parseUser, type User } from '../user/user.ts';
import { findUser, getUser } from '../user/user-repository.ts';
import { checkWriter, mayWrite } from '../user/writer.ts';
import { type Case, replaceCase } from './case.ts';
import { type Found, readCase, readShownCase } from './case-repository.ts';
import { Decision, decisionItem, type Why } from './decision.ts';
import type { Verdict } from './verdict.ts';

/** Who decides and why. `moderator_id` is null for the operator. */
export type By = Why & Pick<Decision, 'moderator_id'>;

/** What a moderator has looked at: a decision holds for that and nothing newer. */
export interface Seen {
  /** Of the case; 0 where there was none. */
  version: number;
  /** Of the review. */
  edits: number;
}

/**
 * Decides on a review: hides it, dismisses its reports, restores it, or upholds that it is hidden; and closes its case. Throws ApiError 404 when there
 * is no such review or the moderator is none, 400 when there is nothing of that kind to decide, when it is the moderator's own review, one that
 * the moderator has reported, or the moderator's decision that the author asks to look at again.
 */
export async function decideReview(reviewId: string, verdict: Verdict, by: By): Promise<Decision> {
  return retryStale(async () => {
    const found = await readCase(reviewId);
    refuseVerdict(verdict, found, by);
    return close(found, verdict, by);
  });
}

/**
 * The same of a review as a moderator has seen it: throws ApiError 400 when it has been decided or changed since, 404 for a draft. The same form
 * sent twice decides once.
 */
export async function decideAsSeen(
  reviewId: string,
  verdict: Verdict,
  by: By,
  { version, edits }: Seen,
): Promise<void> {
  await retryStale(async () => {
    const found = await readShownCase(reviewId);
    const { review, file } = found;
    if (version !== file.version || edits !== review.edits) {
      if (isDecidedSo(found, verdict, by)) return;
      throw await outdated(file, version);
    }
    refuseVerdict(verdict, found, by);
    await close(found, verdict, by);
  });
}

/**
 * Hides a review from the public or brings it back, for the operator. One that is so already stays so, and that is the answer where its author asks for
 * another look. Throws ApiError 404 when there is none.
 */
export async function setHidden(
  reviewId: string,
  isHidden: boolean,
  why: Why = { reason: 'other', note: '' },
): Promise<void> {
  await retryStale(async () => {
    const { review, file } = await readCase(reviewId);
    const isAsked = review.is_hidden && file.state === 'open';
    if (review.is_hidden === isHidden && !isAsked) return;
    const verdict = isHidden ? (isAsked ? 'uphold' : 'hide') : 'restore';
    await close({ review, file }, verdict, { ...why, moderator_id: null });
  });
}

/** Writes a decision on a review as it was read. */
async function close({ review, file }: Found, verdict: Verdict, by: By): Promise<Decision> {
  const { user_id, id: review_id } = review;
  const decision = newDecision(verdict, by, { user_id, review_id, reports: file.reports });
  const { reason, note, decided_at } = decision;
  const { appeal: _, ...withoutAppeal } = file;
  const after: Review = {
    ...review,
    is_hidden: verdict === 'hide' || verdict === 'uphold',
    moderation: { decision: verdict, reason, note, decided_at },
    // It was another decision that they have asked about.
    appealed_at: verdict === 'hide' ? undefined : review.appealed_at,
  };
  if (review.is_hidden && isPublic(after)) await announceFacet(facetOf(after));
  const author = { ConditionExpression: isAlive, otherwise: notFound('Review') };
  await transact([
    replaceReview(review, after),
    ...countWrites(review, after, author),
    replaceCase(file, {
      ...withoutAppeal,
      state: 'closed',
      round: file.round + 1,
      reports: 0,
      decided_by: by.moderator_id,
    }),
    ...logged(decision),
    ...(by.moderator_id === null ? [] : [hasNotReported(review_id, by.moderator_id)]),
  ]);
  return decision;
}

/**
 * Lets an author ask, once, for another look at the decision that hides a review: another moderator takes it. Throws ApiError 404 when there is no such
 * review of this user, 400 when it is not hidden or they have asked before.
 */
export async function appeal(reviewId: string, userId: string, statement: string): Promise<void> {
  await retryStale(async () => {
    const { review, file } = await readCase(reviewId);
    if (review.user_id !== userId) throw notFound('Review');
    if (!review.is_hidden) throw invalidRequest('This review is not hidden any more');
    // The same form sent twice.
    if (file.appeal === statement) return;
    if (review.appealed_at !== undefined) {
      throw invalidRequest('You have asked for another look at this decision already');
    }
    const now = new Date().toISOString();
    await transact([
      replaceReview(review, { ...review, appealed_at: now }),
      replaceCase(file, {
        ...file,
        state: 'open',
        opened_at: now,
        appeal: statement,
      }),
      checkWriter(userId, { ConditionExpression: isAlive, otherwise: notFound('Review') }),
    ]);
  });
}

/**
 * Blocks an account, which then writes nothing, or ends that. The same form sent twice decides
 * once. Throws ApiError 404 when there is no such user or the moderator is none, 400 when somebody
 * else has done it already or for another reason, or when a moderator would block another.
 */
export async function decideUser(
  userId: string,
  verdict: 'block' | 'unblock',
  by: By,
): Promise<Decision> {
  return retryStale(async () => {
    const user = await getUser(userId);
    const isBlocked = user.blocked_at !== undefined;
    if (isBlocked === (verdict === 'block')) {
      const { decisions } = await listDecisions(20, { userId });
      const last = decisions.find(({ review_id }) => review_id === null);
      if (last && isSame(last, { ...by, decision: verdict })) return last;
      throw invalidRequest(`This account is ${isBlocked ? 'blocked already' : 'not blocked'}`);
    }
    if (user.is_moderator && by.moderator_id !== null) {
      throw invalidRequest('A moderator is blocked by the operator of the service alone');
    }
    const decision = newDecision(verdict, by, { user_id: userId, review_id: null, reports: 0 });
    await transact([
      {
        Update: {
          Key: userKey(userId),
          ...(verdict === 'block'
            ? {
                UpdateExpression: 'SET blocked_at = :now',
                ConditionExpression: `${mayWrite}${by.moderator_id === null ? '' : ' AND attribute_not_exists(is_moderator)'}`,
                ExpressionAttributeValues: { ':now': decision.decided_at },
              }
            : {
                UpdateExpression: 'REMOVE blocked_at',
                ConditionExpression: `${isAlive} AND attribute_exists(blocked_at)`,
              }),
        },
      },
      ...logged(decision),
    ]);
    return decision;
  });
}

/** A page of the log, newest first: of all of it, or of what is about a user and the user's reviews. */
export async function listDecisions(
  limit: number,
  { userId, after }: { userId?: string; after?: SortKey } = {},
): Promise<Pick<Page, 'next'> & { decisions: Decision[] }> {
  const log: List = {
    partitions: [
      userId === undefined
        ? { scope: 'all', value: 'DECISION' }
        : { scope: 'author', value: `SUBJECT#${userId}` },
    ],
  };
  const order = { order: 'date', descending: true } as const;
  const { entries, next } = await readPage(log, { ...order, limit, offset: 0, after });
  return { decisions: await readDecisions(entries), next };
}

/** The whole log, newest first, page by page. For operators. */
export async function* allDecisions(): AsyncGenerator<Decision[]> {
  const pages = queryIndex('all-by-date', 'DECISION', { descending: true, pageSize: 100 });
  for await (const entries of pages) yield readDecisions(entries);
}

/** A decision, and the review that it is about as it is now. */
export interface Decided {
  decision: Decision;
  review: Review | undefined;
}

/** A page of what was decided about a user and the user's reviews, newest first, with the reviews. */
export async function listDecided(
  userId: string,
  limit: number,
  after?: SortKey,
): Promise<Pick<Page, 'next'> & { decided: Decided[] }> {
  const { decisions, next } = await listDecisions(limit, { userId, after });
  const ids = new Set(decisions.flatMap(({ review_id }) => review_id ?? []));
  const items = await batchGet([...ids].map(reviewKey));
  const decided = decisions.map((decision) => {
    const item = items.get(keyString(reviewKey(decision.review_id ?? '')));
    return { decision, review: item ? v.parse(Review, item) : undefined };
  });
  return { decided, next };
}

/** What is known of a user that moderators decide about; undefined when there is no such account. */
export async function findHistory(
  userId: string,
): Promise<{ user: User; reviews: number; decisions: Decision[] } | undefined> {
  const [item, { decisions }] = await Promise.all([
    getItem(userKey(userId)),
    listDecisions(20, { userId }),
  ]);
  const user = parseUser(item);
  return user && { user, reviews: countMatching(facetCounts(item), {}).all, decisions };
}

/**
 * Leaves of what was decided about an account that is being erased nothing but ids, and lists it
 * under the account no longer. `isGone` comes from `eraseWhile`.
 */
export async function eraseDecision({ pk, sk }: Key, isGone: Write): Promise<void> {
  await transact([
    isGone,
    {
      Update: {
        Key: { pk, sk },
        UpdateExpression: 'SET note = :none REMOVE author',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':none': '' },
      },
    },
  ]);
}

async function readDecisions(entries: readonly Entry[]): Promise<Decision[]> {
  const items = await getItems(entries);
  return items.flatMap((item) => (item ? v.parse(Decision, item) : []));
}

/** A decision of now, by its subject. */
export function newDecision(
  decision: Decision['decision'],
  { reason, note, moderator_id }: By,
  about: Pick<Decision, 'user_id' | 'review_id' | 'reports'>,
): Decision {
  const decided_at = new Date().toISOString();
  return { id: randomUUID(), ...about, decision, reason, note, moderator_id, decided_at };
}

/** The entry in the log, on condition that who decides is a moderator still. */
export function logged(decision: Decision): Write[] {
  const { moderator_id } = decision;
  return [
    { Put: { Item: decisionItem(decision) } },
    ...(moderator_id === null
      ? []
      : [
          {
            ConditionCheck: {
              Key: userKey(moderator_id),
              ConditionExpression: `${mayWrite} AND is_moderator = :true`,
              ExpressionAttributeValues: { ':true': true },
            },
            otherwise: notFound('Page'),
          },
        ]),
  ];
}

/** The condition that a moderator has not reported a review: nobody decides on what they have asked for. */
function hasNotReported(reviewId: string, moderatorId: string): Write {
  return {
    ConditionCheck: {
      Key: reportKey(reviewId, moderatorId),
      ConditionExpression: 'attribute_not_exists(pk)',
    },
    otherwise: invalidRequest('You have reported this review: another moderator decides on it'),
  };
}

/** Whether the last decision is this one. */
function isDecidedSo({ review, file }: Found, verdict: Verdict, by: By): boolean {
  const last = review.moderation && { ...review.moderation, moderator_id: file.decided_by };
  return file.state === 'closed' && isSame(last, { ...by, decision: verdict });
}

function isSame(
  last: Partial<Decision> | undefined,
  one: By & Pick<Decision, 'decision'>,
): boolean {
  return (['decision', 'moderator_id', 'reason', 'note'] as const).every(
    (name) => last?.[name] === one[name],
  );
}

/** What a moderator who comes second is told. */
async function outdated(
  { state, version, decided_by }: Case,
  seenVersion: number,
): Promise<ApiError> {
  if (state === 'open' || version === seenVersion) {
    return invalidRequest(
      'The review was reported again or edited since you opened this page: please look once more',
    );
  }
  const moderator = decided_by && (await findUser(decided_by));
  const name = moderator ? moderator.display_name : 'Somebody else';
  return invalidRequest(`${name} has decided on it meanwhile, so nothing was changed`);
}

function refuseVerdict(verdict: Verdict, { review, file }: Found, { moderator_id }: By): void {
  const isOfHidden = verdict === 'restore' || verdict === 'uphold';
  if (review.is_hidden !== isOfHidden) {
    throw invalidRequest(`The review is ${review.is_hidden ? 'hidden already' : 'not hidden'}`);
  }
  if (file.state === 'closed' && (verdict === 'dismiss' || verdict === 'uphold')) {
    throw invalidRequest('There is nothing to decide on this review');
  }
  if (moderator_id === null) return;
  if (moderator_id === review.user_id) {
    throw invalidRequest('This review is your own: another moderator decides on it');
  }
  if (file.appeal !== undefined && moderator_id === file.decided_by) {
    throw invalidRequest(
      'The author asks for another look at your decision: another moderator takes it',
    );
  }
}
