import { describe, expect, test } from '@jest/globals';
import { tableRights } from '../../../infra/aws/table-rights.ts';

const arn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/reviews';

/** Returns the rights of a function, as its policy has them. */
function rightsOf(
  allowed: 'none' | 'public' | 'metadata' | 'read' | 'write',
  actions: string[],
  indexes: string[] = [],
) {
  return tableRights(arn, 'a-function', { allowed, actions, indexes }).map((statement) =>
    statement.toStatementJson(),
  );
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

  test.each([
    ['none', ['GetItem'], [], "a-function has table: 'none', but its code uses GetItem"],
    ['none', [], ['all-by-date'], "a-function has table: 'none', but its code uses Query"],
    [
      'read',
      ['ConditionCheckItem', 'GetItem', 'PutItem'],
      [],
      "a-function has table: 'read', but its code uses ConditionCheckItem,PutItem",
    ],
    ['public', ['UpdateItem'], [], "a-function has table: 'public', but its code uses UpdateItem"],
    [
      'metadata',
      ['DeleteItem', 'PutItem'],
      [],
      "a-function has table: 'metadata', but its code uses DeleteItem",
    ],
    ['write', [], [], "a-function has table: 'write', but its code uses none of the table"],
    ['write', ['GetItem'], [], "a-function has table: 'write', but its code uses GetItem"],
    ['metadata', ['GetItem'], [], "a-function has table: 'metadata', but its code uses GetItem"],
    ['public', [], [], "a-function has table: 'public', but its code uses none of the table"],
  ] as const)(
    'are refused where a route says %s and its code does %j %j',
    (allowed, actions, indexes, error) => {
      expect(() => rightsOf(allowed, [...actions], [...indexes])).toThrow(error);
    },
  );
});
