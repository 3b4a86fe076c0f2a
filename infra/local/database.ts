import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
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
import { indexRecords } from './engine-records.ts';

/** An embedded DynamoDB that runs as a child process. */
export interface Database {
  endpoint: string;
  pid: number;
  /** Resolves, with a sentence, if the process ends before it is told to. */
  failure: Promise<string>;
  /** Resolves when the process is gone and its file is complete. */
  stop(): Promise<void>;
}

/** In milliseconds: how long a database may take for an answer and for a new table, and the engine for its first word. */
const longestAnswer = 5_000;
const longestCreation = 60_000;
const longestSilence = 10_000;

/** What the AWS SDK reads. Any credentials do; a profile of the developer's must never be asked for better ones. */
export function databaseEnvironment(endpoint: string, tableName: string): Record<string, string> {
  return {
    TABLE_NAME: tableName,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SESSION_TOKEN: '',
    AWS_PROFILE: '',
  };
}

/** How the stack's own clients reach `endpoint`. */
export function clientOptions(endpoint: string) {
  return {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
}

/**
 * Starts the engine on `file`, which it creates, or in memory. It never outlives this process, however that ends: a shell
 * holds the end of a pipe from us, and kills the engine (and deletes the folder `temporary`) once the pipe closes.
 */
export async function startDatabase({
  file,
  temporary,
}: {
  file?: string;
  temporary?: string;
} = {}): Promise<Database> {
  const { engine, endpoint } = await startEngine(file);
  const pid = Number(engine.pid);
  // In sessions of their own, so that Ctrl-C reaches us alone and requests in flight still find their data.
  const watchdog = spawn(
    'sh',
    [
      '-c',
      'read _; kill "$1"; [ -z "$2" ] || { sleep 1; rm -rf -- "$2"; }',
      'sh',
      `${pid}`,
      temporary ?? '',
    ],
    { detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
  );
  const children = [engine, watchdog];
  for (const child of children) child.unref();
  if (file !== undefined) indexRecords(file);
  let stopping = false;

  return {
    endpoint,
    pid,
    failure: new Promise((resolve) => {
      engine.once('exit', (code, signal) => {
        if (!stopping) resolve(`the embedded DynamoDB ended (${signal ?? `exit status ${code}`})`);
      });
    }),
    async stop() {
      stopping = true;
      // The engine first: should we die in between, the watchdog is still there.
      for (const child of children) await end(child);
    },
  };
}

/** Makes the table if there is none, and refuses one of another shape. Gives the ARN of its stream. An error is a sentence for the user. */
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

/** What `ask` gives. Throws a sentence that says what is wrong with the database at `endpoint`. */
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

/** What must agree between a table and its definition, in one order. */
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

async function startEngine(file?: string): Promise<{ engine: ChildProcess; endpoint: string }> {
  const binary = enginePath();
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const options = ['--port', `${port}`, ...(file === undefined ? [] : ['--db-path', file])];
    // Its files hold e-mail addresses: they are for this user only, whatever the folder allows.
    const engine = spawn('sh', ['-c', 'umask 077; exec "$0" "$@"', binary, 'serve', ...options], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const said = await firstLine(engine);
    if (said.includes('listening on')) return { engine, endpoint: `http://127.0.0.1:${port}` };
    // Somebody took the port since we looked.
    if (said.includes('already in use') && attempt < 5) continue;
    engine.kill();
    throw new Error(`the embedded DynamoDB did not start: ${said}`);
  }
}

/** What the engine says first: that it listens, or why it cannot. The rest of its log is dropped. */
async function firstLine(engine: ChildProcess): Promise<string> {
  const failed = once(engine, 'error').then(([error]) => `${error}`);
  if (!engine.stderr) return failed;
  const lines = createInterface({ input: engine.stderr });
  const said = await Promise.race([
    failed,
    once(lines, 'line').then(([line]) => `${line}`),
    once(lines, 'close').then(() => 'it ended without a word'),
    sleep(longestSilence, 'it says nothing', { ref: false }),
  ]);
  const { stderr } = engine;
  if ('unref' in stderr && typeof stderr.unref === 'function') stderr.unref();
  return said;
}

function enginePath(): string {
  try {
    return createRequire(import.meta.url).resolve('@dynoxide/linux-x64/dynoxide');
  } catch (cause) {
    throw new Error(
      `there is no embedded DynamoDB for ${process.platform}-${process.arch}: set DYNAMODB_ENDPOINT to one that runs, such as DynamoDB local (docker run -p 8000:8000 amazon/dynamodb-local, then DYNAMODB_ENDPOINT=http://localhost:8000)`,
      { cause },
    );
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const gone = once(child, 'exit');
  child.kill();
  await gone;
}
