import { describe, expect, test } from '@jest/globals';
import { tableRights } from '../../../infra/aws/table-rights.ts';
import type { Route } from '../../../shared/routes.ts';

const arn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/reviews';

/** Returns the rights of a function, as its policy has them. */
function rightsOf(allowed: Route['table'], actions: string[], indexes: string[] = []) {
  const statements = tableRights(arn, 'a-function', { allowed, actions, indexes });
  return statements.map((statement) => statement.toStatementJson());
}

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

  test('for metadata allow reading public items, and writing metadata only', () => {
    const rights = rightsOf('metadata', ['BatchGetItem', 'PutItem', 'UpdateItem']);
    const [read, write, ...more] = rights.map(({ Action, Condition }) => ({
      actions: [Action].flat(),
      keys: Condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'],
    }));
    expect(more).toEqual([]);
    expect(read?.actions).toEqual(['dynamodb:BatchGetItem']);
    expect(read?.keys).toEqual(expect.arrayContaining(['REVIEW#*', 'METADATA#*']));
    const actions = ['dynamodb:PutItem', 'dynamodb:UpdateItem'];
    expect(write).toEqual({ actions, keys: ['METADATA#*'] });
  });

  test('may combine reading everything with writing metadata only', () => {
    const rights = rightsOf('read+metadata', ['GetItem', 'PutItem'], ['all-by-date']);
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
    ['none', ['GetItem'], [], 'GetItem'],
    ['none', [], ['all-by-date'], 'Query'],
    ['read', ['ConditionCheckItem', 'GetItem', 'PutItem'], [], 'ConditionCheckItem,PutItem'],
    ['public', ['UpdateItem'], [], 'UpdateItem'],
    ['metadata', ['DeleteItem', 'PutItem'], [], 'DeleteItem'],
    ['write', [], [], 'none of the table'],
    ['write', ['GetItem'], [], 'GetItem'],
    ['metadata', ['GetItem'], [], 'GetItem'],
    ['read+metadata', ['DeleteItem', 'PutItem'], [], 'DeleteItem'],
    ['read+metadata', ['GetItem'], [], 'GetItem'],
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
