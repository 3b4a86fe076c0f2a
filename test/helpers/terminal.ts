import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Browser } from './browser.ts';
import { newFolder } from './folder.ts';
import { freePort } from './listen.ts';
import { root } from './service.ts';

/**
 * Starts the service as a reader does, in a home folder of its own and with the environment of a
 * new terminal. It stops with the test file.
 */
export async function startAsReader(...options: string[]) {
  const port = await freePort();
  const home = newFolder();
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: home, PORT: port, DATA_DIR: join(home, 'data') };
  const args = ['start', '--', '--memory', ...options];
  const service = spawn('npm', args, { cwd: root, env, detached: true });
  afterAll(async () => {
    process.kill(-(service.pid ?? 0), 'SIGTERM');
    await once(service, 'exit');
  });
  const last = options.includes('--demo') ? 'The demo is complete' : 'runs at';
  await new Promise<void>((resolve) => {
    service.stdout.on('data', (chunk) => `${chunk}`.includes(last) && resolve());
  });
  return { home, env, authUrl: `http://localhost:${port}/ws` };
}

/** Interactive shells without settings, as for a person who pastes commands. */
export const shells = [
  ['bash', '--norc', '--noprofile', '-i'],
  ['zsh', '-f', '-i'],
].filter(([name = '']) => spawnSync(name, ['--version']).status === 0);

/**
 * Pastes a script into a shell, which stops at the first command that fails. If a command leads to
 * the consent page, the person in `browser` allows access.
 */
export async function paste(
  script: string,
  [name = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  browser: Browser,
): Promise<{ stdout: string; stderr: string }> {
  // In a session of its own, the shell opens no terminal.
  const shell = spawn(name, args, { cwd: root, env, detached: true });
  shell.stdin.end(`set -e\n${script}`);
  let stderr = '';
  shell.stderr.on('data', async (chunk) => {
    stderr += chunk;
    const [page] = /http\S*\/oauth\/authorize\S*/.exec(`${chunk}`) ?? [];
    if (!page) return;
    await fetch((await browser.allow(await browser.visit(page))).url);
  });
  const [stdout] = await Promise.all([readAll(shell.stdout), once(shell, 'close')]);
  return { stdout, stderr };
}
