import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { table } from '../../../shared/table/client.ts';

// Without helpers/table.ts, whose client signs nothing.

test('the client is the SDK without two middlewares, for logging and the user agent', () => {
  const [ours, theirs] = [table, new DynamoDBClient({})].map(({ middlewareStack }) =>
    middlewareStack.identify().map((name) => name.split(' ')[0]),
  );
  expect(theirs?.filter((name) => !ours?.includes(name))).toEqual([
    expect.stringMatching(/^loggerMiddleware/),
    expect.stringMatching(/^getUserAgentMiddleware/),
  ]);
  expect(ours?.filter((name) => !theirs?.includes(name))).toEqual([
    'countUnits',
    'refuseInstances',
    'nameCaller',
    'countBytes',
  ]);
});
