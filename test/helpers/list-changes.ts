import type { DynamoDBRecord } from 'aws-lambda';
import { handler } from '../../functions/api/list-changes.ts';
import { handler as updateAggregates } from '../../functions/background/update-aggregates.ts';
import { isFor } from '../../shared/base/background/consumer.ts';
import { reviewKey, revisionKey } from '../../shared/core/keys.ts';
import type { WholeReview } from '../../shared/core/review/review.ts';
import { type Revision, revisionOf } from '../../shared/core/review/revision.ts';
import { consumers } from '../../shared/features/background.ts';
import { reviewRecord } from '../../shared/features/changes/record.ts';
import { wholeReview } from '../../shared/features/transfer/item-record.ts';
import { invoke } from './invoke.ts';
import { readItem, scanTable, setAttributes, storeItems } from './items.ts';
import { applyStream, readStream } from './stream.ts';

export interface Told {
  id: string;
  version: number;
  review: { revisions: { id: number }[]; earlier_revisions?: string } | null;
}

export const ask = (query: Record<string, string> = {}) => invoke(handler, { query });

export async function position(): Promise<string> {
  await applyStream();
  return (await ask()).body.next;
}

/** Reads all changes after a position, page by page. Returns them with the next position. */
export async function follow(
  since: string,
  limit = 50,
): Promise<{ told: Told[]; pages: number; next: string }> {
  const told: Told[] = [];
  let next = since;
  for (let pages = 1; ; pages++) {
    const { status, body } = await ask({ since: next, limit: `${limit}` });
    expect(status).toBe(200);
    expect(body.error).toBeUndefined();
    expect(body.changes.length).toBeLessThanOrEqual(limit);
    told.push(...body.changes);
    next = body.next;
    if (!body.has_more) return { told, pages, next };
  }
}

/** Returns the stream records that the consumer subscribes to. */
export async function records(): Promise<DynamoDBRecord[]> {
  const all = await readStream();
  return all.filter((record) => consumers[0] && isFor(consumers[0], record));
}

export async function feed(batch: readonly DynamoDBRecord[]): Promise<void> {
  if (batch.length === 0) return;
  expect(await updateAggregates({ Records: [...batch] })).toEqual({ batchItemFailures: [] });
}

/** Gives a review the history of that many edits. */
export async function addHistory(id: string, edits: number): Promise<void> {
  const item = await readItem(reviewKey(id));
  await setAttributes(reviewKey(id), { edits, version: edits + 1 });
  const earlier = Array.from({ length: edits }, (_, n) => ({
    ...revisionKey(id, n + 1),
    ...revisionOf(item as unknown as WholeReview),
    id: n + 1,
  }));
  await storeItems(earlier);
}

/**
 * Reads the public reviews from the table, not from the change feed. Returns them by id, as in a
 * dump.
 */
export async function dump(): Promise<Map<string, string>> {
  const items = await scanTable();
  const alive = new Set(
    items.filter(({ sk, deleted_at }) => sk === 'USER' && !deleted_at).map(({ pk }) => pk),
  );
  return new Map(
    items
      .filter(({ sk, published_on, is_hidden, user_id }) => {
        return sk === 'REVIEW' && published_on && !is_hidden && alive.has(`USER#${user_id}`);
      })
      .map((item) => {
        const earlier = items.filter(({ pk, sk }) => pk === item.pk && sk.startsWith('REVISION#'));
        const texts = items.filter(({ pk, sk }) => pk === item.pk && sk === 'LONGTEXT');
        const review = wholeReview(item, texts) as WholeReview;
        const revisions = [...(earlier as unknown as Revision[]), revisionOf(review)];
        return [review.id, JSON.stringify(reviewRecord(review, revisions))];
      }),
  );
}
