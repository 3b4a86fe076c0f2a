// Decisions on the state of a thing: it stays, is taken down, leads to another, or comes back.

import { ApiError, invalidRequest, notFound } from '../../base/errors.ts';
import { getItems } from '../../base/table/batch.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { retryStale } from '../../base/table/transact.ts';
import { type Entity, type EntityRecord, readRecord } from '../../core/entity/record.ts';
import { decisionKey } from '../../core/keys.ts';
import { type Decider, Decision, type RecordDecision } from '../../core/report/decision.ts';
import { decideReview } from '../../core/report/decision-repository.ts';
import { isPublic, Review } from '../../core/review/review.ts';
import { undoing, writeRevision } from './revise.ts';
import { revisionIn } from './revision.ts';

/** A decider, and the version of the record that a moderator has seen, if it was shown. */
interface RecordDecider {
  by: Decider;
  seen?: number | undefined;
}

/**
 * Writes a decision on the record of now, whose changes `choose` returns. Throws like
 * `writeRevision`, ApiError 404 without a record, and 400 if it has changed since it was seen.
 */
function decideRecord(
  entity: Entity,
  decision: RecordDecision,
  { by, seen }: RecordDecider,
  choose: (record: EntityRecord) => Partial<EntityRecord>,
): Promise<void> {
  return retryStale(async () => {
    const before = await readRecord(entity);
    if (!before) throw notFound('Name');
    if (seen !== undefined && before.version !== seen) {
      throw invalidRequest('It has changed since you opened this page: please look once more');
    }
    const after = { ...before, ...choose(before) };
    await writeRevision({ decision, before, after }, { by, tells: decision === 'remove' });
  });
}

/** Throws ApiError 400 for what was removed. */
function refuseRemoved({ state }: EntityRecord): void {
  if (state === 'removed') throw invalidRequest('It was removed: bring it back first');
}

/** Confirms a name: no database overwrites it, and one that waits is public. Throws like others. */
export function confirmName(entity: Entity, decider: RecordDecider): Promise<void> {
  return decideRecord(entity, 'confirm', decider, (before) => {
    refuseRemoved(before);
    return { state: undefined, is_confirmed: true };
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
  decider: RecordDecider,
  { hidesReviews = false } = {},
): Promise<void> {
  if (hidesReviews) await hideReviewsOf(entity, decider.by);
  return decideRecord(entity, 'remove', decider, ({ state }) => {
    if (state === 'removed') throw invalidRequest('It was removed already');
    return { state: 'removed' };
  });
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
export function leadThing(entity: Entity, same_as: string, decider: RecordDecider): Promise<void> {
  return decideRecord(entity, 'lead', decider, (before) => {
    refuseRemoved(before);
    return { state: undefined, same_as };
  });
}

/** Brings back what was removed, or lets a thing that leads to another stand alone again. */
export function returnThing(entity: Entity, decider: RecordDecider): Promise<void> {
  return decideRecord(entity, 'return', decider, ({ state, same_as }) => {
    if (state !== 'removed' && same_as === undefined) {
      throw invalidRequest('It was not removed, and leads to no other thing');
    }
    return { state: undefined, same_as: undefined };
  });
}

/**
 * Undoes a revision in the log, by another one. Throws ApiError 404 if there is no such revision or
 * the decider is no moderator, 400 if the record was changed since.
 */
export function undoChange(decisionId: string, by: Decider): Promise<void> {
  return retryStale(async () => {
    const entry = parseItem(Decision, await getItem(decisionKey(decisionId)));
    const revision = revisionIn(entry);
    if (!revision) throw notFound('Correction');
    const record = await readRecord(revision.after);
    await writeRevision(await undoing(revision, record), { by, tells: true });
  });
}
