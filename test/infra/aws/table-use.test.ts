import { actionsIn, indexesIn } from '../../../infra/aws/table-use.ts';

test('a command needs its action, also when a bundler renamed it', () => {
  const code = 'table.send(new GetCommand2({ Key })); table.send(new BatchWriteCommand({}))';
  expect(actionsIn(code)).toEqual(['BatchWriteItem', 'GetItem']);
  expect(actionsIn('rawTable.send(new BatchGetItemCommand({}))')).toEqual(['BatchGetItem']);
});

test('a transaction needs the actions of its members', () => {
  const code = 'new TransactWriteCommand({}); ({ ConditionCheck: { Key } }, { Update: add(Key) })';
  expect(actionsIn(code)).toEqual(['ConditionCheckItem', 'UpdateItem']);
  const others = '[{ Put }, { Update, otherwise }, { /* why */ Delete: { Key } }]';
  const needed = ['DeleteItem', 'PutItem', 'UpdateItem'];
  expect(actionsIn(`new TransactWriteCommand({}); ${others}`)).toEqual(needed);
  expect(actionsIn('({ Update: add(Key) })')).toEqual([]);
});

test('a query needs the table or the index that it reads', () => {
  const definitions = 'async function* queryItems(prefix) {} async function* queryIndex(index) {}';
  expect(actionsIn(definitions)).toEqual([]);
  expect(indexesIn(definitions)).toEqual([]);
  expect(actionsIn(`${definitions} collect(queryItems(prefix))`)).toEqual(['Query']);
  expect(actionsIn('async function countItems(prefix) {} countItems2(prefix)')).toEqual(['Query']);
  const ofIndex = `${definitions} queryIndex("all-by-date", "VOTES")`;
  expect(actionsIn(ofIndex)).toEqual([]);
  expect(indexesIn(ofIndex)).toEqual(['all-by-date']);
  expect(indexesIn(`queryIndex2(\`\${scope}-by-date\`, value)`).toSorted()).toEqual([
    'all-by-date',
    'author-by-date',
    'entity-by-date',
    'facet-by-date',
    'type-by-date',
  ]);
  expect(() => indexesIn('queryIndex(index, value)')).toThrow('the name of an index');
});

test('scans are refused', () => {
  for (const code of ['new ScanCommand({})', 'paginateScan({}, {})']) {
    expect(() => actionsIn(code)).toThrow('No function may send the command Scan');
  }
});
