import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type Caller, newCaller } from './caller.ts';

/** What a service process may be asked for. */
export interface Tasks {
  /** Makes an account with an application that may act for it. */
  newCaller: { take: { name: string }; give: Caller };
  /** Sends the events one after the other; gives the CPU of all of them, in milliseconds, and what was answered. */
  call: { take: { operation: string; events: object[] }; give: { cpu: number; answers: Answer[] } };
  /** Sends one event; gives what it takes at least, and what was answered. */
  record: { take: { operation: string; event: object }; give: { floor: Floor; answer: Answer } };
  /** Sends the events one after the other; gives a CPU profile, as JSON, and what was answered. */
  profile: {
    take: { operation: string; events: object[] };
    give: { json: string; answers: Answer[] };
  };
}

/** What a handler gave, or why it threw. */
export type Answer = { statusCode?: number; body?: string; error?: string } | undefined;

/** Of a request: how many commands went to the database, how many bytes came back, and CPU in milliseconds. */
export interface Floor {
  commands: number;
  bytes: number;
  /** What no implementation goes without: to parse what the database sent, and to write what is answered. */
  least: number;
  /** One read of nothing by the SDK as it comes. */
  bare: number;
}

// A process that calls the handlers of a checkout and does nothing else, so that its CPU is theirs: ours, the SDK's and Node's.
const root = process.argv[2] ?? '';
const load = (file: string) => import(pathToFileURL(`${root}/${file}`).href);
/** What the database has sent, while somebody listens. */
let received: Buffer[][] | undefined;
/** How often that is done which takes too short a time to be measured once. */
const times = 20;

const tasks: { [K in keyof Tasks]: (task: Tasks[K]['take']) => Promise<Tasks[K]['give']> } = {
  newCaller: ({ name }) => newCaller(name, root),

  async call({ operation, events }) {
    const { handler } = await load(`functions/${operation}.ts`);
    const answers: Answer[] = [];
    const cpu = await cpuOf(async () => {
      for (const event of events) answers.push(await answerOf(handler, event));
    });
    return { cpu, answers };
  },

  async record({ operation, event }) {
    const { handler } = await load(`functions/${operation}.ts`);
    received = [];
    const answer = await answerOf(handler, event);
    const sent = received.map((chunks) => Buffer.concat(chunks));
    received = undefined;
    const body = answer?.body?.startsWith('{') ? JSON.parse(answer.body) : answer?.body;
    const least = await cpuOf(async () => {
      for (let i = 0; i < times; i++) {
        for (const bytes of sent) JSON.parse(bytes.toString());
        JSON.stringify(body);
      }
    });
    const bare = await cpuOf(() => bareCommands(times));
    const bytes = sent.reduce((sum, { length }) => sum + length, 0);
    const floor = {
      commands: sent.length,
      bytes,
      least: least / times,
      bare: bare / times,
    };
    return { floor, answer };
  },

  async profile({ operation, events }) {
    const { handler } = await load(`functions/${operation}.ts`);
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    const answers: Answer[] = [];
    for (const event of events) answers.push(await answerOf(handler, event));
    const { profile } = await session.post('Profiler.stop');
    return { json: JSON.stringify(profile), answers };
  },
};

process.on('message', async ({ name, task }: { name: keyof Tasks; task: never }) => {
  try {
    process.send?.({ given: await tasks[name](task) });
  } catch (error) {
    process.send?.({ failure: error instanceof Error ? error.stack : `${error}` });
  }
});
process.once('disconnect', () => process.exit());

subscribe('http.client.response.finish', (message) => {
  if (!received) return;
  const chunks: Buffer[] = [];
  received.push(chunks);
  const { response } = message as { response: IncomingMessage };
  const push = response.push.bind(response);
  response.push = (chunk, encoding) => {
    if (chunk) chunks.push(Buffer.from(chunk));
    return push(chunk, encoding);
  };
});

async function answerOf(handler: unknown, event: object): Promise<Answer> {
  const call = handler as (event: object, context: object) => Promise<Answer>;
  try {
    return await call(event, {});
  } catch (error) {
    return { error: error instanceof Error ? error.message : `${error}` };
  }
}

const bareSdk = bareClient();

/** So many reads of nothing by the SDK as it comes. */
async function bareCommands(count: number): Promise<void> {
  const { client, GetItemCommand } = await bareSdk;
  const Key = { pk: { S: 'TOTALS' }, sk: { S: 'none' } };
  for (let i = 0; i < count; i++) {
    await client.send(new GetItemCommand({ TableName: process.env.TABLE_NAME, Key }));
  }
}

async function bareClient() {
  const { DynamoDBClient, GetItemCommand } = await import(
    createRequire(`${root}/`).resolve('@aws-sdk/client-dynamodb')
  );
  return { client: new DynamoDBClient({}), GetItemCommand };
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
