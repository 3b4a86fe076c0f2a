// Decisions on the state of a thing: it stays, is taken down, leads to another, or comes back.

import { ApiError, invalidRequest, notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { decisionKey, entityKey, userKey } from '../../base/table/keys.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import { keyOf } from '../../base/table/write.ts';
import { changesWith, isJoined, type RecordChange, writesOf } from '../../core/entity/links.ts';
import { type Entity, type EntityRecord, readRecord } from '../../core/entity/record.ts';
import { type Decider, Decision, type RecordDecision } from '../../core/report/decision.ts';
import { entryOf, logEntry, logged } from '../../core/report/decision-log.ts';
import { decideReview } from '../../core/report/decision-repository.ts';
import { countsIn } from '../../core/review/owner-counts.ts';
import { isPublic, Review } from '../../core/review/review.ts';
import { newsWrites } from '../../core/user/notice.ts';
import { whereAlive } from '../../core/user/user.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { type LoggedChange, personToTell, undoingChange } from './naming-decisions.ts';
import { findProposals } from './proposal.ts';

/** Checks that nobody has reviewed the entity, or lost a review of it, since its item was read. */
export function isCountedAs({ entity_id }: Entity, item: Item | undefined): Write {
  const was = item ? { version: item.version } : { pk: undefined };
  return { ConditionCheck: { Key: entityKey(entity_id), was } };
}

/** Tells the person whose words are replaced or taken down, unless that is one of `writers`. */
export async function newsOf(
  replaced: EntityRecord | undefined,
  writers: readonly (string | null)[],
): Promise<Write[]> {
  const userId = personToTell(replaced, writers);
  if (userId === undefined || !(await findUser(userId))) return [];
  return newsWrites(userId, 'name');
}

/** A change of a record that a moderator decides on. */
interface Decided {
  decision: RecordDecision;
  change: RecordChange;
  also?: Write[];
}

/**
 * Writes the change that `choose` makes of the record of now, and logs it. `seen` is the version
 * that the moderator has seen. Throws ApiError 404 without a record or if the decider is no
 * moderator, and 400 if the record has changed since it was seen.
 */
function decideRecord(
  entity: Entity,
  { by, seen }: { by: Decider; seen?: number | undefined },
  choose: (record: EntityRecord) => Promise<Decided> | Decided,
): Promise<EntityRecord> {
  return retryStale(async () => {
    const record = await readRecord(entity);
    if (!record) throw notFound('Name');
    if (seen !== undefined && record.version !== seen) {
      throw invalidRequest('It has changed since you opened this page: please look once more');
    }
    const { decision, change, also = [] } = await choose(record);
    const changes = await changesWith(change);
    const entry = entryOf(decision, change, by);
    await transact([...writesOf(changes), ...logged(entry), ...also]);
    return changes[0]?.after ?? change.after;
  });
}

/** A decider, and the version of the record that a moderator has seen, if it was shown. */
interface RecordDecider {
  by: Decider;
  seen?: number | undefined;
}

/** Confirms a name: no database overwrites it, and one that waits is public. Throws like others. */
export function confirmName(entity: Entity, decider: RecordDecider): Promise<EntityRecord> {
  return decideRecord(entity, decider, (before) => {
    if (before.state === 'removed') throw invalidRequest('It was removed: bring it back first');
    const after = { ...before, state: undefined, is_confirmed: true } as const;
    return { decision: 'confirm', change: { before, after } };
  });
}

/**
 * Public reviews that are hidden with the thing that they are of. A moderator with more feels it,
 * and hides those first. Each costs some 60 write units.
 */
export const mostHidden = 20;

/**
 * Takes a thing down, as if it had no name. With `hidesReviews`, at most 20 public reviews of it
 * are hidden first, each by a decision of its own. Throws ApiError 400 if it has public reviews, or
 * other things lead to it or it to another.
 */
export async function removeThing(
  entity: Entity,
  { by, seen }: RecordDecider,
  { hidesReviews = false } = {},
): Promise<EntityRecord> {
  if (hidesReviews) await hideReviewsOf(entity, by);
  return decideRecord(entity, { by, seen }, async (before) => {
    if (before.state === 'removed') throw invalidRequest('It was removed already');
    refuseJoined(before);
    const item = await getItem(entityKey(entity.entity_id));
    if (countsIn(item).types.has(entity.entity_type)) {
      throw invalidRequest('It has public reviews: hide them first, or with it');
    }
    const after = { ...before, state: 'removed' } as const;
    const news = await newsOf(before, [by.moderator_id]);
    const also = [isCountedAs(entity, item), ...news];
    return { decision: 'remove', change: { before, after }, also };
  });
}

/** Other things would lead to nothing. */
function refuseJoined(record: EntityRecord): void {
  if (!isJoined(record)) return;
  throw invalidRequest('It leads to another thing, or others lead to it: part them first');
}

/** Hides the public reviews of a thing. Those that were hidden meanwhile stay as they are. */
async function hideReviewsOf({ entity_id, entity_type }: Entity, by: Decider): Promise<void> {
  const entries = await collect(queryIndex('entity-by-date', entity_id), mostHidden + 1);
  const reviews = parseItems(Review, await getItems(entries, { consistent: true })).filter(
    (review) => isPublic(review) && review.entity_type === entity_type,
  );
  if (reviews.length > mostHidden) {
    throw invalidRequest(`It has more than ${mostHidden} public reviews: hide them first`);
  }
  for (const { id } of reviews) {
    await decideReview(id, 'hide', by).catch((error) => {
      const isGone = error instanceof ApiError && error.status === 404;
      if (!isGone) throw error;
    });
  }
}

/**
 * Lets a thing lead to another one of its type that is the same, or to the end of the chain that
 * begins there. No review moves. Throws ApiError 400 as `joinChanges` does, or if the other is not
 * public.
 */
export function leadThing(
  entity: Entity,
  other: string,
  decider: RecordDecider,
): Promise<EntityRecord> {
  return decideRecord(entity, decider, (before) => {
    if (before.state === 'removed') throw invalidRequest('It was removed: bring it back first');
    const after = { ...before, state: undefined, same_as: other };
    return { decision: 'lead', change: { before, after } };
  });
}

/** Brings back what was removed, or lets a thing that leads to another stand alone again. */
export function returnThing(entity: Entity, decider: RecordDecider): Promise<EntityRecord> {
  return decideRecord(entity, decider, (before) => {
    if (before.state !== 'removed' && before.same_as === undefined) {
      throw invalidRequest('It was not removed, and leads to no other thing');
    }
    const after = { ...before, state: undefined, same_as: undefined };
    return { decision: 'return', change: { before, after } };
  });
}

/**
 * Undoes a change of a record in the log, as another change. Throws ApiError 404 if there is no
 * such change or the decider is no moderator, 400 if the record was changed since.
 */
export function undoChange(decisionId: string, by: Decider): Promise<void> {
  return retryStale(async () => {
    const entry = changeIn(parseItem(Decision, await getItem(decisionKey(decisionId))));
    if (!entry) throw notFound('Correction');
    const change = undoingChange(entry, await readRecord(entry), new Date());
    const also = [
      ...logged(undoneEntry(change, by)),
      ...(await newsOf(change.before, [by.moderator_id])),
    ];
    await transact([...(await undoneWrites(change, also)), ...also]);
  });
}

/**
 * Takes down a thing that a person added since a time, unless somebody else has touched it: has
 * reviewed, named or confirmed it, or has joined it with another. Returns true if it is gone.
 */
export function withdrawAddition(
  entity: Entity,
  { user_id, since, note }: { user_id: string; since: string; note: string },
): Promise<boolean> {
  return retryStale(async () => {
    const [before, proposals] = await Promise.all([readRecord(entity), findProposals(entity)]);
    if (!before) return true;
    const { written_at = '', is_confirmed } = before;
    const isOwn = before.user_id === user_id && written_at >= since;
    if (!isOwn || is_confirmed || isJoined(before) || proposals.length > 0) return false;
    if (before.state === 'removed') return true;
    const change = { before, after: { ...before, state: 'removed' } as const };
    const by = { reason: 'other', note, moderator_id: user_id } as const;
    const also = [logEntry(entryOf('remove', change, by))];
    try {
      await transact([...(await undoneWrites(change, also)), ...also]);
      return true;
    } catch (error) {
      const isReviewed = error instanceof ApiError && error.status === 400;
      if (!isReviewed) throw error;
      return false;
    }
  });
}

/** Returns the change of a record in an entry of the log, unless it tells of something else. */
export function changeIn(entry: Decision | undefined): LoggedChange | undefined {
  const { decision, entity_id, entity_type, before, after } = entry ?? {};
  const isChange = decision !== 'decline' && entity_id && entity_type && after;
  return isChange ? { entity_id, entity_type, before, after } : undefined;
}

/** Makes the entry of the log for a change that undoes another one. */
export function undoneEntry(change: RecordChange, by: Decider): Decision {
  const { before, after } = change;
  if (after.state === 'removed') return entryOf('remove', change, by);
  return entryOf(before.state === 'removed' ? 'return' : 'correct', change, by);
}

/**
 * Returns the writes of a change that undoes another one, beside `also`. The person whose words
 * come back is left out if the account is gone. Throws ApiError 400 if the thing would be taken
 * down, or wait, and has public reviews or is joined with another.
 */
export async function undoneWrites(
  { before, after }: RecordChange,
  also: readonly Write[],
): Promise<Write[]> {
  const { user_id, ...words } = after;
  const writer = user_id === undefined ? undefined : await findUser(user_id);
  const change = { before, after: writer ? after : words };
  const changes = await changesWith(change);
  return [
    ...writesOf(changes),
    ...(await isAllowed(changes[0] ?? change)),
    ...(writer ? isStillThere(writer.id, also) : []),
  ];
}

/** A thing that is taken down or waits again must have no public reviews, and stand alone. */
async function isAllowed({ before, after }: RecordChange): Promise<Write[]> {
  if (after.state === undefined || after.state === before.state) return [];
  refuseJoined(after);
  const item = await getItem(entityKey(after.entity_id));
  if (countsIn(item).types.has(after.entity_type)) {
    throw invalidRequest('It has public reviews: hide them first');
  }
  return [isCountedAs(after, item)];
}

/**
 * Checks that an account exists, unless one of the writes does. Its erasure then begins later, and
 * finds the record.
 */
function isStillThere(userId: string, writes: readonly Write[]): Write[] {
  const Key = userKey(userId);
  const isChecked = writes.some((write) => keyString(keyOf(write)) === keyString(Key));
  return isChecked ? [] : [{ ConditionCheck: { Key, where: whereAlive } }];
}
