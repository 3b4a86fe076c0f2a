import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { table } from '../../../../shared/base/table/client.ts';

// Without helpers/table.ts, whose client signs nothing.

/** Names of the middlewares of a client, in their order. */
function namesIn({ middlewareStack }: { middlewareStack: { identify(): string[] } }) {
  return middlewareStack.identify().map((name) => name.split(' ')[0]);
}

test('the client is the SDK without two middlewares, for logging and the user agent', () => {
  const ours = namesIn(table);
  const theirs = namesIn(new DynamoDBClient({}));
  expect(theirs.filter((name) => !ours.includes(name))).toEqual([
    expect.stringMatching(/^loggerMiddleware/),
    expect.stringMatching(/^getUserAgentMiddleware/),
  ]);
  expect(ours.filter((name) => !theirs.includes(name))).toEqual([
    'countUnits',
    'nameCaller',
    'countBytes',
  ]);
});
