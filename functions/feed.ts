import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { contributionOf } from '../shared/aggregates/contribution.ts';
import { growTrees } from '../shared/aggregates/grow.ts';
import { project } from '../shared/aggregates/project.ts';

/**
 * Keeps totals and rank trees up to date with the table's stream: the batch as one, or when that fails record by record up to
 * the one at fault.
 */
export async function handler({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  try {
    await apply(Records);
    return { batchItemFailures: [] };
  } catch (error) {
    console.warn(
      JSON.stringify({
        message: 'A batch failed; taking its records one by one',
        error: String(error),
      }),
    );
  }
  for (const record of Records) {
    try {
      await apply([record]);
    } catch (error) {
      console.error(
        JSON.stringify({
          message: 'A record failed',
          error: String(error),
          eventID: record.eventID,
        }),
      );
      return { batchItemFailures: [{ itemIdentifier: record.dynamodb?.SequenceNumber ?? '' }] };
    }
  }
  return { batchItemFailures: [] };
}

async function apply(records: readonly DynamoDBRecord[]): Promise<void> {
  await growTrees(await project(records.flatMap((record) => contributionOf(record) ?? [])));
}
