/**
 * Gives a test file moto, an implementation of DynamoDB in Python, in place of SQLite. Import it
 * before all else. Without Python the file has SQLite, and `isMotoThere` is false.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../languages/moto', import.meta.url));
const program = (name: string) => join(folder, '.venv/bin', name);

export const isMotoThere = spawnSync('python3', ['-c', 'import venv, ensurepip']).status === 0;
if (isMotoThere) process.env.WITH_MOTO = '1';

/** Starts moto, whose version is pinned. Returns its address. */
export async function startMoto(): Promise<{ endpoint: string; stop(): void }> {
  if (!existsSync(program('moto_server'))) {
    execFileSync('python3', ['-m', 'venv', '.venv'], { cwd: folder });
    const install = ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt'];
    execFileSync(program('python'), install, { cwd: folder });
  }
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  const options = ['-H', '127.0.0.1', '-p', `${port}`];
  const server = spawn(program('moto_server'), options, { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 600; i++) {
    const response = await fetch(`${endpoint}/moto-api/`).catch(() => undefined);
    if (response) return { endpoint, stop: () => void server.kill() };
    await sleep(100);
  }
  throw new Error('moto did not start within a minute');
}
