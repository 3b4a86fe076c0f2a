import { BatchGetItemCommand, QueryCommand as RawQueryCommand } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
} from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import { followChanges, noteCommandsOf, noteReads } from '../../../infra/local/changes.ts';
import type { RecordLog } from '../../../infra/local/record-log.ts';
import { follow, stopFollowing, TableName, table } from '../../helpers/followed-stream.ts';

const review = {
  pk: 'REVIEW#1',
  sk: 'REVIEW',
  all: 'REVIEW',
  entity: 'e1',
  date: '2026-01-01',
  popularity_rank: 5,
  kind: 'both4',
  user_id: 'u1',
  facet: 'work|en',
  text: 'Good.',
};

const get = (pk: string) => new GetCommand({ TableName, Key: { pk, sk: 'REVIEW' } });
const queryIndex = (IndexName: string, name: string, value: string) =>
  new QueryCommand({
    TableName,
    IndexName,
    KeyConditionExpression: '#scope = :partition',
    ExpressionAttributeNames: { '#scope': name },
    ExpressionAttributeValues: { ':partition': value },
  });
const queryItems = (pk: string) =>
  new QueryCommand({
    TableName,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': 'R', ':to': 'S' },
  });
const batch = (...pks: string[]) =>
  new BatchGetCommand({
    RequestItems: { [TableName]: { Keys: pks.map((pk) => ({ pk, sk: 'REVIEW' })) } },
  });
const rawBatch = (...pks: string[]) =>
  new BatchGetItemCommand({
    RequestItems: {
      [TableName]: { Keys: pks.map((pk) => ({ pk: { S: pk }, sk: { S: 'REVIEW' } })) },
    },
  });
const rawQuery = () =>
  new RawQueryCommand({
    TableName,
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: 'REVIEW#1' } },
  });
const byDate = () => queryIndex('entity-by-date', 'entity', 'e1');
const byPopularity = () => queryIndex('all-by-popularity', 'all', 'REVIEW');

const put = (change: object) => new PutCommand({ TableName, Item: { ...review, ...change } });
const remove = () => new DeleteCommand({ TableName, Key: { pk: review.pk, sk: review.sk } });
const other = () => put({ pk: 'REVIEW#2', all: 'USER', entity: 'e2' });

test.each([
  ['an item that changes', true, () => get('REVIEW#1'), () => put({ text: 'Bad.' })],
  ['an item, and another changes', false, () => get('REVIEW#1'), other],
  ['an item, and one beside it changes', false, () => get('REVIEW#1'), () => put({ sk: 'VOTE#1' })],
  ['an item that is not there yet', true, () => get('REVIEW#2'), other],
  ['items, one of which changes', true, () => batch('REVIEW#3', 'REVIEW#1'), remove],
  ['items, and another changes', false, () => batch('REVIEW#1', 'REVIEW#3'), other],
  ['items as they are sent, one of which changes', true, () => rawBatch('A', 'REVIEW#1'), remove],
  ['items as they are sent, and another changes', false, () => rawBatch('REVIEW#1'), other],
  ['a partition as it is sent, which gets an item', true, rawQuery, () => put({ sk: 'S' })],
  ['a partition that gets an item', true, () => queryItems('REVIEW#1'), () => put({ sk: 'S' })],
  ['a partition, and another changes', false, () => queryItems('REVIEW#1'), other],
  ['an index that gets an entry', true, byDate, () => put({ pk: 'REVIEW#3' })],
  ['an index that loses an entry', true, byDate, remove],
  ['an index from which an entry moves', true, byDate, () => put({ entity: 'e2' })],
  ['an index to which an entry moves', true, byDate, () => put({ pk: 'REVIEW#0' })],
  ['an index whose order changes', true, byDate, () => put({ date: '2026-01-02' })],
  ['an index whose entry changes', true, byDate, () => put({ kind: 'both5' })],
  ['an index whose order stays', false, byDate, () => put({ popularity_rank: 6 })],
  ['an index by another order', true, byPopularity, () => put({ popularity_rank: 6 })],
  ['an index, and a text changes', false, byDate, () => put({ text: 'Bad.' })],
  ['an index, and another partition changes', false, byPopularity, other],
  ['everything', true, () => new ScanCommand({ TableName }), other],
  [
    'by a command that is not known',
    true,
    () => new TransactGetCommand({ TransactItems: [{ Get: get('REVIEW#1').input }] }),
    other,
  ],
  ['by a write', true, () => put({ pk: 'REVIEW#4' }), other],
  ['nothing', false, async () => undefined, other],
])('a run has read %s: %s', async (_, hasChanged, read, write) => {
  const send = async (command: unknown) => {
    if ((command as { input?: object })?.input) await table.send(command as never);
  };
  noteCommandsOf(table);
  await send(put({}));
  await send(put({ pk: 'REVIEW#0', entity: 'e0' }));
  const { changes } = await follow(() => undefined);
  const parts = new Set<string>();
  await noteReads(parts, () => send(read()));
  const before = Number(changes?.newest());
  expect(changes?.haveChanged(parts, before)).toBe(false);
  await send(write());
  expect(changes?.newest()).toBeGreaterThan(before);
  expect(changes?.haveChanged(parts, before)).toBe(hasChanged);
  await stopFollowing();
  expect(changes?.newest()).toBeUndefined();
});

/** Changes that a test tells. */
function told() {
  let notice: (records: DynamoDBRecord[] | undefined) => void = () => {};
  let isLocked = false;
  const log = {
    watch: (watcher: typeof notice) => {
      notice = watcher;
    },
    look() {
      if (isLocked) throw new Error('database is locked');
    },
  };
  const changes = followChanges(log as RecordLog, () => false);
  return {
    changes,
    tell: (...names: string[]) =>
      notice(names.map((pk) => ({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: pk } } } }))),
    tellNothing: () => notice(undefined),
    lock: () => {
      isLocked = true;
    },
  };
}

test('after a change that is unknown, everything counts as changed', () => {
  const { changes, tell, tellNothing } = told();
  tell('a');
  const before = Number(changes.newest());
  tellNothing();
  expect(changes.haveChanged(['item b b'], before)).toBe(true);
  expect(changes.haveChanged(['item b b'], Number(changes.newest()))).toBe(false);
});

test('remembers a bounded number of parts, and beyond it everything counts as changed', () => {
  const { changes, tell } = told();
  const before = Number(changes.newest());
  for (let i = 0; i < 9_000; i++) tell(`a${i}`);
  expect(changes.haveChanged(['item b b'], before)).toBe(false);
  for (let i = 0; i < 2_000; i++) tell(`b${i}`);
  expect(changes.haveChanged(['item c c'], before)).toBe(true);
});

test('nothing is known while the database is locked', () => {
  const { changes, lock } = told();
  expect(changes.newest()).toBe(0);
  lock();
  expect(changes.newest()).toBeUndefined();
});
