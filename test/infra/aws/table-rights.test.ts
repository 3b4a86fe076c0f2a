import { describe, expect, test } from '@jest/globals';
import { tableRights } from '../../../infra/aws/table-rights.ts';

const arn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/reviews';

/** The rights of a function, as they stand in its policy. */
function rightsOf(
  allowed: 'none' | 'public' | 'read' | 'write',
  actions: string[],
  indexes: string[] = [],
) {
  return tableRights(arn, 'a-function', { allowed, actions, indexes }).map((statement) =>
    statement.toStatementJson(),
  );
}

describe('the rights to the table', () => {
  test('are those that the code needs', () => {
    expect(rightsOf('none', [])).toEqual([]);
    expect(rightsOf('write', ['GetItem', 'PutItem'])).toMatchObject([
      { Action: ['dynamodb:GetItem', 'dynamodb:PutItem'], Resource: arn },
    ]);
    expect(rightsOf('read', [], ['all-by-date'])).toMatchObject([
      { Action: 'dynamodb:Query', Resource: `${arn}/index/all-by-date` },
    ]);
  });

  test.each([
    ['none', ['GetItem'], [], "a-function has table: 'none', but its code does GetItem"],
    ['none', [], ['all-by-date'], "a-function has table: 'none', but its code does Query"],
    [
      'read',
      ['ConditionCheckItem', 'GetItem', 'PutItem'],
      [],
      "a-function has table: 'read', but its code does ConditionCheckItem,PutItem",
    ],
    ['public', ['UpdateItem'], [], "a-function has table: 'public', but its code does UpdateItem"],
  ] as const)(
    'are refused where a route says %s and its code does %j %j',
    (allowed, actions, indexes, error) => {
      expect(() => rightsOf(allowed, [...actions], [...indexes])).toThrow(error);
    },
  );
});
