import '../../../helpers/engine.ts';
import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { addIndexes, createTable } from '../../../../infra/local/storage/table.ts';
import { batchWrite } from '../../../../shared/base/table/batch.ts';
import { table, tableName } from '../../../../shared/base/table/client.ts';
import type { Key } from '../../../../shared/base/table/item.ts';
import { rebuildKeys } from '../../../../shared/core/keys.ts';
import { appeal } from '../../../../shared/core/report/decision-repository.ts';
import { upgradeTable } from '../../../../shared/features/transfer/upgrade.ts';
import { silence } from '../../../helpers/console.ts';
import { scanTable } from '../../../helpers/items.ts';
import { ask } from '../../../helpers/list-changes.ts';
import { aggregateDifferences, differences } from '../../../helpers/recount.ts';
import { applyStream, readStream } from '../../../helpers/stream.ts';
import { makeUsers, type Person, visitor } from '../../../helpers/world.ts';

// A table as version 1.0.0 has written it: without index entries by type, with counts of authors
// and entities by type, language and content together.

const endpoint = () => `${process.env.AWS_ENDPOINT_URL_DYNAMODB}`;
const indexes = ['type-by-date', 'type-by-popularity'] as const;
let people: [Person, Person, Person];
let entity_id: string;

beforeAll(async () => {
  people = await makeUsers(3);
  const [ann, bob, eve] = people;
  const id = await ann.publishes({ entity_type: 'work', language: 'de' });
  await bob.votes(id);
  await eve.publishes({ rating: null, text: `A long one. ${'\u{1F3B5}'.repeat(4_000)}` });
  const { body } = await visitor.reads(id);
  entity_id = body.review.entity_id;
  await bob.publishes({ entity_id, entity_type: 'work', text: null, rating: 2 });
  await ann.publishes({ is_draft: true });
  const hidden = await ann.publishesHidden();
  await appeal(hidden, ann.id, 'Why?');
  await applyStream();
  await makeOld();
});

/** Makes the items what older code has written, as literals, for what this test has published. */
async function makeOld() {
  const items = await scanTable();
  const counts = {
    [`USER#${people[0].id}`]: { 'work|de|both4': 1 },
    [`USER#${people[1].id}`]: { 'work|en|rating2': 1 },
    [`USER#${people[2].id}`]: { 'release_group|en|text': 1, 'release_group|en|both4': 0 },
    [`ENTITY#${entity_id}`]: {
      'work|de|both4': 1,
      'work|en|rating2': 1,
      review_count: 2,
      rating_sum: 6,
      rating_count: 2,
    },
  };
  await batchWrite(
    items.flatMap(({ pk, sk, ...item }): ({ put: object } | { delete: Key })[] => {
      const isDerived = sk === 'COUNTS' || pk.startsWith('TREE#') || sk.startsWith('TOTAL#');
      if (isDerived) return [{ delete: { pk, sk } }];
      if (sk === 'REVIEW') {
        const { type: _, kind, ...rest } = item;
        const old = kind === undefined ? {} : { kind: `${kind}`.split('/')[0] };
        return [{ put: { pk, sk, ...rest, ...old } }];
      }
      // All open cases were in one partition.
      if (sk === 'CASE') return [{ put: { pk, sk, ...item, all: 'CASE' } }];
      if (sk === 'USER') return [{ put: { pk, sk, ...item, ...counts[pk] } }];
      if (sk !== 'ENTITY') return [];
      return [{ put: { pk, sk, version: item.version, ...counts[pk] } }];
    }),
  );
  for (const IndexName of indexes) {
    const GlobalSecondaryIndexUpdates = [{ Delete: { IndexName } }];
    await table.send(
      new UpdateTableCommand({ TableName: tableName(), GlobalSecondaryIndexUpdates }),
    );
  }
}

async function indexNames() {
  const { Table } = await table.send(new DescribeTableCommand({ TableName: tableName() }));
  return (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName = '' }) => IndexName);
}

describe('a table of version 1.0.0', () => {
  test('is taken as it is, with what it lacks', async () => {
    const { missing } = await createTable(endpoint(), tableName());
    expect(missing).toEqual(indexes);
    expect(await indexNames()).toHaveLength(8);
  });

  test('is upgraded, and its reviews keep their versions, so that no mirror reads them again', async () => {
    const versions = async () =>
      (await scanTable()).flatMap(({ pk, sk, version }) =>
        sk === 'REVIEW' ? [[pk, version]] : [],
      );
    const before = await versions();
    await readStream();
    await upgradeTable();
    // The lock of an upgrade that was killed, for another second.
    const until = Math.floor(Date.now() / 1000) + 1;
    await batchWrite(rebuildKeys.map((key) => ({ put: { ...key, id: 'killed', until } })));
    const error = silence('error');
    await upgradeTable();
    expect(error.mock.calls).toEqual([[expect.stringContaining('Another rebuild')]]);
    error.mockRestore();
    expect(await versions()).toEqual(before);
    const { body } = await ask();
    await applyStream();
    expect((await ask({ since: body.next })).body.changes).toEqual([]);
    await addIndexes(endpoint(), tableName(), indexes);
    expect(await indexNames()).toEqual(expect.arrayContaining([...indexes]));
    expect(await createTable(endpoint(), tableName())).toMatchObject({ missing: [] });
    expect(await differences()).toEqual([]);
    expect(await aggregateDifferences()).toEqual([]);
    const names = (await scanTable()).flatMap((item) => Object.keys(item));
    expect(names.filter((name) => name.includes('|') || name === 'rating_sum')).toEqual([]);
  });

  test('then lists by type, and counts as before', async () => {
    const works = await visitor.lists({ entity_type: 'work', language: 'de' });
    expect(works.body).toMatchObject({ count: 1, reviews: [{ user: { id: people[0].id } }] });
    expect((await visitor.lists({ entity_type: 'work' })).body.count).toBe(2);
    expect((await visitor.lists({ entity_id })).body).toMatchObject({
      count: 2,
      average_rating: { rating: 3, count: 2 },
    });
    expect((await people[0].listsOwnReviews()).body.count).toBe(3);
  });
});
