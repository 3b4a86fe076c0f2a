import { budgetOf } from '../../../../infra/route-load.ts';
import { publicReads, routeOf } from '../../../helpers/routes.ts';

const budgetsOf = (operation: string) => budgetOf(routeOf(operation));

// The design: any public answer, worst data, takes 200 read units, 60 commands and 512 KB.
// A lookup of 25 long reviews has room for all.
test.each(publicReads)('the public $operation has the budget of a public answer', (route) => {
  const { answer } = budgetOf(route) ?? {};
  expect(route.operation === 'batch-get-reviews' || answer === 524_288).toBe(true);
  expect(budgetOf(route)).toMatchObject({ read: 200, commands: 60 });
});

// A part of an export has up to 6 MB of reviews. A text of 5,000 characters takes 1.5 read units,
// and its revisions and votes as much again, so a part takes some thousand units.
test.each(['export-me', 'download-data'])('a large %s is within its budget', (operation) => {
  const budget = budgetsOf(operation);
  expect(budget?.read).toBeGreaterThanOrEqual(5_000);
  expect(budget?.commands).toBeGreaterThanOrEqual(1_000);
});

test('a route that uses no table has no budget', () => {
  expect(budgetsOf('list-languages')).toBeUndefined();
});

test('a write may read and try again more than a read of own things may', () => {
  const write = budgetsOf('put-vote');
  const own = budgetsOf('list-my-reviews');
  expect(write?.commands).toBeGreaterThan(own?.commands ?? Number.POSITIVE_INFINITY);
});
