import type { TableUse } from '../../../infra/aws/table-access.ts';
import { tableRights } from '../../../infra/aws/table-rights.ts';
import { kinds } from '../../../shared/features/kinds.ts';
import { isLike } from '../../helpers/aws/roles.ts';

const arn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/reviews';

const id = '3a2b1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d';

/** A partition of each form of the table, and of each form of its indexes. */
const partitions = sortedSet(
  Object.values(kinds).map(({ key }) => key.form.pk.replace(/#.*<.*/, `#${id}`)),
);
const lists = sortedSet(
  Object.values(kinds)
    .flatMap(({ all, type, facet, entity, author }) => [all, type, facet, entity, author].flat())
    .map((list) => `${list ?? 'REVIEW'}`)
    .map((list) => list.replace('<entity_type>', 'work').replace('<language>', 'en'))
    .map((list) => list.replace(/<.*>/, id)),
);

function sortedSet(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted();
}

/** Returns the rights of a function, as its policy has them. */
const rightsOf = (use: TableUse) =>
  tableRights(arn, use).map((statement) => statement.toStatementJson());

/** Returns the partitions that an action reaches, of the table or of an index. */
function reached(use: TableUse, action: string, index?: 'index'): string[] {
  const resource = index === undefined ? arn : `${arn}/index/*`;
  const own = rightsOf(use).filter(
    ({ Action, Resource, Condition }) =>
      [Action].flat().includes(`dynamodb:${action}`) &&
      [Resource].flat().includes(resource) &&
      Condition?.['ForAllValues:StringEquals'] === undefined,
  );
  const patterns = own.flatMap(
    ({ Condition }) => Condition?.['ForAllValues:StringLike']['dynamodb:LeadingKeys'] ?? ['*'],
  );
  const all = index === undefined ? partitions : lists;
  return all.filter((each) => patterns.some((pattern) => isLike(each, pattern)));
}

const reading = ['GetItem', 'BatchGetItem', 'ConditionCheckItem'];
const writing = ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'];
const withId = (...names: string[]) => names.map((name) => `${name}#${id}`);

/** Reports, posts of new authors, appeals, corrections and new names. */
const queue = ['CASE', 'CASE#held', 'CASE#appeal', 'PROPOSAL', 'NAMING'];

describe('the rights to the table', () => {
  test.each(['none', 'public', 'read', 'write', 'health', 'webhooks', 'notices'] as const)(
    '%s has no other actions',
    (table) => {
      const all = rightsOf({ table, asks: true });
      const actions = all.flatMap(({ Action }) => [Action].flat());
      const known = [...reading, ...writing, 'Query'].map((name) => `dynamodb:${name}`);
      expect(actions.filter((action) => !known.includes(action))).toEqual([]);
    },
  );

  test('none: nothing', () => {
    expect(rightsOf({ table: 'none' })).toEqual([]);
  });

  test.each(['read', 'write'] as const)('%s: everything is read and listed', (table) => {
    for (const action of reading) expect(reached({ table }, action)).toEqual(partitions);
    expect(reached({ table }, 'Query')).toEqual(partitions);
    expect(reached({ table }, 'Query', 'index')).toEqual(lists);
    const written = table === 'write' ? partitions : [];
    for (const action of writing) expect(reached({ table }, action)).toEqual(written);
  });

  test.each([
    ['votes', withId('REVIEW', 'USER'), [], []],
    ['reports', withId('IDEMPOTENCY', 'REVIEW', 'USER'), [], []],
    [
      'reviews',
      withId('DECISION', 'ENTITY', 'IDEMPOTENCY', 'METADATA', 'NAME', 'REVIEW', 'USER'),
      withId('WORD'),
      [id, `UNLISTED#${id}`],
    ],
    ['profile', withId('ADDRESS', 'CONTACT', 'NAME', 'USER'), [], []],
    ['grants', withId('APP', 'CODE', 'REQUEST', 'USER'), withId('USER'), withId('CLIENT')],
    ['counters', ['HEALTH', ...withId('USER')], [], ['VOTES']],
    [
      'hooks',
      ['CHANGES', 'WEBHOOK', ...withId('CHANGES', 'USER')],
      ['CHANGES', ...withId('CHANGES'), 'WEBHOOK'],
      [],
    ],
  ] as const)(
    'write within %s: these partitions, and no other',
    (within, open, queried, listed) => {
      const use = { table: 'write', within } as const;
      for (const action of [...reading, ...writing]) {
        expect([action, reached(use, action)]).toEqual([action, open.toSorted()]);
      }
      expect(reached(use, 'Query')).toEqual(queried);
      expect(reached(use, 'Query', 'index')).toEqual(listed);
    },
  );

  describe.each([undefined, true] as const)('public, asking: %s', (asks) => {
    const use = { table: 'public', asks } as const;

    test('reads public items one by one, and no private partition', () => {
      const open = withId('ENTITY', 'METADATA', 'REVIEW', 'TREE', 'USER');
      const own = ['IMPORT', 'TOTALS', 'WEBHOOK#RUN'];
      for (const action of reading) {
        expect(reached(use, action)).toEqual([...open, ...own].toSorted());
      }
    });
    test('lists no partition with grants, which are those of users', () => {
      const open = [
        'TOTALS',
        'CHANGES',
        'HEALTH',
        ...withId('REVIEW', 'CHANGES', 'WORD', 'THINGS'),
      ];
      expect(reached(use, 'Query')).toEqual(open.toSorted());
    });
    test('lists public reviews and users of an index, and nothing about a person', () => {
      const open = ['REVIEW', 'USER', 'work', 'work|en', `DUE#${id}`, id];
      expect(reached(use, 'Query', 'index').toSorted()).toEqual(open.toSorted());
    });
    test('writes what databases answer, if it asks them', () => {
      for (const action of writing) {
        expect(reached(use, action)).toEqual(asks ? withId('METADATA') : []);
      }
    });
  });

  test.each([{ table: 'public' }, { table: 'write', within: 'votes' }] as const)(
    'pages with sessions count what waits for moderators: %j',
    (use) => {
      const listed = (more: Partial<TableUse>) =>
        reached({ ...use, ...more }, 'Query', 'index').filter((each) => queue.includes(each));
      expect(listed({})).toEqual([]);
      expect(listed({ secrets: ['SIGNING_KEYS'] })).toEqual([]);
      expect(listed({ secrets: ['SESSION_KEYS'] })).toEqual(queue.toSorted());
    },
  );

  test('own types have lists', () => {
    const rights = (types: string[]) =>
      JSON.stringify(tableRights(arn, { table: 'public' }, types));
    expect(rights(['film'])).toContain('"film"');
    expect(rights([])).not.toContain('"film"');
  });

  test('health: writes its own partition, and lists what waits for moderators', () => {
    const use = { table: 'health' } as const;
    for (const action of [...reading, 'Query']) expect(reached(use, action)).toEqual([]);
    for (const action of writing) expect(reached(use, action)).toEqual(['HEALTH']);
    expect(reached(use, 'Query', 'index')).toEqual(queue.toSorted());
  });

  test('webhooks: writes its partitions, and reads what it tells', () => {
    const use = { table: 'webhooks' } as const;
    const own = ['WEBHOOK', 'WEBHOOK#RUN'];
    // Applications tell who may still send, and the log's ends where to begin.
    const told = withId('REVIEW', 'USER', 'APP', 'CHANGES', 'METADATA');
    for (const action of reading)
      expect(reached(use, action)).toEqual([...told, ...own].toSorted());
    for (const action of writing) expect(reached(use, action)).toEqual(own);
    expect(reached(use, 'Query')).toEqual(['CHANGES', `CHANGES#${id}`, 'WEBHOOK']);
    expect(reached(use, 'Query', 'index')).toEqual(['WEBHOOK']);
    // Owners are told of webhooks that were turned off, and nothing else of them is written.
    expect(rightsOf(use).filter(({ Condition }) => Condition?.StringEqualsIfExists)).toMatchObject([
      {
        Action: 'dynamodb:UpdateItem',
        Resource: arn,
        Condition: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['USER#*'] },
          'ForAllValues:StringEquals': {
            'dynamodb:Attributes': ['pk', 'sk', 'deleted_at', 'news_webhook'],
          },
          StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
        },
      },
    ]);
  });

  test('notices: writes what was mailed, and lists who is to be told', () => {
    const use = { table: 'notices' } as const;
    const own = ['NOTICE', ...withId('CONTACT', 'MAILED')];
    for (const action of writing) expect(reached(use, action)).toEqual(own.toSorted());
    expect(reached(use, 'Query')).toEqual(['NOTICE']);
    const open = ['DIGEST', 'MODERATOR', 'REVIEW', ...queue];
    expect(reached(use, 'Query', 'index').toSorted()).toEqual(open.toSorted());
  });

  test('read, asking: reads everything, and writes what databases answer', () => {
    const use = { table: 'read', asks: true } as const;
    expect(reached(use, 'GetItem')).toEqual(partitions);
    expect(reached(use, 'UpdateItem')).toEqual(withId('METADATA'));
  });
});
