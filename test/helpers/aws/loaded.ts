import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the bytes that Lambda loads of a function for a page, or for any request. */
export function loadedBytes(folder: string, page = 'index'): number {
  const loaded = new Map<string, number>();
  for (const name of ['index', page]) load(join(folder, `${name}.cjs`), loaded);
  return [...loaded.values()].reduce((sum, each) => sum + each, 0);
}

/** Adds the bytes of a file, and of those that it requires. */
function load(file: string, loaded: Map<string, number>): void {
  if (loaded.has(file)) return;
  const text = readFileSync(file, 'utf8');
  loaded.set(file, Buffer.byteLength(text));
  // A page is loaded when it is asked for, within a function.
  const required = text.matchAll(/(?<!\.then\(\(\)=>\w*\(?)\brequire\("\.\/([\w-]+\.cjs)"\)/g);
  for (const [, name = ''] of required) load(join(dirname(file), name), loaded);
}
