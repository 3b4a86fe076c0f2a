import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib/core';
import { addStacks } from '../../../infra/aws/app.ts';
import type { Bundle } from '../../../infra/aws/bundle.ts';
import { lambdaNames } from '../../../infra/aws/bundle-entries.ts';
import { groupOf } from '../../../infra/aws/function-groups.ts';
import { schedules } from '../../../shared/background/schedules.ts';
import { type Route, routes } from '../../../shared/routes.ts';
import { merged, type Template } from './checks.ts';
import { type Parts, partsOf } from './synthesized.ts';

// stacks.slow.ts validates templates by CloudFormation's rules. Loading the rules takes longer than
// all tests of options.
process.env.CDK_VALIDATION = 'false';

const folder = mkdtempSync(join(tmpdir(), 'review-service-choices-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { context } = JSON.parse(
  readFileSync(new URL('../../../cdk.json', import.meta.url), 'utf8'),
) as { context: Record<string, unknown> };

const asking = [
  ...routes.flatMap((route) => (route.asks ? groupOf(route) : [])),
  ...schedules.flatMap(({ operation, asks }) => (asks ? operation : [])),
];

const tables = new Map<string, Route['table']>([
  ...routes.map((route) => [groupOf(route), route.table] as const),
  ['authorizer', 'read'],
  ['no-route', 'none'],
  ['send-heartbeat', 'health'],
  ['send-webhooks', 'webhooks'],
  ['send-notices', 'notices'],
]);
const actionsOf: Record<Route['table'], string[]> = {
  none: [],
  public: ['GetItem'],
  read: ['GetItem'],
  write: ['PutItem'],
  health: ['UpdateItem'],
  webhooks: ['UpdateItem'],
  notices: ['UpdateItem'],
};

/** Folders of the code of functions that get files of the site, by their names. */
export const siteFolders = new Map(
  ['pages-public', 'pages-none-open'].map((name) => [name, join(folder, name)]),
);
for (const directory of siteFolders.values()) mkdirSync(directory);

/** The folder of all other functions, which have no real code. */
const codeFolder = join(folder, 'code');
mkdirSync(codeFolder);

/**
 * Functions without real code, because only their configuration is tested. Each reads one variable,
 * and uses the table within its rights.
 */
function bundleOf(name: string, table = tables.get(name) ?? 'write'): [string, Bundle] {
  const code = {
    directory: siteFolders.get(name) ?? codeFolder,
    bytes: 0,
    variables: ['OIDC_LOGOUT_URL'],
    actions: asking.includes(name) ? ['UpdateItem'] : actionsOf[table],
    indexes: table === 'public' ? ['facet-by-date'] : [],
  };
  return [name, code];
}

/** The templates of a deployment. */
export type Templates = Pick<ReturnType<typeof deployed>, 'data' | 'service'>;

/**
 * Returns the templates of a deployment with these options, and the findings of cdk-nag. `more` are
 * routes beside those of the route table.
 */
export function deployed(chosen: Record<string, string | number>, more: readonly Route[] = []) {
  const app = new App({ context: { ...context, ...chosen } });
  afterAll(() => rmSync(app.outdir, { recursive: true, force: true }));
  const bundles = new Map([
    ...lambdaNames.map((name) => bundleOf(name)),
    ...more.map((route) => bundleOf(groupOf(route), route.table)),
  ]);
  const { data, service } = addStacks(app, () => bundles, [...routes, ...more]);
  // cdk-nag fails a synthesis after its templates are written. A test reports the findings.
  let findings = '';
  try {
    app.synth();
  } catch (error) {
    findings = `${error}`;
  }
  const templateOf = ({ templateFile }: Stack): Template =>
    JSON.parse(readFileSync(join(app.outdir, templateFile), 'utf8'));
  /** The template of a stack beside the others, and its region. */
  const beside = (ending: string) => {
    const stack = app.node.tryFindChild(`${service.node.id}-${ending}`);
    return stack instanceof Stack ? { region: stack.region, ...templateOf(stack) } : undefined;
  };
  const outer = templateOf(service);
  const parts = partsOf(outer, app.outdir);
  return {
    findings,
    outdir: app.outdir,
    /** The folder of the code of all functions. */
    code: folder,
    health: beside('health'),
    firewall: beside('firewall'),
    data: templateOf(data),
    service: merged(outer, parts),
    /** The templates within `service`. */
    parts: { service: outer, ...parts } as Parts,
  };
}
