import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { describeError } from '../shared/describe-error.ts';
import { contributionOf } from '../shared/feed/contribution.ts';
import { applyContributions } from '../shared/feed/feed.ts';
import { divideSlots, openCalendars } from '../shared/feed/large-lists.ts';
import { insertCursorKey } from '../shared/list/cursor-key.ts';

let hasCursorKey = false;

/**
 * Keeps totals and calendars up to date with the table's stream: the batch as one, or when that fails record by record up to
 * the one at fault.
 */
export async function handler({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  try {
    await apply(Records);
    return { batchItemFailures: [] };
  } catch (error) {
    console.warn({
      message: 'A batch failed; taking its records one by one',
      error: describeError(error),
    });
  }
  for (const record of Records) {
    try {
      await apply([record]);
    } catch (error) {
      console.error({
        message: 'A record failed',
        eventID: record.eventID,
        error: describeError(error),
      });
      return { batchItemFailures: [{ itemIdentifier: record.dynamodb?.SequenceNumber ?? '' }] };
    }
  }
  return { batchItemFailures: [] };
}

async function apply(records: readonly DynamoDBRecord[]): Promise<void> {
  if (!hasCursorKey) {
    await insertCursorKey();
    hasCursorKey = true;
  }
  const { owners, slots } = await applyContributions(
    records.flatMap((record) => contributionOf(record) ?? []),
  );
  await openCalendars(owners);
  await divideSlots(slots);
}
