import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';

const imported = /^import (type )?\{([^}]*)\} from '([^']*\/public\.ts)';$/gm;
const exported = /^export (?:type )?\{([^}]*)\} from '([^']*)';$/gm;

const namesIn = (braces: string) =>
  braces.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));

/** Files by the names that a door exports of them. */
const doors = new Map<string, ReadonlyMap<string, string>>();

function filesBehind(door: string): ReadonlyMap<string, string> {
  const known = doors.get(door);
  if (known) return known;
  const exports = [...readFileSync(door, 'utf8').matchAll(exported)];
  const files = new Map(
    exports.flatMap(([, braces = '', path = '']) =>
      namesIn(braces).map((name) => [name.replace(/^type /, ''), path] as const),
    ),
  );
  doors.set(door, files);
  return files;
}

/** Returns code that imports what it takes through doors from the files behind them. */
export function withoutDoors(code: string, folder: string): string {
  return code.replaceAll(imported, (_, type = '', braces: string, path: string) => {
    const files = filesBehind(join(folder, path));
    return namesIn(braces)
      .map((name) => {
        // A whole module has no file behind the door.
        const [own = ''] = name.replace(/^type /, '').split(' as ');
        const file = files.get(own) ?? './public.ts';
        return `import ${type}{ ${name} } from '${dirname(path)}/${file}';`;
      })
      .join(' ');
  });
}

/**
 * A plugin of esbuild that looks through doors. Where it splits code, a file that imports a door
 * would load everything that anybody takes through it.
 */
export const throughDoors: Plugin = {
  name: 'doors',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](functions|infra|shared)[\\/].*\.ts$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      return { contents: withoutDoors(code, dirname(path)), loader: 'ts' };
    });
  },
};
