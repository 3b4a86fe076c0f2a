import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { contributionOf } from '../shared/aggregates/contribution.ts';
import { growTrees } from '../shared/aggregates/grow.ts';
import { project } from '../shared/aggregates/project.ts';
import { changesIn, logChanges } from '../shared/changes/log.ts';
import { describeError } from '../shared/describe-error.ts';

/**
 * Updates totals, rank trees and the change log from the table's stream. Applies a batch as one. If
 * that fails, applies its records one by one, up to the first that fails.
 */
export async function handler({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  try {
    await apply(Records);
    return { batchItemFailures: [] };
  } catch (error) {
    console.warn({
      message: 'A batch failed; retrying its records one by one',
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
  await growTrees(await project(records.flatMap((record) => contributionOf(record) ?? [])));
  // Last, so that a batch retried after an earlier failure is not logged twice.
  await logChanges(changesIn(records));
}
