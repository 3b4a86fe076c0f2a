import '../../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import {
  InternalServerError,
  ThrottlingException,
  TransactionCanceledException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DynamoDBDocumentClient,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { invalidRequest, notFound } from '../../../../shared/base/errors.ts';
import { batchGet, batchWrite } from '../../../../shared/base/table/batch.ts';
import { table, tableName } from '../../../../shared/base/table/client.ts';
import { retryStale, StaleRead, transact } from '../../../../shared/base/table/transact.ts';
import { claimKey, reviewKey, userKey } from '../../../../shared/core/keys.ts';
import { insertUser } from '../../../../shared/core/user/name-repository.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { readItem, scanTable } from '../../../helpers/items.ts';
import { makeUser, reviewBody, visitor } from '../../../helpers/world.ts';

const $metadata = {};
const key = { pk: 'A', sk: 'A' };
const put = { Put: { Item: key } };
const another = { Put: { Item: { pk: 'B', sk: 'B' } } };
const busy = { status: 429, code: 'too_many_requests', headers: { 'Retry-After': '1' } };

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata,
    message: 'cancelled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

const inProgress = new TransactionInProgressException({ $metadata, message: 'in progress' });
const lost = Object.assign(new Error('lost'), { name: 'TimeoutError', $metadata });

/** Makes waits take no time. */
beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  silence('error');
});

const mock = () => mockClient(DynamoDBDocumentClient);
let client: ReturnType<typeof mock>;

/** Answers in the place of the database in the tests of this block. */
function mockDatabase() {
  beforeEach(() => {
    client = mock();
  });
  afterEach(() => client.restore());
}

describe('transact', () => {
  mockDatabase();
  const sent = () => client.commandCalls(TransactWriteCommand).map((call) => call.args[0].input);

  test.each([
    ['a conflict', cancelled('TransactionConflict')],
    ['a conflict beside writes that were fine', cancelled('None', 'TransactionConflict')],
    ['throttling', cancelled('ThrottlingError')],
    ['too little capacity', cancelled('ProvisionedThroughputExceeded', 'None')],
    ['a mixture of these', cancelled('TransactionConflict', 'ThrottlingError')],
    ['itself still in progress', inProgress],
  ])('retries after %s, with the same token', async (_, error) => {
    client.on(TransactWriteCommand).rejectsOnce(error).rejectsOnce(error).resolves({});
    await transact([put, another]);
    expect(sent()).toHaveLength(3);
    const [first] = sent();
    const written = { Put: { TableName: tableName(), Item: key } };
    expect(first?.TransactItems).toMatchObject([written, {}]);
    expect(new Set(sent().map((input) => input.ClientRequestToken)).size).toBe(1);
    await transact([put, another]);
    expect(new Set(sent().map((input) => input.ClientRequestToken)).size).toBe(2);
  });

  // A client can cause a conflict, and alarms must not count it. Throttling is a failure of ours.
  test.each([
    [cancelled('TransactionConflict'), busy],
    [cancelled('TransactionConflict', 'ThrottlingError'), busy],
    [cancelled('None', 'ThrottlingError'), { name: 'TableBusy' }],
  ])('gives up in the end', async (error, expected) => {
    client.on(TransactWriteCommand).rejects(error);
    await expect(transact([put])).rejects.toMatchObject(expected);
    expect(sent()).toHaveLength(10);
  });

  // A client repeats a 429 as a request that did nothing.
  test('gives up as busy if the last attempt may have written', async () => {
    const conflict = cancelled('TransactionConflict');
    client.on(TransactWriteCommand).rejectsOnce(conflict).rejects(inProgress);
    await expect(transact([put])).rejects.toMatchObject({ name: 'TableBusy' });
  });

  test('gives up after eight seconds, however few its tries: 503', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    client.on(TransactWriteCommand).callsFake(() => {
      // The minimum time of the SDK's own retries.
      now += 3_000;
      throw inProgress;
    });
    await expect(transact([put])).rejects.toMatchObject({ name: 'TableBusy' });
    expect(sent()).toHaveLength(3);
  });

  const one = notFound('Review');
  const other = invalidRequest('other');
  const stale = expect.any(StaleRead);
  const ours = expect.any(TransactionCanceledException);
  const failed = 'ConditionalCheckFailed';
  // The error of each write, the code of each, and the error thrown.
  test.each([
    ['the error of the write that failed', [undefined, one], ['None', failed], one],
    ['the first error of several', [other, one], [failed, failed], other],
    ['the error beside a conflict', [undefined, one], ['TransactionConflict', failed], one],
    ['StaleRead if the write has no error', [undefined, one], [failed, 'None'], stale],
    ['StaleRead if one of several writes has no error', [undefined, one], [failed, failed], stale],
    ['a validation error of ours', [undefined], ['None', 'ValidationError'], ours],
    [
      'our error beside a conflict',
      [undefined],
      ['TransactionConflict', 'ItemCollectionSizeLimitExceeded'],
      ours,
    ],
  ])('throws %s, without a retry', async (_, [first, second], codes, expected) => {
    client.on(TransactWriteCommand).rejects(cancelled(...codes));
    const writes = [
      { ...put, otherwise: first },
      { ...another, otherwise: second },
    ];
    await expect(transact(writes)).rejects.toEqual(expected);
    expect(sent()).toHaveLength(1);
  });

  /** Returns amounts for this many attributes: 287 of them take 4,087 bytes. */
  const amounts = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}t`, 1]));
  /** Returns a condition on this many attributes: 127 of them take 4,076 bytes. */
  const absent = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}t`, undefined]));

  test('sends expressions of up to 4 KB', async () => {
    client.on(TransactWriteCommand).resolves({});
    await transact([{ Update: { Key: key, amounts: amounts(287) } }]);
    await transact([{ ConditionCheck: { Key: key, was: absent(127) } }]);
    expect(sent()).toHaveLength(2);
  });

  test.each([
    ['UpdateExpression', { Update: { Key: key, amounts: amounts(288) } }, 4102],
    ['ConditionExpression', { ConditionCheck: { Key: key, was: absent(128) } }, 4109],
  ])('refuses a longer %s by name, and sends nothing', async (name, write, bytes) => {
    const message = `${name} has ${bytes} bytes, and DynamoDB takes 4096`;
    const refused = { name: 'ExpressionTooLong', message };
    await expect(transact([another, write])).rejects.toMatchObject(refused);
    expect(sent()).toHaveLength(0);
  });

  test('throws any other error without a retry', async () => {
    const error = new Error('broken');
    client.on(TransactWriteCommand).rejects(error);
    await expect(transact([put])).rejects.toBe(error);
    expect(sent()).toHaveLength(1);
  });
});

describe('retryStale', () => {
  test('reads again until the write succeeds', async () => {
    let attempts = 0;
    const result = await retryStale(async () => {
      if (++attempts < 10) throw new StaleRead();
      return attempts;
    });
    expect(result).toBe(10);
  });

  test('starts no retry after four seconds: 429', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const stale = jest.fn(async () => {
      now += 1_500;
      throw new StaleRead();
    });
    await expect(retryStale(stale)).rejects.toMatchObject(busy);
    expect(stale).toHaveBeenCalledTimes(3);
  });

  test('throws any other error without a retry', async () => {
    const fail = jest.fn(async () => Promise.reject(otherError));
    const otherError = notFound('Review');
    await expect(retryStale(fail)).rejects.toBe(otherError);
    expect(fail).toHaveBeenCalledTimes(1);
  });
});

test('an addition creates the item and its attributes', async () => {
  const counter = { pk: 'COUNTER', sk: 'COUNTER' };
  const amounts = { 'event|en|both': 2, count: -1, rank: 10n ** 29n };
  await transact([{ Update: { Key: counter, amounts } }]);
  await transact([{ Update: { Key: counter, amounts } }]);
  const doubled = { 'event|en|both': 4, count: -2, rank: 2n * 10n ** 29n };
  expect(await readItem(counter)).toEqual({ ...counter, ...doubled });
});

test('an owner begins at the version of its time in ms, above those of an erased one', async () => {
  stopClock(Date.parse('2026-10-10T00:00:00.000Z'));
  const owner = { pk: 'ENTITY#new', sk: 'ENTITY' };
  const counted = { Update: { Key: owner, amounts: { review_count: 1 }, isOwner: true as const } };
  await transact([counted]);
  expect(await readItem(owner)).toEqual({ ...owner, review_count: 1, version: 1791590400001 });
  await transact([counted]);
  expect(await readItem(owner)).toEqual({ ...owner, review_count: 2, version: 1791590400002 });
});

describe('a transaction with the real client', () => {
  let sent = 0;

  /** Calls `fault` for every attempt to send a transaction, numbered from 1. */
  function inject(fault: (attempt: number, send: () => Promise<unknown>) => Promise<unknown>) {
    sent = 0;
    const { requestHandler } = table.config;
    const handle = requestHandler.handle.bind(requestHandler);
    return jest.spyOn(requestHandler, 'handle').mockImplementation((request, options) => {
      const send = () => handle(request, options);
      const isTransaction = request.headers['x-amz-target']?.endsWith('.TransactWriteItems');
      return (isTransaction ? fault(++sent, send) : send()) as ReturnType<typeof handle>;
    });
  }

  async function loseFirst(attempt: number, send: () => Promise<unknown>) {
    const answer = await send();
    if (attempt > 1) return answer;
    throw lost;
  }

  test('whose response is lost after the commit is retried without a duplicate', async () => {
    const author = await makeUser();
    const voter = await makeUser();
    // The first review of a type and language registers its facet in a transaction of its own.
    await author.publishes();
    const injected = inject(loseFirst);
    const body = reviewBody();
    const created = await author.triesToPublish(body);
    expect(created).toHaveStatus(200);
    expect(sent).toBe(2);

    injected.mockRestore();
    inject(loseFirst);
    const review_id = created.body.id;
    const voted = await voter.triesToVote(review_id, { vote: true });
    expect(voted).toHaveStatus(200);
    expect(sent).toBe(2);
    const counted = { votes_positive: 1, version: 2 };
    expect(await readItem(reviewKey(review_id))).toMatchObject(counted);
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 1 });
  });

  test('that makes an account and loses its response makes one, and says so', async () => {
    inject(loseFirst);
    const display_name = randomUUID();
    const made = await insertUser({ display_name, email: null, musicdb_username: null });
    expect(sent).toBe(2);
    const stored = (await scanTable()).filter((item) => item.display_name === display_name);
    expect(stored.map(({ id }) => id)).toEqual([made.id]);
  });

  test('without a response in time is given up despite SDK retries left: 503', async () => {
    const author = await makeUser();
    const time = new AbortController();
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
    inject((attempt, send) => {
      if (attempt > 1) return send();
      time.abort();
      return Promise.reject(lost);
    });
    const body = reviewBody();
    const answer = await author.triesToPublish(body);
    expect(answer).toHaveStatus(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(await readItem(claimKey(author.id, `${body.entity_id}`))).toBeUndefined();
    const [milliseconds] = timeout.mock.lastCall ?? [];
    expect(milliseconds).toBeGreaterThan(7_000);
    expect(milliseconds).toBeLessThanOrEqual(8_000);
  });
});

describe('batchGet and batchWrite', () => {
  const names = Array.from({ length: 60 }, (_, i) => ({ pk: `BATCH#${i}`, sk: 'BATCH' }));

  test('write and read any number', async () => {
    await batchWrite(names.map((item, i) => ({ put: { ...item, i } })));
    const items = await batchGet([...names, { pk: 'BATCH#x', sk: 'BATCH' }], { consistent: true });
    const read = [...items.values()].map(({ i }) => Number(i));
    expect(read.toSorted((a, b) => a - b)).toEqual(names.map((_, i) => i));
    await batchWrite(names.map((item) => ({ delete: item })));
    expect((await batchGet(names)).size).toBe(0);
    expect((await batchGet([])).size).toBe(0);
    await batchWrite([]);
  });

  describe('with unprocessed items', () => {
    mockDatabase();
    const inTable = <Content>(content: Content) => ({ [tableName()]: content });

    test('try them again', async () => {
      const left = names.slice(0, 2);
      client
        .on(BatchGetCommand)
        .resolvesOnce({
          Responses: inTable([{ ...names[2] }]),
          UnprocessedKeys: inTable({ Keys: left }),
        })
        .resolvesOnce({ UnprocessedKeys: inTable({ Keys: left.slice(1) }) })
        .resolves({ Responses: inTable([{ ...names[1] }]) });
      const items = await batchGet(names.slice(0, 3), { consistent: true });
      expect([...items.values()]).toEqual([names[2], names[1]]);
      const reads = client.commandCalls(BatchGetCommand).map(({ args }) => args[0].input);
      expect(reads.map(({ RequestItems }) => RequestItems)).toEqual([
        inTable({ Keys: names.slice(0, 3), ConsistentRead: true }),
        inTable({ Keys: left, ConsistentRead: true }),
        inTable({ Keys: left.slice(1), ConsistentRead: true }),
      ]);

      const unprocessed = [{ DeleteRequest: { Key: names[0] } }];
      client
        .on(BatchWriteCommand)
        .resolvesOnce({ UnprocessedItems: inTable(unprocessed) })
        .resolves({});
      await batchWrite(left.map((item) => ({ delete: item })));
      const writes = client.commandCalls(BatchWriteCommand).map(({ args }) => args[0].input);
      expect(writes.map(({ RequestItems }) => RequestItems)).toEqual([
        inTable([...unprocessed, { DeleteRequest: { Key: names[1] } }]),
        inTable(unprocessed),
      ]);
    });

    test('give up in the end: 503', async () => {
      client.on(BatchGetCommand).resolves({ UnprocessedKeys: inTable({ Keys: [key] }) });
      await expect(batchGet([key])).rejects.toMatchObject({ name: 'TableBusy' });
      const requests = [{ PutRequest: { Item: key } }];
      client.on(BatchWriteCommand).resolves({ UnprocessedItems: inTable(requests) });
      await expect(batchWrite([{ put: key }])).rejects.toMatchObject({ name: 'TableBusy' });
    });
  });
});

describe('a request with a failing database', () => {
  const secret = `secret-${randomUUID()}`;
  const secretly = () => new Error(secret);
  const refused = Object.assign(new AggregateError([], secret), { code: 'ECONNREFUSED' });
  test.each([
    ['is throttled', new ThrottlingException({ $metadata, message: secret }), 503],
    ['has an internal error', new InternalServerError({ $metadata, message: secret }), 503],
    ['is not available', Object.assign(secretly(), { name: 'ServiceUnavailable', $metadata }), 503],
    ['closes the connection', Object.assign(new Error(secret), { code: 'EPIPE' }), 503],
    ['does not answer', Object.assign(new Error(secret), { name: 'TimeoutError' }), 503],
    ['cannot be reached', Object.assign(new Error(secret), { code: 'ECONNREFUSED' }), 503],
    ['cannot be found', refused, 503],
    ['has no such table', Object.assign(new Error(secret), { $metadata }), 500],
    ['causes a TypeError', new TypeError(secret), 500],
    ['throws a value that is no error', secret, 500],
  ])('%s: explains it in the log only', async (_, error, expected) => {
    const send = jest.spyOn(DynamoDBDocumentClient.prototype, 'send');
    send.mockImplementation(() => Promise.reject(error));
    const { status, body, headers } = await visitor.reads(randomUUID());
    expect(status).toBe(expected);
    expect(body).toEqual({
      error: expected === 503 ? 'service_unavailable' : 'server_error',
      description: expect.any(String),
      request_id: expect.stringMatching(/^[\da-f-]{36}$/),
    });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['retry-after']).toBe(expected === 503 ? '1' : undefined);
    expect(JSON.stringify([body, headers])).not.toContain(secret);
    const log = jest.mocked(console.error).mock.calls;
    expect(log).toHaveLength(1);
    // An object, because Lambda makes its fields searchable. A JSON text would be one field.
    expect(log[0]?.[0]).toMatchObject({
      message: 'Request failed',
      requestId: body.request_id,
      error: { name: expect.any(String) },
    });
  });
});
