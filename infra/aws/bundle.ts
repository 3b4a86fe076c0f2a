import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, build, transform } from 'esbuild';
import { lambdaNames, root, sharedPages, withEntries } from './bundle-entries.ts';
import { throughDoors } from './doors.ts';

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
  legalComments: 'none',
  // The SDK's search for credentials is 130 KB of code and takes 10 ms of every cold start.
  alias: { '@aws-sdk/credential-provider-node': join(root, 'infra/aws/credentials.ts') },
  absWorkingDir: root,
  logLevel: 'warning',
  plugins: [throughDoors],
} satisfies BuildOptions;

/**
 * Bundles Lambdas into folders in `outdir`. Returns the folders by the names of the Lambdas. Each
 * has index.cjs, the files that it loads.
 */
export function bundleFunctions(outdir: string, names = lambdaNames): Promise<Map<string, string>> {
  return withEntries(names, async (entries) => {
    const fileOf = (name: string) => join(entries, `${name}.js`);
    const whole = names.filter((name) => !sharedPages.has(name));
    await build({
      ...bundleOptions,
      entryPoints: Object.fromEntries(whole.map((name) => [`${name}/index`, fileOf(name)])),
      outdir: resolve(outdir),
    });
    for (const name of names) {
      const pages = sharedPages.get(name)?.map(({ operation }) => operation);
      if (pages) await bundleShared(resolve(outdir, name), fileOf, { name, pages });
    }
    return new Map(names.map((name) => [name, resolve(outdir, name)]));
  });
}

/**
 * Bundles pages that share a Lambda, with a file for each page and for what some pages share. A
 * page then loads as much as it would alone. esbuild splits ES modules only, so each is converted.
 */
async function bundleShared(
  directory: string,
  fileOf: (name: string) => string,
  { name, pages }: { name: string; pages: readonly string[] },
): Promise<void> {
  const { outputFiles } = await build({
    ...bundleOptions,
    format: 'esm',
    splitting: true,
    supported: {},
    outExtension: {},
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
    const { code } = await transform(text, asCommonJs);
    const file = path.replace(/\.js$/, '.cjs');
    writeFileSync(file, code.replaceAll(/\brequire\("(\.\/[\w-]+)\.js"\)/g, 'require("$1.cjs")'));
  }
}

/** Returns all code of a bundle. */
export function codeIn(directory: string): string {
  const files = readdirSync(directory).filter((file) => file.endsWith('.cjs'));
  return files.map((file) => readFileSync(join(directory, file), 'utf8')).join('');
}
