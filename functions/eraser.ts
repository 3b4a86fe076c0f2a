import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { eraseRemains } from '../shared/review/erase.ts';

/** Takes away what deleted reviews have left behind, in the order of the stream and up to the first that fails. */
export async function handler({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> {
  for (const { eventName, dynamodb } of Records) {
    try {
      if (eventName === 'REMOVE') await eraseRemains(dynamodb?.Keys?.pk?.S ?? '');
    } catch (error) {
      console.error(JSON.stringify({ message: 'Erasing failed', error: String(error) }));
      return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] };
    }
  }
  return { batchItemFailures: [] };
}
