import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './service.ts';

/** Programs by others that say what they think of the service. */
export const folder = join(root, 'test/opinions');

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: folder, stdio: 'pipe' });

/**
 * Makes the Python of the programs ready, once for each list of pinned packages. Returns the path
 * of a command. Test files run side by side, so one of them installs and the others wait.
 */
export function preparePython(command: string): string {
  const install = 'python3 -m venv .venv && .venv/bin/python -m pip install -q -r requirements.txt';
  const made = 'cp requirements.txt .venv/installed.txt';
  const isMade = 'cmp -s requirements.txt .venv/installed.txt';
  run('flock', 'requirements.txt', 'sh', '-c', `${isMade} || { ${install} && ${made}; }`);
  return join(folder, '.venv/bin', command);
}

/** Gets the HTML checker with all that it needs. Returns the class path. */
export function prepareChecker(): string {
  const jars = join(folder, 'target/lib');
  const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${jars}`];
  if (!existsSync(jars)) run('mvn', '--quiet', '--batch-mode', ...copy);
  return `${jars}/*`;
}

/**
 * Defines tests that need a program of this machine. Without it, or if what it prints does not
 * match, they are left out with a word.
 */
export function describeWith(
  [command = '', ...args]: readonly string[],
  printed: RegExp,
  title: string,
  define: () => void,
): void {
  const { stdout, status } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === 0 && printed.test(stdout)) describe(title, define);
  else test.skip(`${title}: left out, because ${command} is missing or too old`, () => {});
}
