import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleFunctions, codeIn } from '../../../infra/aws/bundle.ts';
import { functionGroups, groupOf } from '../../../infra/aws/function-groups.ts';
import { type Route, routes } from '../../../shared/base/routes.ts';
import { functions, isOf, propertiesOf, type Template } from '../../helpers/aws/checks.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { loadedBytes } from '../../helpers/aws/loaded.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { newFolder } from '../../helpers/folder.ts';

const { service, parts, outdir } = (await synthesized()).plain;
const folder = newFolder();

const shared = functionGroups(routes).filter(({ routes: own }) => own.length > 1);
const grouped = shared.flatMap((group) => group.routes.map(({ operation }) => operation));
/** The code of each page as if it had a function of its own. */
const alone = await bundleFunctions(folder, grouped);

/**
 * Everybody waits for what a page loads at a cold start. A module of which one page uses much is in
 * the bundle of all that import it, so it must be imported by none that does not use it.
 */
test.each(shared)(
  '$name loads for a page hardly more than it would alone',
  ({ name, routes: pages }) => {
    // Somebody undoes a move once in a lifetime, and may load what the other pages load.
    const usual = pages.filter(({ operation }) => operation !== 'undo-move');
    const larger = usual.flatMap(({ operation }) => {
      const bytes = loadedBytes(join(outdir, 'functions', name), operation);
      const most = 1.15 * Buffer.byteLength(codeIn(`${alone.get(operation)}`));
      return bytes > most ? [`${operation}: ${bytes} bytes > ${Math.floor(most)}`] : [];
    });
    expect(larger).toEqual([]);
  },
);

test('pages that differ in rights share no function', () => {
  for (const { routes: pages } of shared) {
    const rights = pages.map(({ table, within, asks, secrets }) =>
      [table, within, asks, secrets].join(),
    );
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
    'pages-write-accounts-sign-in',
    'pages-write-grants-tokens',
    'pages-write-hooks-webhooks',
    'pages-write-reports',
    'pages-write-reviews',
    'pages-write-votes',
  ]);
  expect(partOf(/^ApiPagesNested/)).toEqual([
    'get-health',
    'pages-none-open',
    'pages-none-sign-in',
    'pages-public',
    'pages-public-asks',
    'pages-public-open',
    'pages-read',
    'pages-read-asks',
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
  expect(isOf('pages-read', 'pagesreadasksFunction1234')).toBe(false);
  for (const name of names) expect(`${'x'.repeat(31)}-${name}`.length).toBeLessThanOrEqual(64);
});

describe('functions that stay warm', () => {
  const off = deployed({ environment: 'development' });
  const on = deployed({});
  const rulesOf = (template: Template) =>
    propertiesOf(template, 'AWS::Events::Rule').filter(
      ({ ScheduleExpression }) => ScheduleExpression === 'rate(5 minutes)',
    );
  const targetsOf = (template: Template) =>
    rulesOf(template).flatMap(({ Targets }) =>
      Targets.map(({ Arn }: { Arn: { 'Fn::GetAtt': [string] } }) => Arn['Fn::GetAtt'][0]),
    );

  test('are those that most people meet, each called by a rule that may call it', () => {
    const called = functions(service)
      .filter(([, resource]) => targetsOf(service).some((id) => service.Resources[id] === resource))
      .map(([name]) => name);
    expect(called.sort()).toEqual(
      'authorizer batch-get-entities batch-get-reviews create-review get-entity get-me get-review get-user list-entities list-reviews pages-none-open pages-public pages-public-asks pages-read pages-read-asks pages-write-votes put-vote'.split(
        ' ',
      ),
    );
    const permitted = propertiesOf(service, 'AWS::Lambda::Permission').map(
      ({ FunctionName }) => FunctionName['Fn::GetAtt'][0],
    );
    expect(permitted).toEqual(expect.arrayContaining(targetsOf(service)));
    for (const { Targets } of rulesOf(service)) {
      expect(JSON.parse(Targets[0].Input)).toEqual({ isWarmUp: true });
    }
  });
  test('are not called in development', () => {
    expect(rulesOf(off.service)).toEqual([]);
    expect(rulesOf(on.service)).toHaveLength(17);
  });
  test.each(['get-review', 'authorizer', 'pages-read'])(
    '%s answers such a call with nothing, and asks nobody',
    async (name) => {
      process.env.TABLE_NAME ??= 'none';
      const file = join(outdir, 'functions', name, 'index.cjs');
      const { handler } = await import(pathToFileURL(file).href);
      expect(await handler({ isWarmUp: true }, {})).toBeUndefined();
    },
  );
});
