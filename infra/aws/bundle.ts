import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type BuildOptions, buildSync, transformSync } from 'esbuild';
import { lambdaNames, root, sharedPages, withEntries } from './bundle-entries.ts';
import { actionsIn, indexesIn } from './table-use.ts';

/** The code of a Lambda, as uploaded. */
export interface Bundle {
  /** Has index.cjs, the files that it loads, and source maps if requested. */
  directory: string;
  /** Of all code, minified. */
  bytes: number;
  /** IAM actions of the code on the table itself: `GetItem`, `ConditionCheckItem` and so on. */
  actions: readonly string[];
  indexes: readonly string[];
  /** The code's own environment variables. `*_API` stands for all names that end so. */
  variables: readonly string[];
}

/**
 * An ESM import would load all exports of a Node module. One of them, a WebSocket client, takes a
 * quarter of every cold start.
 */
const asCommonJs = {
  minify: true,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  supported: { 'dynamic-import': false },
  // The default, ASCII, takes six bytes for each letter of another script.
  charset: 'utf8',
} as const satisfies BuildOptions;

const bundleOptions = {
  ...asCommonJs,
  bundle: true,
  outExtension: { '.js': '.cjs' },
  mainFields: ['module', 'main'],
  define: { 'import.meta.dirname': '__dirname' },
  sourcesContent: false,
  legalComments: 'none',
  // The SDK's search for credentials is 130 KB of code and takes 10 ms of every cold start.
  alias: { '@aws-sdk/credential-provider-node': join(root, 'infra/aws/credentials.ts') },
  absWorkingDir: root,
  logLevel: 'warning',
} satisfies BuildOptions;

/** Bundles Lambdas into folders in `outdir`. Returns the bundles by the names of the Lambdas. */
export function bundleFunctions(
  outdir: string,
  hasSourceMaps = false,
  names = lambdaNames,
): Map<string, Bundle> {
  return withEntries(names, (entries) => {
    const fileOf = (name: string) => join(entries, `${name}.js`);
    const whole = names.filter((name) => !sharedPages.has(name));
    buildSync({
      ...bundleOptions,
      sourcemap: hasSourceMaps && 'linked',
      entryPoints: Object.fromEntries(whole.map((name) => [`${name}/index`, fileOf(name)])),
      outdir: resolve(outdir),
    });
    for (const name of names) {
      const pages = sharedPages.get(name)?.map(({ operation }) => operation);
      if (pages) bundleShared(resolve(outdir, name), fileOf, { name, pages, hasSourceMaps });
    }
    const ownCode = ownCodeOf(names, fileOf);
    return new Map(names.map((name) => [name, bundleIn(resolve(outdir, name), ownCode.get(name))]));
  });
}

/**
 * Bundles pages that share a Lambda, with a file for each page and for what some pages share. A
 * page then loads as much as it would alone. esbuild splits ES modules only, so each is converted.
 */
function bundleShared(
  directory: string,
  fileOf: (name: string) => string,
  {
    name,
    pages,
    hasSourceMaps,
  }: { name: string; pages: readonly string[]; hasSourceMaps: boolean },
): void {
  const { outputFiles } = buildSync({
    ...bundleOptions,
    format: 'esm',
    splitting: true,
    supported: {},
    outExtension: {},
    sourcemap: hasSourceMaps && 'inline',
    entryPoints: Object.fromEntries([
      ['index', fileOf(name)],
      ...pages.map((page) => [page, fileOf(page)]),
    ]),
    chunkNames: '[hash]',
    outdir: directory,
    write: false,
  });
  mkdirSync(directory, { recursive: true });
  for (const { path, text } of outputFiles) {
    const sourcemap = hasSourceMaps && ('external' as const);
    const { code, map } = transformSync(text, { ...asCommonJs, sourcemap, sourcesContent: false });
    const file = path.replace(/\.js$/, '.cjs');
    const link = hasSourceMaps ? `//# sourceMappingURL=${basename(file)}.map\n` : '';
    const required = code.replaceAll(/\brequire\("(\.\/[\w-]+)\.js"\)/g, 'require("$1.cjs")');
    writeFileSync(file, required + link);
    if (hasSourceMaps) writeFileSync(`${file}.map`, map);
  }
}

/**
 * Bundles our own code alone, without packages. In the uploaded code, the SDK's paginators would
 * add Query and Scan to every function.
 */
function ownCodeOf(names: readonly string[], fileOf: (name: string) => string) {
  const { outputFiles } = buildSync({
    ...bundleOptions,
    format: 'esm',
    packages: 'external',
    minify: false,
    entryPoints: Object.fromEntries(names.map((name) => [name, fileOf(name)])),
    outdir: root,
    write: false,
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path, '.cjs'), text]));
}

function bundleIn(directory: string, ownCode = ''): Bundle {
  const code = codeIn(directory);
  return {
    directory,
    bytes: Buffer.byteLength(code),
    actions: actionsIn(ownCode),
    indexes: indexesIn(ownCode),
    variables: variablesIn(code),
  };
}

/** Returns all code of a bundle. */
export function codeIn(directory: string): string {
  const files = readdirSync(directory).filter((file) => file.endsWith('.cjs'));
  return files.map((file) => readFileSync(join(directory, file), 'utf8')).join('');
}

function variablesIn(code: string) {
  const reads = code.matchAll(/process\.env(?:\.(\w+)|\[`\$\{\w+\}(\w+)`\])/g);
  const names = [...reads].map(([, name, ending]) => name ?? `*${ending}`);
  return [...new Set(names)].filter((name) => !/^(AWS_|_|NODE_|\*_ARN$)/.test(name)).sort();
}
