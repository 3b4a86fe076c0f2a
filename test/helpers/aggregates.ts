import { expect } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler } from '../../functions/update-aggregates.ts';
import { setHidden } from '../../shared/moderation/decision-repository.ts';
import { batchWrite } from '../../shared/table/batch.ts';
import { rebuildKeys } from '../../shared/table/keys.ts';
import { scanTable, setAttributes } from './items.ts';
import { aggregateDifferences } from './recount.ts';
import { readStream } from './stream.ts';
import { makeUsers } from './world.ts';

/** Returns the records written since the last call, as the consumer receives them. */
export async function records(): Promise<DynamoDBRecord[]> {
  const all = await readStream();
  return all.filter(({ dynamodb }) => ['REVIEW', 'USER'].includes(dynamodb?.Keys?.sk?.S ?? ''));
}

/** Publishes, changes, hides, votes on and deletes reviews, and adds users. */
export async function live(): Promise<void> {
  const [voter, ...authors] = await makeUsers(7);
  for (const [i, author] of authors.entries()) {
    const content = { language: ['en', 'de'][i % 2], is_draft: i === 3 };
    const review_id = await author.publishes(content);
    if (voter && i !== 3) await voter.votes(review_id);
    await author.edits(review_id, { rating: null });
    if (i === 1 || i === 2) await setHidden(review_id, true);
    if (i === 2) await setHidden(review_id, false);
    if (i >= 4) await author.deletes(review_id);
  }
}

/** Returns the stored totals by sort key. */
export async function totals() {
  const items = (await scanTable()).filter(({ sk }) => sk.startsWith('TOTAL#'));
  return Object.fromEntries(items.map(({ sk, pk: _, ...numbers }) => [sk, numbers]));
}

export async function expectExactTotals(): Promise<void> {
  expect(await aggregateDifferences()).toEqual([]);
}

/** Takes the locks of a rebuild. They expire at `until`, in epoch seconds. */
export async function lockTotals(id: string, until: number): Promise<void> {
  for (const key of rebuildKeys) {
    await setAttributes(key, { id, until });
  }
}

export async function deleteLocks(): Promise<void> {
  await batchWrite(rebuildKeys.map((key) => ({ delete: key })));
}

export const locks = async () => (await scanTable()).filter(({ sk }) => sk.startsWith('REBUILD'));

/** Delivers records to the consumer, which must apply all of them. */
export async function feed(Records: DynamoDBRecord[]): Promise<void> {
  expect(await handler({ Records })).toEqual({ batchItemFailures: [] });
}
