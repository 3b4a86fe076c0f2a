import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../../shared/table/definition.ts';
import { clientOptions } from './database.ts';

/** In milliseconds: how long a database may take for an answer, and for a new table. */
const longestAnswer = 5_000;
const longestCreation = 60_000;

/**
 * Makes the table if there is none, and refuses one of another shape. Gives the ARN of its stream.
 * An error is a sentence for the user.
 */
export async function createTable(endpoint: string, tableName: string): Promise<string> {
  const client = new DynamoDBClient({
    ...clientOptions(endpoint),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: longestAnswer,
      throwOnRequestTimeout: true,
    },
  });
  const wanted = tableInput(tableName);
  try {
    const found = await orComplain(endpoint, async () => {
      await client.send(new CreateTableCommand(wanted)).catch((error: unknown) => {
        if (!(error instanceof ResourceInUseException)) throw error;
      });
      return activeTable(client, tableName);
    });
    const { StreamSpecification } = wanted;
    // Whoever fills a table without its stream may have been killed.
    const hasStream = found.StreamSpecification?.StreamEnabled === true;
    const design = hasStream ? found : { ...found, StreamSpecification };
    if (!isDeepStrictEqual(shape(design), shape(wanted))) {
      throw new Error(
        `the table ${tableName} at ${endpoint} has other keys, indexes or stream settings than this version needs: use another data folder or table name`,
      );
    }
    if (!hasStream) {
      await client.send(new UpdateTableCommand({ TableName: tableName, StreamSpecification }));
    }
    const TimeToLiveSpecification = { AttributeName: tableDefinition.timeToLive, Enabled: true };
    await orComplain(endpoint, () =>
      client
        .send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }))
        .catch((error: unknown) => {
          // That it is enabled already.
          if (!(error instanceof Error) || error.name !== 'ValidationException') throw error;
        }),
    );
    return (hasStream ? found : await activeTable(client, tableName)).LatestStreamArn ?? '';
  } finally {
    client.destroy();
  }
}

/** Result of `ask`. Throws a sentence that says what is wrong with the database at `endpoint`. */
async function orComplain<T>(endpoint: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw new Error(`${complaint(endpoint, cause)}: check DYNAMODB_ENDPOINT`, { cause });
  }
}

function complaint(endpoint: string, error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError')
    return `no DynamoDB answers at ${endpoint} within ${longestAnswer / 1000} seconds`;
  if (/^(ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)/.test(code ?? '')) {
    return `no DynamoDB answers at ${endpoint} (${code})`;
  }
  // Each error of DynamoDB's own is called so.
  return name.endsWith('Exception')
    ? `the DynamoDB at ${endpoint} refuses the table (${name}: ${message})`
    : `what answers at ${endpoint} is no DynamoDB`;
}

function tableInput(TableName: string) {
  const { partitionKey, sortKey, attributeTypes, indexes } = tableDefinition;
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: Object.entries(attributeTypes).map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: keySchema(partitionKey, sortKey),
    GlobalSecondaryIndexes: indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index.partitionKey, index.sortKey),
      Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...index.projection] },
    })),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' as const },
  };
}

function keySchema(partitionKey: string, sortKey: string): KeySchemaElement[] {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' },
    { AttributeName: sortKey, KeyType: 'RANGE' },
  ];
}

/** Parts in which a table and its definition must agree, in one order. */
function shape({
  KeySchema,
  GlobalSecondaryIndexes = [],
  StreamSpecification,
}: TableDescription): unknown {
  const keys = (schema: KeySchemaElement[] = []) => schema.map((key) => key.AttributeName);
  return {
    keys: keys(KeySchema),
    stream: StreamSpecification?.StreamViewType,
    indexes: GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) =>
      [IndexName, ...keys(KeySchema), ':', ...(Projection?.NonKeyAttributes ?? []).toSorted()].join(
        ' ',
      ),
    ).toSorted(),
  };
}

async function activeTable(client: DynamoDBClient, TableName: string): Promise<TableDescription> {
  const deadline = Date.now() + longestCreation;
  while (Date.now() < deadline) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    if (!Table?.TableStatus) break;
    const indexes = Table.GlobalSecondaryIndexes ?? [];
    if (Table.TableStatus === 'ACTIVE' && indexes.every((index) => index.IndexStatus === 'ACTIVE'))
      return Table;
    await sleep(100);
  }
  throw new Error('there is no table yet');
}
