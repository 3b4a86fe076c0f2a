// Decisions on reviews, and appeals against them.

import { invalidRequest, notFound } from '../../base/errors.ts';
import { retryStale, StaleRead, transact, type Write } from '../../base/table/transact.ts';
import { isOwnType } from '../entity/entity-type.ts';
import { readRecord, recordKey, recordWrites, whereNamedFor } from '../entity/record.ts';
import { reportKey } from '../keys.ts';
import { type Case, countReports, replaceCase } from '../review/case.ts';
import { findWhole } from '../review/long-text.ts';
import { isHeld, isPublic, type Review, revised, type WholeReview } from '../review/review.ts';
import { changeReview, countWrites, replaceReview } from '../review/review-writes.ts';
import type { Verdict } from '../review/verdict.ts';
import { dropWaiting, keepWaiting, putWaiting, type WaitingText } from '../review/waiting.ts';
import { writtenIn } from '../review/written.ts';
import { newsAmounts } from '../user/news.ts';
import { noticeWrites } from '../user/notice.ts';
import { whereAlive } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { checkWriter, type Writer } from '../user/writer.ts';
import { checkShown, type ReviewCase, readCase } from './case-repository.ts';
import { type Decider, type Decision, type Grounds, isSame } from './decision.ts';
import { logEntry, logged, newDecision } from './decision-log.ts';

/**
 * Decides on a review and closes its case. With a `snapshot` the decision holds only for what the
 * moderator has seen. Returns undefined if the same form was sent twice. Throws ApiError 404 if the
 * review does not exist or the user is not a moderator, 400 if the verdict is not possible.
 */
export function decideReview(
  reviewId: string,
  verdict: Verdict,
  by: Decider,
  snapshot?: Pick<Case, 'version'> & Pick<Review, 'edits'> & { named?: number | undefined },
): Promise<Decision | undefined> {
  return applyVerdict(reviewId, by, async (current) => {
    if (snapshot) {
      checkShown(current);
      if (verdict === 'approve') await checkName(current.review, snapshot.named);
      const { review, moderationCase } = current;
      if (snapshot.version !== moderationCase.version || snapshot.edits !== review.edits) {
        const { state, decided_by } = moderationCase;
        const last = { ...review.moderation, moderator_id: decided_by };
        if (state === 'closed' && isSame(last, verdict, by)) return undefined;
        throw await outdated(moderationCase, snapshot.version);
      }
    }
    checkVerdict(verdict, current, by);
    return verdict;
  });
}

/**
 * Hides a review or makes it public again, for the operator. Idempotent. Hiding a hidden review
 * that has an open appeal upholds the decision. Showing a review approves what waits. Throws
 * ApiError 404 without the review.
 */
export async function setHidden(
  reviewId: string,
  isHidden: boolean,
  grounds: Grounds = { reason: 'other', note: '' },
): Promise<void> {
  const operator: Decider = { ...grounds, moderator_id: null };
  await applyVerdict(reviewId, operator, ({ review, moderationCase }) => {
    if (isHeld(review) || review.waiting_since !== undefined) return isHidden ? 'hide' : 'approve';
    if (!isHidden) return review.is_hidden ? 'restore' : undefined;
    if (!review.is_hidden) return 'hide';
    return moderationCase.state === 'open' ? 'uphold' : undefined;
  });
}

const author = { where: whereAlive, otherwise: notFound('Review') };

/** The decision on an account that a verdict is a part of, while the account still asks for it. */
interface Whole {
  part_of: string;
  writer: Writer;
}

/** A verdict, or that the review waits for one again. */
type Applied = Verdict | 'hold';

/**
 * Writes the verdict that `choose` returns for the current review and case, if any. A verdict that
 * is part of a `whole` is logged without asking again whether the decider may.
 */
export function applyVerdict(
  reviewId: string,
  by: Decider,
  choose: (current: ReviewCase) => Promise<Applied | undefined> | Applied | undefined,
  whole?: Whole,
): Promise<Decision | undefined> {
  return retryStale(async () => {
    const current = await readCase(reviewId);
    const verdict = await choose(current);
    if (!verdict) return undefined;
    const { review, moderationCase, waiting } = current;
    const decision = newDecision(verdict, by, {
      user_id: review.user_id,
      review_id: reviewId,
      reports: moderationCase.reports,
      ...(whole && { part_of: whole.part_of }),
      ...(whole && isHeld(review) && { was_held: true }),
    });
    const { reason, note, decided_at, moderator_id } = decision;
    const before = await findWhole(review);
    if (!before) throw new StaleRead();
    const isBack = verdict === 'restore' && waiting?.kept_at === review.edits;
    const after: WholeReview = {
      ...(verdict === 'approve' ? withText(waiting, before, decided_at) : before),
      waiting_since: isBack ? decided_at : undefined,
      is_hidden: verdict === 'hide' || verdict === 'uphold' || verdict === 'hold',
      moderation: { decision: verdict, reason, note, decided_at },
      // An approved review is new to everybody else now.
      published_on: isHeld(review) && verdict === 'approve' ? decided_at : review.published_on,
      // The appeal was against another decision.
      appealed_at: verdict === 'hide' ? undefined : review.appealed_at,
      reported: undefined,
    };
    const decided: Case = {
      ...moderationCase,
      appeal: undefined,
      ...(verdict === 'hold' || isBack
        ? { state: 'open', opened_at: decided_at }
        : { state: 'closed' }),
      round: moderationCase.round + 1,
      ...countReports([]),
      carried: undefined,
      is_held: verdict === 'hold' || isBack || undefined,
      decided_by: moderator_id,
    };
    const isNew = !isPublic(review) && isPublic(after);
    const writes = [
      ...changeReview(review, before, after),
      ...countWrites(review, after, whole?.writer ?? author, newsAmounts(verdict)),
      // Whoever loses everything is blocked, and gets no mail.
      ...(whole && verdict === 'hide' ? [] : noticeWrites(review.user_id, verdict, reviewId)),
      ...(isNew ? await showName(review) : []),
      replaceCase(moderationCase, decided),
      ...(whole ? [logEntry(decision)] : logged(decision)),
    ];
    const isKept = whole && verdict === 'hide' && review.waiting_since !== undefined;
    if (waiting && isBack) writes.push(putWaiting(review, waiting.text));
    else if (waiting && isKept) writes.push(keepWaiting(review, waiting.text));
    else if (waiting) writes.push(dropWaiting(review));
    const bringsBack = whole && verdict !== 'hide';
    if (moderator_id !== null && !bringsBack) {
      writes.push(hasNotReported(reviewId, moderator_id));
    }
    await transact(writes);
    return decision;
  });
}

/** Throws ApiError 400 if a name waits that is not the version which the moderator has seen. */
async function checkName(review: Review, seen: number | undefined): Promise<void> {
  const record = await readRecord(review);
  if (record?.state !== 'waiting' || record.version === seen) return;
  throw invalidRequest('The name has changed since you opened this page: please look once more');
}

/**
 * Makes the name public that waits for the first approved review of its thing. Throws ApiError 400
 * if the thing is of a type of this service and was removed.
 */
async function showName(review: Review): Promise<Write[]> {
  const record = await readRecord(review);
  if (record?.state === 'waiting') return recordWrites(record, { ...record, state: undefined });
  if (!isOwnType(review.entity_type)) return [];
  const otherwise = invalidRequest('What it reviews was removed: bring that back first');
  return [
    { ConditionCheck: { Key: recordKey(review), where: whereNamedFor(review.user_id) }, otherwise },
  ];
}

/** Returns the review with the text of an edit that waited, if one did. */
function withText(waiting: WaitingText | undefined, review: WholeReview, at: string): WholeReview {
  if (waiting === undefined || review.waiting_since === undefined) return review;
  return revised(review, { ...writtenIn(review), text: waiting.text }, at);
}

/**
 * Appeals, once, against the decision that hides a review. Another moderator then decides. Throws
 * ApiError 404 if the user has no such review. Throws 400 if it is not hidden, if it is held, or if
 * it was appealed before.
 */
export async function appeal(reviewId: string, userId: string, statement: string): Promise<void> {
  await retryStale(async () => {
    const { review, moderationCase } = await readCase(reviewId);
    if (review.user_id !== userId) throw notFound('Review');
    if (!review.is_hidden) throw invalidRequest('This review is not hidden any more');
    if (isHeld(review)) throw invalidRequest('No moderator has decided on this review yet');
    // The same form sent twice.
    if (moderationCase.appeal === statement) return;
    if (review.appealed_at !== undefined) {
      throw invalidRequest('You have appealed against this decision already');
    }
    const opened_at = new Date().toISOString();
    const reopened: Case = { ...moderationCase, state: 'open', opened_at, appeal: statement };
    await transact([
      replaceReview(review, { ...review, appealed_at: opened_at }),
      replaceCase(moderationCase, reopened),
      checkWriter(userId, author),
    ]);
  });
}

/** Throws ApiError 400 if the verdict is not possible, or not for this moderator. */
export function checkVerdict(
  verdict: Verdict,
  { review, moderationCase: { state, appeal, decided_by } }: ReviewCase,
  { moderator_id }: Decider,
): void {
  checkPossible(verdict, review);
  if (state === 'closed' && (verdict === 'dismiss' || verdict === 'uphold')) {
    throw invalidRequest('There is nothing to decide on this review');
  }
  if (moderator_id === null) return;
  if (moderator_id === review.user_id) {
    throw invalidRequest('This review is your own: another moderator decides on it');
  }
  if (appeal !== undefined && moderator_id === decided_by) {
    throw invalidRequest(
      'The author appeals against your decision: another moderator decides on it',
    );
  }
}

/** Throws ApiError 400 if the verdict is none on a review in this state. */
function checkPossible(verdict: Verdict, review: Review): void {
  if (isHeld(review)) {
    if (verdict === 'approve' || verdict === 'hide') return;
    throw invalidRequest('The review waits for a moderator: approve it or hide it');
  }
  if (review.waiting_since !== undefined) {
    if (verdict === 'approve' || verdict === 'refuse' || verdict === 'hide') return;
    throw invalidRequest('An edit waits: approve or refuse it, or hide the review');
  }
  if (verdict === 'approve') throw invalidRequest('The review does not wait for a moderator');
  if (verdict === 'refuse') throw invalidRequest('No edit of the review waits for a moderator');
  const isOfHidden = verdict === 'restore' || verdict === 'uphold';
  if (review.is_hidden !== isOfHidden) {
    throw invalidRequest(`The review is ${review.is_hidden ? 'hidden already' : 'not hidden'}`);
  }
}

function hasNotReported(reviewId: string, moderatorId: string): Write {
  return {
    ConditionCheck: { Key: reportKey(reviewId, moderatorId), was: { pk: undefined } },
    otherwise: invalidRequest('You have reported this review: another moderator decides on it'),
  };
}

async function outdated({ state, version, decided_by }: Case, seenVersion: number) {
  if (state === 'open' || version === seenVersion) {
    return invalidRequest(
      'The review was reported again or edited since you opened this page: please look once more',
    );
  }
  const moderator = decided_by && (await findUser(decided_by));
  const name = moderator ? moderator.display_name : 'Somebody else';
  return invalidRequest(`${name} has decided on it meanwhile, so nothing was changed`);
}
