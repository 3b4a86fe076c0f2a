// Takes back all that an account did, or brings it back, in the background.

import * as v from 'valibot';
import { ApiError } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import { getItems } from '../../base/table/batch.ts';
import { idIn } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { eachOf, getItem, queryIndex, queryItems } from '../../base/table/query.ts';
import { transact, type Write } from '../../base/table/transact.ts';
import { claimKey, decisionKey, reviewKey, userKey } from '../../core/keys.ts';
import { type Decider, Decision, Grounds } from '../../core/report/decision.ts';
import { decisionsAbout } from '../../core/report/decision-log.ts';
import { applyVerdict, checkVerdict } from '../../core/report/decision-repository.ts';
import { isHeld, isPublic, Review } from '../../core/review/review.ts';
import { moveCast } from '../../core/user/daily-limit.ts';
import { whereAlive } from '../../core/user/user.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { checkWriter, type Writer } from '../../core/user/writer.ts';
import { eraseVote } from '../../core/vote/vote-repository.ts';
import {
  bringBackName,
  dropProposals,
  takeBackNames,
  unlessLeft,
  type Whole,
} from '../names/public.ts';

/** A decision on all that an account did, and the condition that it is still to be carried out. */
interface Task extends Whole {
  decision: Decision;
  writer: Writer;
}

/**
 * Carries out the decision to take back, or to bring back, all that an account did, if there is
 * one. Each review, name and proposal has a decision of its own in the log. What somebody has
 * decided on since stays as it is. Can be stopped anywhere and repeated. Ends without an error when
 * another decision replaces this one, or the account is deleted.
 */
export async function undoAll(userId: string): Promise<void> {
  const user = await findUser(userId);
  if (user?.hiding === undefined) return;
  // An import writes decisions after accounts and reviews.
  const item = await getItem(decisionKey(user.hiding));
  if (!item) return;
  const ended = new ApiError(409, 'conflict', 'It is not to be carried out any more');
  const was = { hiding: user.hiding };
  const writer = { where: whereAlive, was, otherwise: ended };
  const decision = v.parse(Decision, item);
  const task = { ...wholeOf(decision, userId, checkWriter(userId, writer)), decision, writer };
  try {
    if (decision.decision === 'hide_all') await takeBack(task);
    else await bringBack(task);
    const done = { Key: userKey(userId), set: { hiding: undefined }, was };
    await transact([{ Update: done, otherwise: ended }]);
  } catch (error) {
    if (error !== ended) throw error;
  }
}

/** Reviews come first, because a name stays that others have public reviews under. */
async function takeBack(task: Task): Promise<void> {
  await hideReviews(task);
  await takeBackNames(task);
  await dropProposals(task);
  await withdrawVotes(task);
}

/** Each part has the decider, the reason and the note of the whole. */
function wholeOf(decision: Decision, userId: string, check: Write): Whole {
  const names = [...Object.keys(Grounds.entries), 'moderator_id'] as (keyof Decider)[];
  return { userId, by: pick(decision, names), part_of: decision.id, check };
}

/** Finds the reviews by their claims: the block stops new ones, and an index may lack the last. */
async function hideReviews({ userId, by, part_of, decision, writer }: Task): Promise<void> {
  for await (const claims of queryItems(claimKey(userId, ''), { pageSize: 100 })) {
    const keys = claims.map(({ review_id }) => reviewKey(String(review_id)));
    const reviews = parseItems(Review, await getItems(keys, { consistent: true }));
    for (const { id } of reviews.filter(isToHide)) {
      await unlessLeft(
        applyVerdict(
          id,
          by,
          (current) => {
            const { review } = current;
            const decided_at = review.moderation?.decided_at ?? '';
            if (!isToHide(review) || decided_at > decision.decided_at) return undefined;
            checkVerdict('hide', current, by);
            return 'hide';
          },
          { part_of, writer },
        ),
      );
    }
  }
}

/** Is true for what people see, and for what waits for a moderator to be seen. */
function isToHide(review: Review): boolean {
  return isPublic(review) || isHeld(review);
}

/**
 * Sets the names of an account back that is deleted while all that it did is taken back. Otherwise
 * they would outlive it.
 */
export async function takeBackNamesOfDeleted(userId: string, isGone: Write): Promise<void> {
  const account = await getItem(userKey(userId));
  if (account?.hiding === undefined || account.blocked_at === undefined) return;
  const decision = parseItem(Decision, await getItem(decisionKey(`${account.hiding}`)));
  if (decision) await takeBackNames(wholeOf(decision, userId, isGone));
}

/** Withdraws the votes, which the block keeps from growing. The decision counts them. */
async function withdrawVotes({ userId, part_of: id, check }: Task): Promise<void> {
  for await (const entry of eachOf(queryIndex('author-by-date', `VOTER#${userId}`))) {
    await eraseVote(idIn(entry), userId, check, ({ voted_at }) => [
      { Update: { Key: decisionKey(id), amounts: { votes: 1 }, was: { id } } },
      ...moveCast(userId, voted_at),
    ]);
  }
}

/** Undoes each part of the decision that took everything back, the last one first. */
async function bringBack({ decision, writer, ...whole }: Task): Promise<void> {
  const { part_of: undone } = decision;
  const taken = parseItem(Decision, await getItem(decisionKey(undone ?? '')));
  if (!taken) return;
  const { userId, by, part_of } = whole;
  for await (const entries of decisionsAbout(userId, 'SUBJECT', taken.decided_at)) {
    for (const part of entries.filter((each) => each.part_of === undone)) {
      if (part.review_id === null) {
        await bringBackName(part, whole);
        continue;
      }
      const verdict = part.was_held ? 'hold' : 'restore';
      const isAsLeft = ({ moderation }: Review) => moderation?.decided_at === part.decided_at;
      const choose = ({ review }: { review: Review }) => (isAsLeft(review) ? verdict : undefined);
      await unlessLeft(applyVerdict(part.review_id, by, choose, { part_of, writer }));
    }
  }
}
