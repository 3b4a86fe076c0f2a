import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { defaultProvider } from '../../../../infra/aws/credentials.ts';

const TableName = 'reviews';
const Key = { pk: 'CLIENT#1', sk: 'CLIENT' };
const rawKey = { pk: { S: Key.pk }, sk: { S: Key.sk } };

type Mood = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

/** Starts a fake DynamoDB with faults. `requests` counts requests since `mood` was set. */
async function moodyServer() {
  const moody = { mood: fine as Mood, requests: 0, url: '', close: () => {} };
  const server = createServer((request, response) => {
    request.resume().once('end', () => moody.mood(request, response, ++moody.requests));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  moody.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  moody.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return moody;
}

const item = JSON.stringify({ Item: rawKey, Responses: { [TableName]: [rawKey] } });

function fine(_: unknown, response: ServerResponse) {
  response.end(item);
}

function failing(status: number, type: string, rest: object = {}): Mood {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: type, ...rest };
  return (_, response) => response.writeHead(status).end(JSON.stringify(body));
}

const throttled = failing(400, 'ThrottlingException');
const broken = failing(500, 'InternalServerError');
const cancelled = failing(400, 'TransactionCanceledException', {
  CancellationReasons: [{ Code: 'ConditionalCheckFailed', Item: rawKey }, { Code: 'None' }],
});
const halfABody: Mood = (_, response) => {
  response.writeHead(200, { 'content-length': item.length }).write(item.slice(0, 9));
};
const cutBody: Mood = (request, response, attempt) => {
  halfABody(request, response, attempt);
  setImmediate(() => request.socket.destroy());
};

/** Applies this mood to the first request only. */
function firstOnly(mood: Mood): Mood {
  return (request, response, attempt) => (attempt === 1 ? mood : fine)(request, response, attempt);
}

/** A server whose clock is an hour ahead. It refuses signatures that are over five minutes old. */
const anHourAhead: Mood = (request, response, attempt) => {
  const now = Date.now() + 3_600_000;
  response.setHeader('date', new Date(now).toUTCString());
  const sent = `${request.headers['x-amz-date']}`;
  const time = sent.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
  const isBelieved = Math.abs(now - Date.parse(time)) < 300_000;
  const mood = isBelieved ? fine : failing(400, 'InvalidSignatureException');
  mood(request, response, attempt);
};

describe('under database faults the client behaves like the plain SDK', () => {
  type Side = {
    server: Awaited<ReturnType<typeof moodyServer>>;
    get(options?: { abortSignal: AbortSignal }): Promise<unknown>;
    write(): Promise<unknown>;
  };
  const sides: Side[] = [];
  let plain: DynamoDBClient;

  beforeAll(async () => {
    const ours = await moodyServer();
    const theirs = await moodyServer();
    const before = process.env.AWS_ENDPOINT_URL_DYNAMODB;
    process.env.AWS_ENDPOINT_URL_DYNAMODB = ours.url;
    // Loads a client that has made no request yet.
    jest.resetModules();
    const { table } = await import('../../../../shared/base/table/client.ts');
    const action = { Put: { TableName, Item: Key } };
    const write = { TransactItems: [action], ClientRequestToken: randomUUID() };
    sides.push({
      server: ours,
      get: (options) => table.send(new GetCommand({ TableName, Key }), options),
      write: () => table.send(new TransactWriteCommand(write)),
    });
    await sides[0]?.get();
    process.env.AWS_ENDPOINT_URL_DYNAMODB = before;

    const timeouts = { connectionTimeout: 1_000, requestTimeout: 2_000 };
    const requestHandler = { ...timeouts, throwOnRequestTimeout: true };
    plain = new DynamoDBClient({ endpoint: theirs.url, maxAttempts: 4, requestHandler });
    const rawWrite = { ...write, TransactItems: [{ Put: { TableName, Item: rawKey } }] };
    sides.push({
      server: theirs,
      get: (options) => plain.send(new GetItemCommand({ TableName, Key: rawKey }), options),
      write: () => plain.send(new TransactWriteItemsCommand(rawWrite)),
    });
  });
  afterAll(() => {
    plain.destroy();
    for (const { server } of sides) server.close();
  });

  /** Returns the number of requests and the outcome: 'ok', or the error's name and reasons. */
  async function meet(mood: Mood, call: (side: Side) => Promise<unknown>) {
    return Promise.all(
      sides.map(async (side) => {
        Object.assign(side.server, { mood, requests: 0 });
        const outcome = await call(side).then(
          () => 'ok',
          ({ name, CancellationReasons: reasons }) => (reasons ? [name, reasons] : name),
        );
        return [side.server.requests, outcome];
      }),
    );
  }

  type Call = (side: Side) => Promise<unknown>;
  const getOnce: Call = ({ get }) => get();
  const getFor300ms: Call = ({ get }) => get({ abortSignal: AbortSignal.timeout(300) });
  const eachOf = (calls: number) => async (side: Side) => {
    for (let i = 0; i < calls; i++) await side.get();
  };
  const reasons = [{ Code: 'ConditionalCheckFailed', Item: rawKey }, { Code: 'None' }];
  const refusal = ['TransactionCanceledException', reasons];
  test.each<[string, Mood, Call, number, unknown]>([
    ['throttled once', firstOnly(throttled), getOnce, 2, 'ok'],
    ['throttled for ever', throttled, getOnce, 4, 'ThrottlingException'],
    ['a failure', firstOnly(broken), getOnce, 2, 'ok'],
    ['a reset', firstOnly(({ socket }) => socket.resetAndDestroy()), getOnce, 2, 'ok'],
    ['no answer in two seconds', firstOnly(() => {}), getOnce, 2, 'ok'],
    ['a body that is cut', firstOnly(cutBody), getOnce, 2, 'ok'],
    ['half a body until a deadline', halfABody, getFor300ms, 1, 'AbortError'],
    ['a cancelled transaction', cancelled, ({ write }) => write(), 1, refusal],
    ['a clock that is an hour ahead', anHourAhead, eachOf(3), 4, 'ok'],
  ])('%s', async (_, mood, call, requests, outcome) => {
    const [ours, theirs] = await meet(mood, call);
    expect(ours).toEqual([requests, outcome]);
    expect(ours).toEqual(theirs);
  });

  test('one failure in ten is retried after forty parallel calls have failed', async () => {
    const [ours, theirs] = await meet(broken, async ({ get }) => {
      const calls = await Promise.allSettled(Array.from({ length: 40 }, () => get()));
      if (calls.some(({ status }) => status === 'fulfilled')) throw new Error('not all failed');
    });
    expect(ours).toEqual(theirs);
    // The SDK stops retrying when its quota is spent. Each success restores a part.
    expect(ours?.[0]).toBeLessThan(4 * 40);
    expect(await meet(fine, eachOf(100))).toEqual(Array(2).fill([100, 'ok']));
    const everyTenth: Mood = (request, response, attempt) =>
      (attempt % 10 === 0 ? broken : fine)(request, response, attempt);
    expect(await meet(everyTenth, eachOf(45))).toEqual(Array(2).fill([49, 'ok']));
  });
});

test('requests with Lambda’s temporary credentials carry the session token', async () => {
  const server = await moodyServer();
  const env = { ...process.env };
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'ASIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'IQoJb3JpZ2luX2VjE//8=',
  });
  const credentials = defaultProvider();
  const client = new DynamoDBClient({ endpoint: server.url, credentials });
  let headers: IncomingMessage['headers'] = {};
  server.mood = (request, response) => {
    headers = request.headers;
    fine(request, response);
  };
  try {
    await client.send(new GetItemCommand({ TableName, Key: rawKey }));
    expect(headers['x-amz-security-token']).toBe('IQoJb3JpZ2luX2VjE//8=');
    expect(headers.authorization).toContain('Credential=ASIAEXAMPLE/');
    expect(headers.authorization).toContain('x-amz-security-token');
  } finally {
    process.env = env;
    client.destroy();
    server.close();
  }
});
