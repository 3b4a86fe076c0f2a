import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { contributionOf } from '../shared/aggregates/contribution.ts';
import { growTrees } from '../shared/aggregates/grow.ts';
import { project } from '../shared/aggregates/project.ts';
import { changesIn, logChanges } from '../shared/changes/log.ts';
import { describeError } from '../shared/describe-error.ts';

/**
 * Keeps totals, rank trees and the log of changes up to date with the table's stream. A batch is applied as one. When that fails its records are applied one by
 * one, up to the one at fault.
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
  await growTrees(await project(records.flatMap((record) => contributionOf(record) ?? [])));
  // Last, so that a batch that is tried again because of the others is not logged twice.
  await logChanges(changesIn(records));
}
