import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type _Record as StreamRecord,
} from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';
import { impatientOptions } from './dynamodb.ts';

/** Records per read. Most match no consumer. A DynamoDB ends a read at 1 MB. */
const pageSize = 1000;

/**
 * Reads the stream of a DynamoDB. `open` returns a function that returns the next records in
 * Lambda's form, or none at the end. It continues after an error. Shards follow one another, oldest
 * first.
 */
export function shardReader(endpoint: string, StreamArn: string) {
  // A request that hangs must not stop the consumers for good.
  const client = new DynamoDBStreamsClient(impatientOptions(endpoint));

  function open(): () => Promise<DynamoDBRecord[]> {
    const finished = new Set<string>();
    let shard: string | undefined;
    let iterator: string | undefined;
    let last: string | undefined;

    async function findIterator() {
      const { StreamDescription } = await client.send(new DescribeStreamCommand({ StreamArn }));
      const ids = (StreamDescription?.Shards ?? []).map(({ ShardId = '' }) => ShardId);
      shard = ids.find((id) => !finished.has(id));
      if (shard === undefined) return undefined;
      const { ShardIterator } = await client.send(
        new GetShardIteratorCommand({
          StreamArn,
          ShardId: shard,
          ShardIteratorType: last === undefined ? 'TRIM_HORIZON' : 'AFTER_SEQUENCE_NUMBER',
          SequenceNumber: last,
        }),
      );
      return ShardIterator;
    }

    return async () => {
      try {
        iterator ??= await findIterator();
        if (iterator === undefined) return [];
        const { Records = [], NextShardIterator } = await client.send(
          new GetRecordsCommand({ ShardIterator: iterator, Limit: pageSize }),
        );
        iterator = NextShardIterator;
        last = Records.at(-1)?.dynamodb?.SequenceNumber ?? last;
        if (iterator === undefined && shard !== undefined) {
          finished.add(shard);
          last = undefined;
        }
        return Records.map(toLambda);
      } catch (error) {
        // An iterator expires after 15 minutes, or when the engine restarts.
        iterator = undefined;
        if (error instanceof Error && error.name === 'TrimmedDataAccessException') last = undefined;
        throw error;
      }
    };
  }

  return { open, close: () => client.destroy() };
}

/** Converts a record to Lambda's form: time in seconds. We store no binary attributes. */
function toLambda({ dynamodb, ...record }: StreamRecord) {
  const created = dynamodb?.ApproximateCreationDateTime;
  return {
    ...record,
    eventSource: 'aws:dynamodb',
    dynamodb: {
      ...dynamodb,
      ApproximateCreationDateTime: created && created.getTime() / 1000,
    },
  } as DynamoDBRecord;
}
