import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { handler } from '../../functions/background/update-aggregates.ts';
import { type Consumer, isFor } from '../../shared/base/background/consumer.ts';
import { batchDelete, batchWrite } from '../../shared/base/table/batch.ts';
import { table } from '../../shared/base/table/client.ts';
import { rebuildKeys } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { consumers } from '../../shared/features/background.ts';
import { silence } from './console.ts';
import { scanTable, setAttributes } from './items.ts';
import { aggregateDifferences } from './recount.ts';
import { readStream } from './stream.ts';
import { makeUsers } from './world.ts';

const consumer = consumers.find(({ operation }) => operation === 'update-aggregates') as Consumer;

/** Returns the records written since the last call, as the consumer receives them. */
export async function records(): Promise<DynamoDBRecord[]> {
  return (await readStream()).filter((record) => isFor(consumer, record));
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

/** Delivers records to the consumer, which must apply all of them at the first attempt. */
export async function deliver(Records: DynamoDBRecord[]): Promise<void> {
  await feed(Records);
  expect(console.warn).not.toHaveBeenCalled();
}

/** Returns the pending counts of batches that did not fit a transaction. */
export const deferred = async () => (await scanTable()).filter(({ pk }) => pk === 'DEFERRED');

/** Makes all numbers exact, and lets the stream begin here. Silences the consumer. */
export async function beginExact(): Promise<void> {
  silenceConsumer();
  await batchDelete(await deferred());
  await rebuildTotals();
  await readStream();
}

/** Silences the warnings and errors of the consumer. */
export function silenceConsumer(): void {
  silence('warn');
  silence('error');
}

/** Returns the fewest records that make a batch a busy one. */
export async function busy(): Promise<DynamoDBRecord[]> {
  await makeUsers(34);
  return records();
}

/** Kills the process at its nth transaction, either before it or after its commit. */
export function dieAt(nth: number, when: 'before' | 'after'): { transactions: number } {
  const seen = { transactions: 0 };
  const send = table.send.bind(table);
  const mocked = async (command: never) => {
    const isFatal =
      (command as object) instanceof TransactWriteCommand && ++seen.transactions >= nth;
    if (isFatal && (when === 'before' || seen.transactions > nth)) throw new Error('killed');
    const answer = await send(command);
    if (isFatal) throw new Error('killed');
    return answer;
  };
  jest.spyOn(table, 'send').mockImplementation(mocked as never);
  return seen;
}
