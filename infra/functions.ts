import { readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// The files under functions/: one handler each, in a folder for each kind of caller.

const folder = fileURLToPath(new URL('../functions', import.meta.url));

const files = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [parse(file).name, join(folder, file)]),
);

/** Names of all files under functions/, which are also those of the Lambdas. */
export const operations: readonly string[] = [...files.keys()];

/** Returns the path of the file of an operation. Throws if there is none. */
export function fileOf(operation: string): string {
  const file = files.get(operation);
  if (!file) throw new Error(`${operation} has no file under functions/`);
  return file;
}

/** Imports the file of an operation, with its exports. Rejects if there is none. */
export async function importFunction(operation: string) {
  // `import` takes addresses: a folder may have `#`, `%` or `?` in its name.
  return import(pathToFileURL(fileOf(operation)).href);
}
