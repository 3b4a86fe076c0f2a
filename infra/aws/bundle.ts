import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';
import { assets } from '../../shared/pages/reference-assets.ts';
import { actionsIn, indexesIn } from './table-use.ts';

/** The code of one Lambda, as it is uploaded. */
export interface Bundle {
  /** The folder with index.cjs, and its source map where one is asked for. */
  directory: string;
  /** The size of index.cjs, minified. */
  bytes: number;
  /** What the code does to the table itself, in the words of IAM: `GetItem`, `ConditionCheckItem` and so on. */
  actions: readonly string[];
  /** The indexes that it queries. */
  indexes: readonly string[];
  /** The environment variables that the code reads, but for those of Lambda and the AWS SDK; `*_API` is any that ends so. */
  variables: readonly string[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** How a file becomes the code of a Lambda. */
export const bundleOptions = {
  bundle: true,
  minify: true,
  // Nothing is imported: to import one of Node's own modules is to load all that it exports, a WebSocket client among it, for a quarter of
  // every cold start.
  format: 'cjs',
  supported: { 'dynamic-import': false },
  outExtension: { '.js': '.cjs' },
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  define: { 'import.meta.dirname': '__dirname' },
  sourcesContent: false,
  legalComments: 'none',
  // Lambda's credentials are in the environment: the SDK's search for others is 130 KB, and 10 ms of every cold start.
  alias: { '@aws-sdk/credential-provider-node': join(root, 'infra/aws/credentials.ts') },
} satisfies BuildOptions;

/** What functions read from their own folder. */
const files = { 'get-reference-asset': Object.values(assets) };

/** Bundles every file under functions/ into a folder of its own in `outdir`; by operation. */
export function bundleFunctions(
  outdir: string,
  hasSourceMaps = false,
  operations = readdirSync(join(root, 'functions')).map((file) => parse(file).name),
): Map<string, Bundle> {
  // Of what a file exports Lambda needs the handler. The rest, such as what it says for the API's description, is left out.
  const entries = mkdtempSync(join(tmpdir(), 'entries-'));
  for (const operation of operations) {
    const file = JSON.stringify(join(root, 'functions', `${operation}.ts`));
    writeFileSync(join(entries, `${operation}.js`), `export { handler } from ${file};\n`);
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
  for (const [operation, paths] of Object.entries(files)) {
    if (!operations.includes(operation)) continue;
    for (const file of paths) {
      copyFileSync(join(root, file), resolve(outdir, operation, parse(file).base));
    }
  }
  // Bundled without packages it is only what is used of our code, whereas the SDK's pagers bring Query and Scan into every bundle.
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
      const output = metafile.outputs[relative(root, file)];
      if (!output) throw new Error(`esbuild made no ${file}`);
      return [
        operation,
        {
          directory,
          bytes: output.bytes,
          actions: actionsIn(code),
          indexes: indexesIn(code),
          variables: variablesIn(readFileSync(file, 'utf8')),
        },
      ];
    }),
  );
}

function variablesIn(code: string): string[] {
  const reads = code.matchAll(/process\.env(?:\.(\w+)|\[`\$\{\w+\}(\w+)`\])/g);
  const names = [...reads].map(([, name, ending]) => name ?? `*${ending}`);
  return [...new Set(names)].filter((name) => !/^(AWS_|_|NODE_|\*_ARN$)/.test(name)).sort();
}
