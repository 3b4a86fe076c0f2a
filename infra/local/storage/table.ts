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
import { type IndexName, tableDefinition } from '../../../shared/base/table/definition.ts';
import { impatientOptions, longestAnswer } from './dynamodb.ts';

/** The table, ready for use unless older code has made it. */
interface LocalTable {
  streamArn: string;
  /** Indexes that the table of older code lacks. Add them when its items are upgraded. */
  missing: IndexName[];
}

/**
 * Creates the table if it does not exist. Throws a sentence for the user if the table has another
 * shape, unless it only lacks indexes.
 */
export async function createTable(endpoint: string, tableName: string): Promise<LocalTable> {
  const client = new DynamoDBClient(impatientOptions(endpoint));
  const definition = tableInput(tableName);
  try {
    const existing = await orExplain(endpoint, async () => {
      await client.send(new CreateTableCommand(definition)).catch((error: unknown) => {
        if (!(error instanceof ResourceInUseException)) throw error;
      });
      return activeTable(client, tableName);
    });
    const { StreamSpecification } = definition;
    // A bulk load turns the stream off, and may have been killed.
    const hasStream = existing.StreamSpecification?.StreamEnabled === true;
    const design = hasStream ? existing : { ...existing, StreamSpecification };
    const { missing, ...lacking } = withoutMissing(definition, existing);
    if (!isDeepStrictEqual(shape(design), shape(lacking))) {
      throw new Error(
        `the table ${tableName} at ${endpoint} has other keys, indexes or stream settings than this version needs: use another data folder or table name`,
      );
    }
    if (!hasStream) {
      await client.send(new UpdateTableCommand({ TableName: tableName, StreamSpecification }));
    }
    const TimeToLiveSpecification = { AttributeName: tableDefinition.timeToLive, Enabled: true };
    await orExplain(endpoint, () =>
      client
        .send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }))
        .catch((error: unknown) => {
          // The time to live is already enabled.
          if (!(error instanceof Error) || error.name !== 'ValidationException') throw error;
        }),
    );
    const active = hasStream ? existing : await activeTable(client, tableName);
    return { streamArn: active.LatestStreamArn ?? '', missing };
  } finally {
    client.destroy();
  }
}

/** Adds indexes to a table, one by one, as DynamoDB requires. They contain what is stored then. */
export async function addIndexes(
  endpoint: string,
  tableName: string,
  names: readonly IndexName[],
): Promise<void> {
  const client = new DynamoDBClient({ ...impatientOptions(endpoint), requestHandler: {} });
  const { AttributeDefinitions, GlobalSecondaryIndexes } = tableInput(tableName);
  try {
    for (const Create of GlobalSecondaryIndexes) {
      if (!names.includes(Create.IndexName)) continue;
      const GlobalSecondaryIndexUpdates = [{ Create }];
      await client.send(
        new UpdateTableCommand({
          TableName: tableName,
          AttributeDefinitions,
          GlobalSecondaryIndexUpdates,
        }),
      );
      await activeTable(client, tableName);
    }
  } finally {
    client.destroy();
  }
}

/** Returns a definition without the indexes that an existing table lacks, and their names. */
function withoutMissing(definition: ReturnType<typeof tableInput>, existing: TableDescription) {
  const names = existing.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName);
  const isThere = ({ IndexName }: { IndexName: IndexName }) => names?.includes(IndexName) ?? false;
  const { GlobalSecondaryIndexes: all } = definition;
  return {
    ...definition,
    GlobalSecondaryIndexes: all.filter(isThere),
    missing: all.filter((index) => !isThere(index)).map(({ IndexName }) => IndexName),
  };
}

/** Throws a sentence about the problem with the database, if there is one. */
async function orExplain<T>(endpoint: string, ask: () => Promise<T>) {
  try {
    return await ask();
  } catch (cause) {
    throw new Error(`${problemWith(endpoint, cause)}: check DYNAMODB_ENDPOINT`, { cause });
  }
}

function problemWith(endpoint: string, error: unknown) {
  const { name, message, code } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') {
    return `no DynamoDB answers at ${endpoint} within ${longestAnswer / 1000} seconds`;
  }
  if (/^(ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)/.test(code ?? '')) {
    return `no DynamoDB answers at ${endpoint} (${code})`;
  }
  // Every error name of DynamoDB ends so.
  return name.endsWith('Exception')
    ? `the DynamoDB at ${endpoint} refuses the table (${name}: ${message})`
    : `the server at ${endpoint} is not a DynamoDB`;
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

/** Returns the parts in which a table must match its definition, in a fixed order. */
function shape({ KeySchema, GlobalSecondaryIndexes, StreamSpecification }: TableDescription) {
  const keys = (schema: KeySchemaElement[] = []) => schema.map((key) => key.AttributeName);
  const indexes = GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => {
    const attributes = Projection?.NonKeyAttributes?.toSorted() ?? [];
    return [IndexName, ...keys(KeySchema), ':', ...attributes].join(' ');
  });
  const stream = StreamSpecification?.StreamViewType;
  return { keys: keys(KeySchema), stream, indexes: indexes?.toSorted() };
}

async function activeTable(client: DynamoDBClient, TableName: string) {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    if (!Table?.TableStatus) break;
    const indexes = Table.GlobalSecondaryIndexes ?? [];
    const states = [Table.TableStatus, ...indexes.map(({ IndexStatus }) => IndexStatus)];
    if (states.every((state) => state === 'ACTIVE')) return Table;
    await sleep(100);
  }
  throw new Error(`the table ${TableName} is not active`);
}
