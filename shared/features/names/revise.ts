// The writes of a revision by anybody: the records, the entry of the log, the news, and the checks
// of what was read.

import { invalidRequest } from '../../base/errors.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { getItem } from '../../base/table/query.ts';
import { transact, type Write } from '../../base/table/transact.ts';
import { keyOf } from '../../base/table/write.ts';
import { changesWith, isJoined, writesOf } from '../../core/entity/links.ts';
import type { Entity, EntityRecord } from '../../core/entity/record.ts';
import { entityKey, userKey } from '../../core/keys.ts';
import type { Decider, Decision } from '../../core/report/decision.ts';
import { entryOf, logEntry, logged } from '../../core/report/decision-log.ts';
import { countsIn } from '../../core/review/owner-counts.ts';
import { newsWrites } from '../../core/user/notice.ts';
import { whereAlive } from '../../core/user/user.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { type NewRevision, type Revision, revert } from './revision.ts';

/** The decider of a revision, and what is written with it. */
interface Revising {
  by: Decider;
  also?: readonly Write[];
  /** Tells the person whose words are replaced or taken down, unless that is the decider. */
  tells?: boolean;
  /** Set if other writes check who may revise. Otherwise only a moderator may. */
  isChecked?: boolean;
  /** Set in the log for a part of a decision on an account. */
  part?: Pick<Decision, 'user_id' | 'part_of'>;
}

/**
 * Returns the writes of a revision. They fail as a stale read if the record has changed since it
 * was read, and with ApiError 404 if the decider is no moderator. Throws 400 as `changesWith` does,
 * or if the thing would be taken down, or wait, and has public reviews or is joined with another.
 */
export async function revisionWrites(
  { decision, before, after }: NewRevision,
  { by, also = [], tells = false, isChecked = false, part }: Revising,
): Promise<Write[]> {
  const changes = await changesWith({ before, after });
  const entry = { ...entryOf(decision, { before, after }, by), ...part };
  const writes = [
    ...writesOf(changes),
    ...(await checkState(before, changes[0]?.after ?? after)),
    ...(isChecked ? [logEntry(entry)] : logged(entry)),
    ...(tells ? await newsOf(before, by) : []),
    ...also,
  ];
  const isAnothers = after.user_id !== before?.user_id && after.user_id !== by.moderator_id;
  return [...writes, ...(isAnothers ? checkAccount(after.user_id, writes) : [])];
}

/** Writes a revision, as `revisionWrites` does. */
export async function writeRevision(revision: NewRevision, revising: Revising): Promise<void> {
  await transact(await revisionWrites(revision, revising));
}

/** Reverts a revision. The person whose words come back is left out if the account is gone. */
export async function undoing(
  revision: Revision,
  record: EntityRecord | undefined,
  options?: { confirms: boolean },
): Promise<NewRevision> {
  const { after, ...undo } = revert(revision, record, new Date(), options);
  const { user_id, ...words } = after;
  const isThere = user_id === undefined || (await findUser(user_id)) !== undefined;
  return { ...undo, after: isThere ? after : words };
}

/** Checks that nobody has reviewed the entity, or lost a review of it, since its item was read. */
export function isCountedAs({ entity_id }: Entity, item: Item | undefined): Write {
  const was = item ? { version: item.version } : { pk: undefined };
  return { ConditionCheck: { Key: entityKey(entity_id), was } };
}

/** A thing that is taken down or waits again must have no public reviews, and stand alone. */
async function checkState(before: EntityRecord | undefined, after: EntityRecord): Promise<Write[]> {
  if (!before || after.state === undefined || after.state === before.state) return [];
  if (isJoined(after)) {
    throw invalidRequest('It leads to another thing, or others lead to it: part them first');
  }
  const item = await getItem(entityKey(after.entity_id));
  if (countsIn(item).types.has(after.entity_type)) {
    throw invalidRequest('It has public reviews: hide them first');
  }
  return [isCountedAs(after, item)];
}

/** Tells the person who wrote the words before, unless that is the decider or has left. */
async function newsOf(before: EntityRecord | undefined, by: Decider): Promise<Write[]> {
  const userId = before?.user_id;
  if (userId === undefined || userId === by.moderator_id) return [];
  return (await findUser(userId)) ? newsWrites(userId, 'name') : [];
}

/**
 * Checks that the account exists whose words these are, unless one of the writes does. Its erasure
 * then begins later, and finds the record.
 */
function checkAccount(userId: string | undefined, writes: readonly Write[]): Write[] {
  if (userId === undefined) return [];
  const Key = userKey(userId);
  const isDone = writes.some((write) => keyString(keyOf(write)) === keyString(Key));
  return isDone ? [] : [{ ConditionCheck: { Key, where: whereAlive } }];
}
