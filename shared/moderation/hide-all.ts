import * as v from 'valibot';
import { ApiError } from '../errors.ts';
import { isHeld, isPublic, Review } from '../review/review.ts';
import type { Verdict } from '../review/verdict.ts';
import { getItems } from '../table/batch.ts';
import { claimKey, decisionKey, idIn, reviewKey, userKey } from '../table/keys.ts';
import { parseItems } from '../table/parse.ts';
import { eachOf, getItem, queryIndex, queryItems } from '../table/query.ts';
import { transact } from '../table/transact.ts';
import { moveCast } from '../user/daily-limit.ts';
import { whereAlive } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { checkWriter, type Writer } from '../user/writer.ts';
import { eraseVote } from '../vote/vote-repository.ts';
import type { ReviewCase } from './case-repository.ts';
import { Decision } from './decision.ts';
import { applyVerdict, checkVerdict } from './decision-repository.ts';

/**
 * Carries out the decision to take back what an account did, if there is one. Each review, also one
 * that waits for a moderator, is hidden by a decision of its own. Reviews that were decided on
 * since stay as they are, and so do those that the moderator has reported. Votes are withdrawn for
 * good. Can be stopped anywhere and repeated. Ends without an error when the account is unblocked
 * or deleted meanwhile. Names and proposals stay.
 */
export async function hideAll(userId: string): Promise<void> {
  const user = await findUser(userId);
  if (user?.hiding === undefined) return;
  // An import writes decisions after accounts and reviews.
  const item = await getItem(decisionKey(user.hiding));
  if (!item) return;
  const ended = new ApiError(409, 'conflict', 'It is not to be hidden any more');
  const was = { hiding: user.hiding };
  const writer = { ConditionExpression: whereAlive, was, otherwise: ended };
  try {
    const decision = v.parse(Decision, item);
    await hideEach(userId, decision, writer);
    await withdrawVotes(userId, decision, writer);
    const done = { Key: userKey(userId), set: { hiding: undefined }, was };
    await transact([{ Update: done, otherwise: ended }]);
  } catch (error) {
    if (error !== ended) throw error;
  }
}

/** Finds the reviews by their claims: the block stops new ones, and an index may lack the last. */
async function hideEach(userId: string, decision: Decision, writer: Writer): Promise<void> {
  const { reason, note, moderator_id, decided_at } = decision;
  const by = { reason, note, moderator_id };
  for await (const claims of queryItems(claimKey(userId, ''), { pageSize: 100 })) {
    const keys = claims.map(({ review_id }) => reviewKey(String(review_id)));
    const reviews = parseItems(Review, await getItems(keys, { consistent: true }));
    for (const review of reviews.filter(isToHide)) {
      await hide(review.id);
    }
  }

  function chooseToHide(current: ReviewCase): Verdict | undefined {
    const { review } = current;
    if (!isToHide(review) || lastDecision(review) > decided_at) return undefined;
    checkVerdict('hide', current, by);
    return 'hide';
  }

  async function hide(id: string) {
    try {
      await applyVerdict(id, by, chooseToHide, writer);
    } catch (error) {
      // The moderator may not decide on it, or it was withdrawn.
      const isLeft = error instanceof ApiError && [400, 404].includes(error.status);
      if (!isLeft) throw error;
    }
  }
}

/** Withdraws the votes, which the block keeps from growing. The decision counts them. */
async function withdrawVotes(userId: string, { id }: Decision, writer: Writer): Promise<void> {
  for await (const entry of eachOf(queryIndex('author-by-date', `VOTER#${userId}`))) {
    await eraseVote(idIn(entry), userId, checkWriter(userId, writer), ({ voted_at }) => [
      { Update: { Key: decisionKey(id), amounts: { votes: 1 }, was: { id } } },
      ...moveCast(userId, voted_at),
    ]);
  }
}

/** Is true for what people see, and for what waits for a moderator to be seen. */
function isToHide(review: Review): boolean {
  return isPublic(review) || isHeld(review);
}

function lastDecision({ moderation }: Review): string {
  return moderation?.decided_at ?? '';
}
