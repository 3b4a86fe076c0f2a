import { expect, test } from '@jest/globals';
import { actionsIn, indexesIn } from '../../../infra/aws/table-use.ts';

test('a command needs its action, also under the name that a bundler gives it', () => {
  const code = 'table.send(new GetCommand2({ Key })); table.send(new BatchWriteCommand({}))';
  expect(actionsIn(code)).toEqual(['BatchWriteItem', 'GetItem']);
});

test('a transaction needs the actions of its parts', () => {
  const code = 'new TransactWriteCommand({}); ({ ConditionCheck: { Key } }, { Update: add(Key) })';
  expect(actionsIn(code)).toEqual(['ConditionCheckItem', 'UpdateItem']);
  expect(actionsIn('({ Update: add(Key) })')).toEqual([]);
});

test('a query needs the table or the index that it is of', () => {
  const ofTable = 'paginateQuery3({}, { TableName, KeyConditionExpression: "pk = :pk" })';
  expect([actionsIn(ofTable), indexesIn(ofTable)]).toEqual([['Query'], []]);
  const ofIndex =
    'new QueryCommand({ IndexName: "all-by-date",\n KeyConditionExpression: "#all = :all" })';
  expect([actionsIn(ofIndex), indexesIn(ofIndex)]).toEqual([[], ['all-by-date']]);
  const ofSome = `new QueryCommand({ IndexName: \`\${scope}-by-date\`, KeyConditionExpression: x })`;
  expect(indexesIn(ofSome).toSorted()).toEqual([
    'all-by-date',
    'author-by-date',
    'entity-by-date',
    'facet-by-date',
  ]);
});

test('nothing may scan', () => {
  for (const code of ['new ScanCommand({})', 'paginateScan({}, {})']) {
    expect(() => actionsIn(code)).toThrow('No function has a right to Scan');
  }
});
