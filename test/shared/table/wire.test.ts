import { Readable } from 'node:stream';
import {
  DynamoDBClient,
  GetItemCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { table, tableName } from '../../../shared/table/client.ts';

const Key = { pk: 'WIRE#1', sk: 'WIRE' };
const values = {
  text: 'Größe 🎧 "quoted" \n \u2028',
  empty: '',
  zero: 0,
  negative: -7,
  fraction: 0.25,
  safe: Number.MAX_SAFE_INTEGER,
  rank: 12345678901234567890123456789012345678n,
  low: -9007199254740993n,
  yes: true,
  no: false,
  nothing: null,
  list: ['a', 1, null, [true]],
  // Names that stand for items in requests and answers.
  map: { Item: { Key: 'x' }, Items: ['y'], Keys: 1, Responses: {} },
};
const TableName = tableName();

describe('what is put into the table', () => {
  test('comes back as it was, by every command that reads', async () => {
    const Item = { ...Key, ...values };
    await table.send(new PutCommand({ TableName, Item: { ...Item, left_out: undefined } }));

    expect((await table.send(new GetCommand({ TableName, Key }))).Item).toEqual(Item);
    const RequestItems = { [TableName]: { Keys: [Key] } };
    const batch = await table.send(new BatchGetCommand({ RequestItems }));
    expect(batch.Responses).toEqual({ [TableName]: [Item] });
    const KeyConditionExpression = 'pk = :pk';
    const ExpressionAttributeValues = { ':pk': Key.pk, ':unused': undefined };
    const query = { TableName, KeyConditionExpression, ExpressionAttributeValues, Limit: 1 };
    const page = await table.send(new QueryCommand(query));
    expect([page.Items, page.LastEvaluatedKey]).toEqual([[Item], Key]);
    const next = await table.send(new QueryCommand({ ...query, ExclusiveStartKey: Key }));
    expect(next.Items).toEqual([]);
    const scan = { TableName, FilterExpression: KeyConditionExpression, ExpressionAttributeValues };
    expect((await table.send(new ScanCommand(scan))).Items).toEqual([Item]);
    const update = { UpdateExpression: 'SET zero = zero + :one', ReturnValues: 'ALL_NEW' } as const;
    const { Attributes, $metadata } = await table.send(
      new UpdateCommand({ TableName, Key, ...update, ExpressionAttributeValues: { ':one': 1 } }),
    );
    expect([Attributes, $metadata.httpStatusCode]).toEqual([{ ...Item, zero: 1 }, 200]);
  });

  test('lies there as the SDK would write it', async () => {
    await table.send(new PutCommand({ TableName, Item: { ...Key, ...values } }));
    const raw = new DynamoDBClient({});
    const { Item } = await raw.send(
      new GetItemCommand({ TableName, Key: { pk: { S: Key.pk }, sk: { S: Key.sk } } }),
    );
    raw.destroy();
    expect(Item).toMatchObject({
      text: { S: values.text },
      zero: { N: '0' },
      rank: { N: '12345678901234567890123456789012345678' },
      no: { BOOL: false },
      nothing: { NULL: true },
      list: { L: [{ S: 'a' }, { N: '1' }, { NULL: true }, { L: [{ BOOL: true }] }] },
    });
    expect(Item?.map?.M?.Item).toEqual({ M: { Key: { S: 'x' } } });
  });

  test.each([[Number.NaN], [() => 1], [Symbol('x')]])('cannot be %p', async (value) => {
    const put = table.send(new PutCommand({ TableName, Item: { ...Key, value } }));
    await expect(put).rejects.toThrow('the table takes no');
  });
});

describe('a read', () => {
  const name = 'seen';
  let bySdk = 0;
  afterEach(() => {
    table.middlewareStack.remove(name);
    jest.restoreAllMocks();
  });

  /** Answers the first request with this, or breaks it off; gives how many were sent. */
  function failFirst(fail: () => { statusCode: number; headers: object; body: Readable }) {
    bySdk = 0;
    table.middlewareStack.add(
      (next) => (args) => {
        bySdk += 1;
        return next(args);
      },
      { name, step: 'finalizeRequest' },
    );
    const { requestHandler } = table.config;
    const handle = requestHandler.handle.bind(requestHandler);
    return jest
      .spyOn(requestHandler, 'handle')
      .mockImplementation(handle)
      .mockImplementationOnce(async () => ({ response: fail() }) as never);
  }

  function answer(statusCode: number, type: string) {
    const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}` });
    return () => ({ statusCode, headers: {}, body: Readable.from([Buffer.from(body)]) });
  }

  const get = () => table.send(new GetCommand({ TableName, Key }));
  const write = () => table.send(new PutCommand({ TableName, Item: { ...Key, ...values } }));

  test('that goes well goes past the SDK', async () => {
    await write();
    failFirst(() => ({
      statusCode: 200,
      headers: {},
      body: Readable.from([Buffer.from('{"Item":{"pk":{"S":"x"}}}')]),
    }));
    expect((await get()).Item).toEqual({ pk: 'x' });
    expect((await get()).Item).toEqual({ ...Key, ...values });
    expect(bySdk).toBe(0);
  });

  test.each([
    ['is throttled', answer(400, 'ThrottlingException')],
    ['meets a failure', answer(500, 'InternalServerError')],
    [
      'is broken off',
      () => ({
        statusCode: 200,
        headers: {},
        body: new Readable({
          read() {
            this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
          },
        }),
      }),
    ],
  ])('that %s is sent again by the SDK', async (_, fail) => {
    await write();
    const handle = failFirst(fail);
    expect((await get()).Item).toEqual({ ...Key, ...values });
    // The failure is its first attempt.
    expect([handle.mock.calls.length, bySdk]).toEqual([2, 2]);
  });

  test('that is refused is refused as by the SDK, and not sent again', async () => {
    await write();
    const handle = failFirst(answer(400, 'ResourceNotFoundException'));
    await expect(get()).rejects.toThrow(ResourceNotFoundException);
    expect(handle).toHaveBeenCalledTimes(1);
  });
});
