import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { bundleFunctions } from '../../../infra/aws/bundle.ts';
import { functionGroups, groupOf } from '../../../infra/aws/function-groups.ts';
import { tableRights } from '../../../infra/aws/table-rights.ts';
import { type Route, routes } from '../../../shared/routes.ts';
import { functions, isOf, type Template } from '../../helpers/aws/checks.ts';
import { type Right, rightsIn } from '../../helpers/aws/roles.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

const { service, parts } = (await synthesized()).plain;
const folder = mkdtempSync(join(tmpdir(), 'review-service-alone-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const shared = functionGroups(routes).filter(({ routes: own }) => own.length > 1);
const grouped = shared.flatMap((group) => group.routes.map(({ operation }) => operation));
/** The code of each page as if it had a function of its own. */
const alone = bundleFunctions(folder, false, grouped);

/** Rights one by one: an action, what it is on, and the partitions. */
function onesOf(rights: readonly Pick<Right, 'action' | 'resources' | 'partitions'>[]): string[] {
  return rights.flatMap(({ action, resources, partitions = ['*'] }) =>
    resources.map((resource) => `${action} of ${resource} in ${partitions.toSorted()}`),
  );
}

/** Returns the rights that a page has if it has a function of its own. */
function rightsAlone({ operation, table, within, secrets = [] }: Route): string[] {
  const bundle = alone.get(operation);
  if (!bundle) throw new Error(`${operation} has no code`);
  const statements = tableRights('table', operation, { ...bundle, allowed: table, within });
  const own = statements.map((statement) => statement.toStatementJson());
  return onesOf([
    ...own.flatMap(({ Action, Resource, Condition }) =>
      [Action].flat().map((action) => ({
        action,
        resources: [Resource].flat().map((each) => `${each}`.replace('table/index/', '')),
        partitions: Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'],
      })),
    ),
    ...secrets.map((secret) => ({
      action: 'secretsmanager:GetSecretValue',
      resources: [secret],
    })),
  ]);
}

test.each(shared)('$name has the rights of its pages, and no other', ({ name, routes: pages }) => {
  const together = onesOf(rightsIn(service).get(name) ?? []);
  const each = new Set(pages.flatMap(rightsAlone));
  expect(together.filter((right) => !each.has(right))).toEqual([]);
  expect([...each].filter((right) => !together.includes(right))).toEqual([]);
});

test('pages that differ in rights share no function', () => {
  for (const { routes: pages } of shared) {
    const rights = pages.map(({ table, within, secrets }) => [table, within, secrets].join());
    expect(new Set(rights).size).toBe(1);
    expect(pages.every(({ isPage }) => isPage)).toBe(true);
  }
  const [home] = routes.filter(({ operation }) => operation === 'show-home');
  const other = { ...home, secrets: ['WEBHOOK_KEYS'] } as Route;
  expect(groupOf(other)).not.toBe(home && groupOf(home));
});

/**
 * The nested stack of each function. A function that moves to another one cannot be deployed: the
 * new stack makes a function of the same name before the former one deletes its own.
 */
test('each function stays in its nested stack', () => {
  const namesIn = (template: Template | undefined) =>
    template ? functions(template).map(([name]) => name) : [];
  const partOf = (ending: RegExp) =>
    namesIn(Object.entries(parts).find(([id]) => ending.test(id))?.[1]).sort();
  expect(partOf(/^ApiFormsNested/)).toEqual([
    'answer-authorization',
    'pages-write',
    'pages-write-reports',
    'pages-write-reviews',
    'pages-write-sign-in',
    'pages-write-tokens',
    'pages-write-votes',
    'pages-write-webhooks',
  ]);
  expect(partOf(/^ApiPagesNested/)).toEqual([
    'get-health',
    'get-oembed',
    'get-server-metadata',
    'get-sitemap',
    'pages-metadata',
    'pages-metadata-open',
    'pages-none-open',
    'pages-none-sign-in',
    'pages-public',
    'pages-read',
    'pages-read-metadata',
    'pages-read-tokens',
    'pages-read-webhooks',
    'request-authorization',
  ]);
  const api = routes.filter(({ base }) => base === undefined).map(({ operation }) => operation);
  expect(partOf(/^ApiFunctionsNested/)).toEqual([...api, 'authorizer', 'no-route'].sort());
});

test('a page is named by its function in no other way', () => {
  const names = functionGroups(routes).map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  // CDK omits hyphens in ids, so names must differ without them.
  expect(new Set(names.map((name) => name.replaceAll('-', ''))).size).toBe(names.length);
  expect(isOf('pages-read', 'pagesreadmetadataFunction1234')).toBe(false);
  for (const name of names) expect(`${'x'.repeat(31)}-${name}`.length).toBeLessThanOrEqual(64);
});
