// Releases what waits of an author: reviews, edits and names.
import { ApiError } from '../../base/errors.ts';
import { batchGet, getItems } from '../../base/table/batch.ts';
import { keyString } from '../../base/table/item.ts';
import { parseItem } from '../../base/table/parse.ts';
import type { EntityRecord } from '../../core/entity/record.ts';
import { claimKey, reviewKey } from '../../core/keys.ts';
import type { Decider } from '../../core/report/decision.ts';
import { decideReview } from '../../core/report/decision-repository.ts';
import { isNewcomer } from '../../core/review/newcomer.ts';
import { listWritten } from '../../core/review/own-reviews.ts';
import { isHeld, Review } from '../../core/review/review.ts';
import { confirmName, listNamed } from '../names/public.ts';

/**
 * Reviews and names of one author that one press approves. Each costs some 60 write units. Those
 * left over stay on the desk, and the button with them.
 */
const mostReleased = 20;

/** Reviews that are looked at for some that wait. */
const mostRead = 100;

/**
 * Approves the reviews, edits and names of an author that wait, and were written `until` a time
 * (ISO 8601). Leaves out those that this moderator may not decide on. Returns how many.
 */
export async function approveAll(userId: string, by: Decider, until: string): Promise<number> {
  const { reviews } = await listWritten(userId, { limit: mostRead, offset: 0 });
  const waiting = reviews
    .map(({ review }) => review)
    .filter((review) => waitsSince(review) <= until)
    .slice(0, mostReleased);
  let approved = 0;
  // One after the other: all of them change the counts of the author.
  for (const { id } of waiting.toReversed()) {
    if (await isDone(decideReview(id, 'approve', by))) approved++;
  }
  const { found } = await listNamed(userId, mostRead);
  const names = found.filter(({ state, written_at = '' }) => {
    return state === 'waiting' && written_at <= until;
  });
  for (const name of names.slice(0, mostReleased - approved)) {
    if (await isDone(confirmName(name, { by }))) approved++;
  }
  return approved;
}

/**
 * Approves what else waits of an author whose next review would not be held any more, as if it had
 * been written now.
 */
export async function releaseRest(userId: string, by: Decider): Promise<void> {
  if (await isNewcomer(userId)) return;
  await approveAll(userId, by, new Date().toISOString());
}

/** Returns those of these names that wait with a held review by the person who gave them. */
export async function findHeldWith(
  names: readonly EntityRecord[],
): Promise<ReadonlySet<EntityRecord>> {
  const given = names.filter(({ user_id }) => user_id !== undefined);
  const claims = await getItems(given.map((name) => claimKey(`${name.user_id}`, name.entity_id)));
  const ids = claims.map((claim) => `${claim?.review_id ?? ''}`);
  const items = await batchGet(ids.filter((id) => id !== '').map(reviewKey));
  return new Set(
    given.filter((_, i) => {
      const review = parseItem(Review, items.get(keyString(reviewKey(ids[i] ?? ''))));
      return review !== undefined && isHeld(review);
    }),
  );
}

/** Returns the time since when a review or its edit waits. If none does, it is after all times. */
function waitsSince(review: Review): string {
  if (isHeld(review)) return review.last_updated;
  return review.waiting_since ?? '~';
}

/** Returns false where somebody else has decided, or this moderator may not. */
async function isDone(decision: Promise<unknown>): Promise<boolean> {
  try {
    await decision;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return false;
    throw error;
  }
}
