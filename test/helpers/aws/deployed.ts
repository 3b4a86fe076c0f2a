import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib/core';
import { addStacks } from '../../../infra/aws/app.ts';
import { lambdaNames } from '../../../infra/aws/bundle-entries.ts';
import { groupOf } from '../../../infra/aws/function-groups.ts';
import { type Route, routes } from '../../../shared/base/routes.ts';
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

/** Folders of the code of functions that get files of the site, by their names. */
export const siteFolders = new Map(
  ['pages-public', 'pages-none-open'].map((name) => [name, join(folder, name)]),
);
for (const directory of siteFolders.values()) mkdirSync(directory);

/** The folder of all other functions, which have no real code. */
const codeFolder = join(folder, 'code');
mkdirSync(codeFolder);

/** Functions have no real code, because only their configuration is tested. */
const folderOf = (name: string) => [name, siteFolders.get(name) ?? codeFolder] as const;

/** Writes a file of settings, and returns its name. */
export function settingsFile(lines: string): string {
  const file = join(mkdtempSync(join(folder, 'settings-')), 'settings.env');
  writeFileSync(file, lines);
  return file;
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
  const bundles = new Map([...lambdaNames, ...more.map(groupOf)].map(folderOf));
  const { data, service } = addStacks(app, bundles, [...routes, ...more]);
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
