import type { DynamoDBBatchResponse, DynamoDBRecord } from 'aws-lambda';
import { describeError } from '../describe-error.ts';

/** Applies records of the table's stream up to the first that fails. Lambda retries from there. */
export async function applyInOrder(
  records: readonly DynamoDBRecord[],
  apply: (record: DynamoDBRecord) => Promise<void>,
  message: string,
): Promise<DynamoDBBatchResponse> {
  for (const record of records) {
    try {
      await apply(record);
    } catch (error) {
      const { eventID, dynamodb } = record;
      console.error({ message, eventID, error: describeError(error) });
      return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] };
    }
  }
  return { batchItemFailures: [] };
}
