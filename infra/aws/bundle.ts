import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';
import { budgetOf } from '../../shared/http/route-load.ts';
import { routes } from '../../shared/routes.ts';
import { operations as allOperations, fileOf } from '../functions.ts';
import { activityOf } from './activities.ts';
import { actionsIn, indexesIn } from './table-use.ts';

/** The code of a Lambda, as uploaded. */
export interface Bundle {
  /** Has index.cjs, and its source map if requested. */
  directory: string;
  /** Of index.cjs, minified. */
  bytes: number;
  /** IAM actions of the code on the table itself: `GetItem`, `ConditionCheckItem` and so on. */
  actions: readonly string[];
  indexes: readonly string[];
  /** The code's own environment variables. `*_API` stands for all names that end so. */
  variables: readonly string[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

const bundleOptions = {
  bundle: true,
  minify: true,
  // An ESM import would load all exports of a Node module. One of them, a WebSocket client, takes a
  // quarter of every cold start.
  format: 'cjs',
  supported: { 'dynamic-import': false },
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  define: { 'import.meta.dirname': '__dirname' },
  sourcesContent: false,
  legalComments: 'none',
  // The default, ASCII, takes six bytes for each letter of another script.
  charset: 'utf8',
  // The SDK's search for credentials is 130 KB of code and takes 10 ms of every cold start.
  alias: { '@aws-sdk/credential-provider-node': join(root, 'infra/aws/credentials.ts') },
} satisfies BuildOptions;

/** Bundles files under functions/ into folders in `outdir`. Returns the bundles by operation. */
export function bundleFunctions(
  outdir: string,
  hasSourceMaps = false,
  operations = allOperations,
): Map<string, Bundle> {
  // Other exports, such as texts for the OpenAPI document, are left out.
  const entries = mkdtempSync(join(tmpdir(), 'entries-'));
  for (const operation of operations) {
    writeFileSync(join(entries, `${operation}.js`), entryOf(operation));
  }
  const options = {
    ...bundleOptions,
    sourcemap: hasSourceMaps && 'linked',
    absWorkingDir: root,
    entryPoints: Object.fromEntries(
      operations.map((operation) => [`${operation}/index`, join(entries, `${operation}.js`)]),
    ),
    outdir: resolve(outdir),
    logLevel: 'warning',
  } satisfies BuildOptions;
  const { metafile } = buildSync({ ...options, metafile: true });
  // A second bundle without packages has only our own code. In the first, the SDK's paginators
  // would add Query and Scan to every function.
  const { outputFiles } = buildSync({
    ...options,
    format: 'esm',
    packages: 'external',
    minify: false,
    sourcemap: false,
    write: false,
  });
  rmSync(entries, { recursive: true });
  const ownCode = new Map(outputFiles.map(({ path, text }) => [path, text]));
  return new Map(
    operations.map((operation) => {
      const directory = resolve(outdir, operation);
      const file = join(directory, 'index.cjs');
      const code = ownCode.get(file) ?? '';
      const { bytes = 0 } = metafile.outputs[relative(root, file)] ?? {};
      const bundle = {
        directory,
        bytes,
        actions: actionsIn(code),
        indexes: indexesIn(code),
        variables: variablesIn(readFileSync(file, 'utf8')),
      };
      return [operation, bundle];
    }),
  );
}

/**
 * Returns the module that Lambda calls. It runs the handler as its operation, which metrics name,
 * and that of a route within its budget.
 */
function entryOf(name: string): string {
  const file = JSON.stringify(fileOf(name));
  const route = routes.find((each) => each.operation === name);
  const budget = route && budgetOf(route);
  const operation = JSON.stringify({ name, activity: route && activityOf(route) });
  const module = (path: string) => JSON.stringify(join(root, path));
  if (!budget) {
    return `import { handler as handle } from ${file};
import { runAs } from ${module('shared/operation.ts')};
export const handler = (...call) => runAs(${operation}, () => handle(...call));
`;
  }
  return `import { handler as handle } from ${file};
import { withinBudget } from ${module('shared/table/budget.ts')};
const budget = ${JSON.stringify(budget)};
export const handler = (...call) => withinBudget(${operation}, budget, () => handle(...call));
`;
}

function variablesIn(code: string) {
  const reads = code.matchAll(/process\.env(?:\.(\w+)|\[`\$\{\w+\}(\w+)`\])/g);
  const names = [...reads].map(([, name, ending]) => name ?? `*${ending}`);
  return [...new Set(names)].filter((name) => !/^(AWS_|_|NODE_|\*_ARN$)/.test(name)).sort();
}
