// Takes back all that an account did, or brings it back, in the background.
import * as v from 'valibot';
import { ApiError } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import { getItems } from '../../base/table/batch.ts';
import { idIn } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { eachOf, getItem, queryIndex, queryItems } from '../../base/table/query.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import { isJoined } from '../../core/entity/links.ts';
import { type EntityRecord, entityOf, readRecord, recordKey } from '../../core/entity/record.ts';
import { claimKey, decisionKey, reviewKey, userKey } from '../../core/keys.ts';
import { type Decider, Decision, Grounds } from '../../core/report/decision.ts';
import { decisionsAbout, logEntry, newDecision } from '../../core/report/decision-log.ts';
import { applyVerdict, checkVerdict } from '../../core/report/decision-repository.ts';
import { isHeld, isPublic, Review } from '../../core/review/review.ts';
import { moveCast } from '../../core/user/daily-limit.ts';
import { whereAlive } from '../../core/user/user.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { checkWriter, type Writer } from '../../core/user/writer.ts';
import { eraseVote } from '../../core/vote/vote-repository.ts';
import {
  changeIn,
  endOf,
  type LoggedChange,
  Proposal,
  proposalItem,
  undoingChange,
  undoneEntry,
  undoneWrites,
} from '../names/public.ts';

/** A decision on all that an account did, and the condition that it is still to be carried out. */
interface Task {
  userId: string;
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
  const task = { userId, decision: v.parse(Decision, item), writer };
  try {
    if (task.decision.decision === 'hide_all') await takeBack(task);
    else await bringBack(task);
    const done = { Key: userKey(userId), set: { hiding: undefined }, was };
    await transact([{ Update: done, otherwise: ended }]);
  } catch (error) {
    if (error !== ended) throw error;
  }
}

/** Reviews come first, because a name stays that others have public reviews under. */
async function takeBack(task: Task): Promise<void> {
  const { userId, decision, writer } = task;
  await hideReviews(task);
  await takeBackNames(userId, decision, checkWriter(userId, writer));
  await dropProposals(task);
  await withdrawVotes(task);
}

/** The decider of each part, with the reason and note of the whole. */
function deciderOf(decision: Decision): Decider {
  return pick(decision, [...Object.keys(Grounds.entries), 'moderator_id'] as (keyof Decider)[]);
}

/** Finds the reviews by their claims: the block stops new ones, and an index may lack the last. */
async function hideReviews({ userId, decision, writer }: Task): Promise<void> {
  const by = deciderOf(decision);
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
          { part_of: decision.id, writer },
        ),
      );
    }
  }
}

/** Is true for what people see, and for what waits for a moderator to be seen. */
function isToHide(review: Review): boolean {
  return isPublic(review) || isHeld(review);
}

/** Leaves what the moderator may not decide on, or what was changed or withdrawn meanwhile. */
async function unlessLeft(part: Promise<unknown>): Promise<void> {
  try {
    await part;
  } catch (error) {
    const isLeft = error instanceof ApiError && [400, 404].includes(error.status);
    if (!isLeft) throw error;
  }
}

/**
 * Sets the names that an account gave back to what they were before, each by one decision, as long
 * as `check` holds. First names are removed. A name stays that a moderator has confirmed, or that
 * others have public reviews under.
 */
async function takeBackNames(userId: string, decision: Decision, check: Write): Promise<void> {
  const part = { userId, decision, check };
  const own: LoggedChange[] = [];
  // Older code has listed own corrections among the decisions on a person.
  for (const log of ['NAMING', 'SUBJECT'] as const) {
    for await (const entry of eachOf(decisionsAbout(userId, log))) {
      const change = entry.moderator_id === userId ? changeIn(entry) : undefined;
      if (change) own.push(change);
    }
  }
  for (const run of runsOf(own, userId)) await takeBackName(run, part);
  // Older code has logged no first names.
  const known = new Set(own.map((change) => recordKey(change).pk));
  for await (const { pk } of eachOf(queryIndex('author-by-date', `NAMER#${userId}`))) {
    const entity = known.has(pk) ? undefined : entityOf(pk);
    const record = entity && (await readRecord(entity));
    if (record?.user_id === userId) await takeBackName({ ...record, after: record }, part);
  }
}

/**
 * Returns a change for each thing that a person has named: from what others had written to the last
 * own words. `changes` are the person's own, the newest first. What the person wrote before
 * somebody else did is gone already.
 */
export function runsOf(changes: readonly LoggedChange[], userId: string): LoggedChange[] {
  const things = Map.groupBy(changes, (change) => recordKey(change).pk);
  return [...things.values()].flatMap((own) => {
    const first = own.find(({ before }) => before?.user_id !== userId) ?? own.at(-1);
    const [last] = own;
    return first && last ? [{ ...first, after: last.after }] : [];
  });
}

/**
 * Sets the names of an account back that is deleted while all that it did is taken back. Otherwise
 * they would outlive it.
 */
export async function takeBackNamesOfDeleted(userId: string, isGone: Write): Promise<void> {
  const account = await getItem(userKey(userId));
  if (account?.hiding === undefined || account.blocked_at === undefined) return;
  const decision = parseItem(Decision, await getItem(decisionKey(`${account.hiding}`)));
  if (decision) await takeBackNames(userId, decision, isGone);
}

/** Undoes one change of a name, unless somebody has changed it since or has decided on it. */
async function takeBackName(entry: LoggedChange, part: NamePart): Promise<void> {
  await undoName(entry, part, (record) => {
    const { state, is_confirmed } = record;
    return state !== 'removed' && !is_confirmed && !isJoined(record);
  });
}

/** A decision on an account, and the check that it is still to be carried out. */
interface NamePart {
  userId: string;
  decision: Decision;
  check: Write;
}

/** Undoes a change of a record as a part of a decision on the account. */
async function undoName(
  entry: LoggedChange,
  { userId, decision, check }: NamePart,
  isToUndo: (record: EntityRecord) => boolean = () => true,
): Promise<void> {
  await unlessLeft(
    retryStale(async () => {
      const record = await readRecord(entry);
      if (!record || !isToUndo(record)) return;
      const change = undoingChange(entry, record, new Date(), { confirms: false });
      const part = { user_id: userId, part_of: decision.id };
      const undone = { ...undoneEntry(change, deciderOf(decision)), ...part };
      const also = [logEntry(undone), check];
      await transact([...(await undoneWrites(change, also)), ...also]);
    }),
  );
}

/** Declines the open proposals. The log keeps all of them, to bring them back. */
async function dropProposals({ userId, decision, writer }: Task): Promise<void> {
  for await (const { pk, sk } of eachOf(queryIndex('author-by-date', `PROPOSER#${userId}`))) {
    await retryStale(async () => {
      const proposal = parseItem(Proposal, await getItem({ pk, sk }));
      if (!proposal) return;
      const declined = newDecision('decline', deciderOf(decision), {
        ...pick(proposal, ['user_id', 'entity_id', 'entity_type']),
        review_id: null,
        reports: 0,
        after: pick(proposal, ['name', 'about', 'url']),
        proposed: pick(proposal, ['note', 'proposed_at']),
        part_of: decision.id,
      });
      await transact([endOf(proposal), logEntry(declined), checkWriter(userId, writer)]);
    });
  }
}

/** Withdraws the votes, which the block keeps from growing. The decision counts them. */
async function withdrawVotes({ userId, decision: { id }, writer }: Task): Promise<void> {
  for await (const entry of eachOf(queryIndex('author-by-date', `VOTER#${userId}`))) {
    await eraseVote(idIn(entry), userId, checkWriter(userId, writer), ({ voted_at }) => [
      { Update: { Key: decisionKey(id), amounts: { votes: 1 }, was: { id } } },
      ...moveCast(userId, voted_at),
    ]);
  }
}

/** Undoes each part of the decision that took everything back, the last one first. */
async function bringBack({ userId, decision, writer }: Task): Promise<void> {
  const { part_of: undone } = decision;
  const taken = parseItem(Decision, await getItem(decisionKey(undone ?? '')));
  if (!taken) return;
  const by = deciderOf(decision);
  const ofAll = { part_of: decision.id, writer };
  const check = checkWriter(userId, writer);
  for await (const entries of decisionsAbout(userId, 'SUBJECT', taken.decided_at)) {
    for (const part of entries.filter(({ part_of }) => part_of === undone)) {
      if (part.review_id !== null) {
        const verdict = part.was_held ? 'hold' : 'restore';
        const isAsLeft = ({ moderation }: Review) => moderation?.decided_at === part.decided_at;
        const choose = ({ review }: { review: Review }) => (isAsLeft(review) ? verdict : undefined);
        await unlessLeft(applyVerdict(part.review_id, by, choose, ofAll));
      } else if (part.decision === 'decline') {
        await proposeAgain(part, check);
      } else {
        const change = changeIn(part);
        if (change) await undoName(change, { userId, decision, check });
      }
    }
  }
}

/** Stores a dropped proposal again, unless the person has made another since. */
async function proposeAgain(part: Decision, check: Write): Promise<void> {
  const proposal = v.safeParse(Proposal, { ...part.after, ...part, ...part.proposed });
  if (!proposal.success) return;
  const Put = { Item: proposalItem(proposal.output), was: { pk: undefined } };
  await unlessLeft(
    transact([{ Put, otherwise: new ApiError(400, 'invalid_request', 'It is there') }, check]),
  );
}
