import { type ApiError, invalidRequest } from '../errors.ts';
import type { Review } from '../review/review.ts';
import { reportKey } from '../table/keys.ts';
import type { Write } from '../table/transact.ts';
import { findUser } from '../user/user-repository.ts';
import type { Case } from './case.ts';
import type { ReviewCase } from './case-repository.ts';
import type { Decider, Decision } from './decision.ts';
import type { Verdict } from './verdict.ts';

/**
 * Versions of the case and the review that a moderator has seen. A decision holds for these only.
 */
export type Snapshot = Pick<Case, 'version'> & Pick<Review, 'edits'>;

/** Throws ApiError 400 if the verdict is not possible, or not for this moderator. */
export function checkVerdict(
  verdict: Verdict,
  { review, moderationCase: { state, appeal, decided_by } }: ReviewCase,
  { moderator_id }: Decider,
): void {
  const isOfHidden = verdict === 'restore' || verdict === 'uphold';
  if (review.is_hidden !== isOfHidden) {
    throw invalidRequest(`The review is ${review.is_hidden ? 'hidden already' : 'not hidden'}`);
  }
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

/** The condition that a moderator has not reported the review. */
export function hasNotReported(reviewId: string, moderatorId: string): Write {
  return {
    ConditionCheck: { Key: reportKey(reviewId, moderatorId), was: { pk: undefined } },
    otherwise: invalidRequest('You have reported this review: another moderator decides on it'),
  };
}

/** Returns whether the last decision is the same, by the same person for the same reason. */
export function isSame(
  last: Readonly<Record<string, unknown>>,
  decision: Decision['decision'],
  by: Decider,
): boolean {
  return Object.entries({ ...by, decision }).every(([name, value]) => last[name] === value);
}

/** The error for the second of two moderators. */
export async function outdated(
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
