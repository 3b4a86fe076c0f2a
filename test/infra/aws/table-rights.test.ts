import { tableRights } from '../../../infra/aws/table-rights.ts';
import type { Route } from '../../../shared/routes.ts';
import { kinds } from '../../../shared/table/kinds.ts';
import { isLike } from '../../helpers/aws/roles.ts';

const arn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/reviews';

const id = '3a2b1c0d-9e8f-4a7b-8c6d-5e4f3a2b1c0d';

/** A partition of each form. */
const forms = Object.values(kinds).map(({ key }) => key.form.pk.replace(/#.*<.*/, `#${id}`));
const partitions = [...new Set(forms)].toSorted();

/** Returns the rights of a function, as its policy has them. */
function rightsOf(
  allowed: Route['table'],
  actions: string[],
  indexes: string[] = [],
  more: Pick<Route, 'within' | 'asks'> & { hasSessions?: boolean } = {},
) {
  const statements = tableRights(arn, 'a-function', { allowed, ...more, actions, indexes });
  return statements.map((statement) => statement.toStatementJson());
}

/** Reports, posts of new authors, appeals, corrections and new names. */
const queue = ['CASE', 'CASE#held', 'CASE#appeal', 'PROPOSAL', 'NAMING'];

describe('the rights to the table', () => {
  test('are the ones that the code needs', () => {
    expect(rightsOf('none', [])).toEqual([]);
    expect(rightsOf('write', ['GetItem', 'PutItem'])).toMatchObject([
      { Action: ['dynamodb:GetItem', 'dynamodb:PutItem'], Resource: arn },
    ]);
    expect(rightsOf('read', [], ['all-by-date'])).toMatchObject([
      { Action: 'dynamodb:Query', Resource: `${arn}/index/all-by-date` },
    ]);
  });

  test('to ask databases allow reading public items, and writing metadata only', () => {
    const used = ['BatchGetItem', 'ConditionCheckItem', 'PutItem', 'UpdateItem'];
    const rights = rightsOf('public', used, [], { asks: true });
    const [read, write, ...more] = rights.map(({ Action, Condition }) => ({
      actions: [Action].flat(),
      keys: Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'],
    }));
    expect(more).toEqual([]);
    expect(read?.actions).toEqual(['dynamodb:BatchGetItem', 'dynamodb:ConditionCheckItem']);
    expect(read?.keys).toEqual(expect.arrayContaining(['REVIEW#*', 'ENTITY#*', 'METADATA#*']));
    const actions = ['dynamodb:PutItem', 'dynamodb:UpdateItem'];
    expect(write).toEqual({ actions, keys: ['METADATA#*'] });
  });

  test.each([
    ['votes', ['REVIEW', 'USER']],
    ['reports', ['IDEMPOTENCY', 'REVIEW', 'USER']],
    ['reviews', ['DECISION', 'ENTITY', 'IDEMPOTENCY', 'METADATA', 'NAME', 'REVIEW', 'USER']],
  ] as const)('within %s reach nothing of sign-in, webhooks or counts of lists', (within, open) => {
    const actions = ['BatchGetItem', 'GetItem', 'PutItem', 'UpdateItem', 'Query'];
    const rights = rightsOf('write', actions, [], { within });
    for (const action of actions) {
      const patterns = rights
        .filter(({ Action }) => [Action].flat().includes(`dynamodb:${action}`))
        .flatMap(({ Condition }) => Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys']);
      const reached = partitions.filter((each) =>
        patterns.some((pattern) => isLike(each, pattern)),
      );
      expect(reached).toEqual(open.map((name) => `${name}#${id}`));
    }
  });

  describe.each([undefined, true] as const)('of a public function, asking: %s', (asks) => {
    const changed = asks ? ['PutItem'] : [];
    const used = ['GetItem', 'Query', ...changed];
    const rights = rightsOf('public', used, ['author-by-date'], { asks });

    /** Returns the partitions that the action reaches. */
    function reached(action: string, resource: string, of = partitions) {
      const patterns = rights
        .filter(({ Action, Resource }) => Action === `dynamodb:${action}` && Resource === resource)
        .flatMap(({ Condition }) => Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys']);
      expect(patterns.length).toBeGreaterThan(0);
      return of.filter((each) => patterns.some((pattern) => isLike(each, pattern)));
    }

    test('read public items one by one, and no private partition', () => {
      const open = ['ENTITY', 'METADATA', 'REVIEW', 'TREE', 'USER'].map((name) => `${name}#${id}`);
      const own = ['IMPORT', 'TOTALS', 'WEBHOOK#RUN'];
      expect(reached('GetItem', arn)).toEqual([...open, ...own].toSorted());
    });

    test('list no partition with grants, which are those of users', () => {
      const open = [
        `REVIEW#${id}`,
        'TOTALS',
        'CHANGES',
        `CHANGES#${id}`,
        'HEALTH',
        `WORD#${id}`,
        `THINGS#${id}`,
      ];
      expect(reached('Query', arn)).toEqual(open.toSorted());
    });

    test('list public reviews and users of an index, and nothing about a person', () => {
      const lists = Object.values(kinds).flatMap(({ all, type, facet, entity, author }) =>
        [all, type, facet, entity, author].flatMap((list) => list ?? []),
      );
      const open = ['REVIEW', 'USER', 'work', 'work|en', `DUE#${id}`, id];
      const inIndex = lists.map((list) =>
        list.replace('<entity_type>', 'work').replace('<language>', 'en').replace(/<.*>/, id),
      );
      const index = `${arn}/index/author-by-date`;
      expect([...new Set(reached('Query', index, inIndex))].toSorted()).toEqual(open.toSorted());
    });
  });

  test('of public pages with sessions allow counting what waits for moderators', () => {
    const listed = (hasSessions: boolean) => {
      const [, list] = rightsOf('public', ['GetItem'], ['all-by-date'], { hasSessions });
      return list?.Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'];
    };
    expect(listed(true)).toEqual([...listed(false), ...queue]);
    expect(queue.filter((each) => listed(false).includes(each))).toEqual([]);
  });

  test('for health allow writing its own partition only', () => {
    const [write, ...more] = rightsOf('health', ['UpdateItem']);
    expect(more).toEqual([]);
    expect(write).toMatchObject({
      Action: 'dynamodb:UpdateItem',
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['HEALTH'] } },
    });
  });

  test('for health allow listing what waits for moderators, and nothing else of an index', () => {
    const [write, list, ...more] = rightsOf('health', ['UpdateItem'], ['all-by-date']);
    expect(more).toEqual([]);
    expect(write).toMatchObject({ Action: 'dynamodb:UpdateItem', Resource: arn });
    expect(list).toMatchObject({
      Action: 'dynamodb:Query',
      Resource: `${arn}/index/all-by-date`,
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': queue } },
    });
  });

  test('for webhooks allow writing their partitions only, and reading what they tell', () => {
    const actions = ['BatchGetItem', 'Query', 'UpdateItem'];
    const rights = rightsOf('webhooks', actions, ['all-by-date']);
    const keys = (partitions: string[]) => ({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': partitions },
    });
    const own = ['WEBHOOK', 'WEBHOOK#RUN'];
    expect(rights).toMatchObject([
      // Applications tell who may still send, and the log's ends where to begin.
      {
        Action: 'dynamodb:BatchGetItem',
        Condition: keys(['REVIEW#*', 'USER#*', 'APP#*', 'CHANGES#*', 'METADATA#*', ...own]),
      },
      { Action: 'dynamodb:UpdateItem', Condition: keys(own) },
      // Owners are told of webhooks that were turned off, and nothing else of them is written.
      {
        Action: 'dynamodb:UpdateItem',
        Condition: {
          ...keys(['USER#*']),
          'ForAllValues:StringEquals': {
            'dynamodb:Attributes': ['pk', 'sk', 'deleted_at', 'news_webhook'],
          },
        },
      },
      { Action: 'dynamodb:Query', Condition: keys(['CHANGES', 'CHANGES#*', 'WEBHOOK']) },
      { Action: 'dynamodb:Query', Condition: keys(['WEBHOOK']) },
    ]);
    for (const action of ['PutItem', 'DeleteItem', 'ConditionCheckItem']) {
      expect(() => rightsOf('webhooks', [...actions, action], [])).toThrow(action);
    }
  });

  test('may combine reading everything with writing metadata only', () => {
    const rights = rightsOf('read', ['GetItem', 'PutItem'], ['all-by-date'], { asks: true });
    expect(rights).toMatchObject([
      { Action: 'dynamodb:GetItem', Resource: arn },
      {
        Action: 'dynamodb:PutItem',
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['METADATA#*'] } },
      },
      { Action: 'dynamodb:Query', Resource: `${arn}/index/all-by-date` },
    ]);
    expect(rights[0]).not.toHaveProperty('Condition');
  });

  test.each([
    ['DeleteItem', ['DeleteItem', 'PutItem']],
    ['GetItem', ['GetItem']],
  ])('to ask databases are refused where the code uses %s', (named, actions) => {
    for (const allowed of ['public', 'read'] as const) {
      expect(() => rightsOf(allowed, actions, [], { asks: true })).toThrow(named);
    }
  });

  test.each([
    ['health', ['PutItem', 'UpdateItem'], [], 'PutItem'],
    ['health', ['GetItem', 'UpdateItem'], [], 'GetItem'],
    ['health', [], [], 'none of the table'],
    ['none', ['GetItem'], [], 'GetItem'],
    ['none', [], ['all-by-date'], 'Query'],
    ['read', ['ConditionCheckItem', 'GetItem', 'PutItem'], [], 'ConditionCheckItem,PutItem'],
    ['public', ['UpdateItem'], [], 'UpdateItem'],
    ['write', [], [], 'none of the table'],
    ['write', ['GetItem'], [], 'GetItem'],
    ['public', [], [], 'none of the table'],
  ] as const)(
    'are refused where a route says %s and its code does %j %j',
    (allowed, actions, indexes, used) => {
      expect(() => rightsOf(allowed, [...actions], [...indexes])).toThrow(
        `a-function has table: '${allowed}', but its code uses ${used}`,
      );
    },
  );
});
