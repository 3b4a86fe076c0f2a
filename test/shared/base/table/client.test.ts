import '../../../helpers/engine.ts';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { table, tableName } from '../../../../shared/base/table/client.ts';
import '../../../helpers/table.ts';

const TableName = tableName();
const Key = { pk: 'CLIENT#1', sk: 'CLIENT' };

describe('a value', () => {
  test.each([
    ['text', 'Größe 🎧 "quoted" \n \u2028'],
    ['an empty text', ''],
    ['a number', -7],
    ['a fraction', 0.25],
    ['the largest safe number', Number.MAX_SAFE_INTEGER],
    ['a rank', 12345678901234567890123456789012345678n],
    ['a negative rank', -9007199254740993n],
    ['yes and no', [true, false]],
    ['null', null],
    ['a list in a list', ['a', 1, null, [true]]],
    ['an object with the names of requests', { Item: { Key: 'x' }, Items: ['y'], Responses: {} }],
  ])('%s is stored and read unchanged, without undefined values', async (_, value) => {
    const Item = { ...Key, value, object: { value, without: undefined }, without: undefined };
    const stored = { ...Key, value, object: { value } };
    await table.send(new PutCommand({ TableName, Item }));
    expect((await table.send(new GetCommand({ TableName, Key }))).Item).toStrictEqual(stored);
    const KeyConditionExpression = 'pk = :pk';
    const ExpressionAttributeValues = { ':pk': Key.pk, ':unused': undefined };
    const query = { TableName, KeyConditionExpression, ExpressionAttributeValues };
    expect((await table.send(new QueryCommand(query))).Items).toStrictEqual([stored]);
  });
});

describe('the client', () => {
  test('names the service to DynamoDB', async () => {
    const names: unknown[] = [];
    const spy = { name: 'spy', step: 'finalizeRequest', priority: 'low' } as const;
    table.middlewareStack.add(
      (next) => (args) => {
        names.push((args.request as { headers: object }).headers);
        return next(args);
      },
      spy,
    );
    await table.send(new GetCommand({ TableName, Key }));
    table.middlewareStack.remove('spy');
    expect(names).toEqual([expect.objectContaining({ 'user-agent': 'review-service' })]);
  });

  test('gives up a connection after one second, and a request after two', async () => {
    await table.send(new GetCommand({ TableName, Key }));
    const handler = table.config.requestHandler as { httpHandlerConfigs(): object };
    expect(handler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: 1_000,
      requestTimeout: 2_000,
      throwOnRequestTimeout: true,
    });
  });
});
