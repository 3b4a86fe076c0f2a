import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, jest, test } from '@jest/globals';
import { connect } from '../../infra/local/connect.ts';

const { PATH, SIGNING_KEYS, NODE_COMPILE_CACHE } = process.env;
const root = fileURLToPath(new URL('../..', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'durability-'));
let child: ChildProcess | undefined;
afterAll(async () => {
  await end('SIGTERM');
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts a stack in a process of its own. Returns its base URL. */
async function start(): Promise<string> {
  child = spawn(process.execPath, ['bin/start.ts', '--port', '0', '--data-dir', dataDir], {
    cwd: root,
    env: { PATH, SIGNING_KEYS, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += chunk;
    const url = said.match(/runs at (\S+)/)?.[1];
    if (url) return url;
  }
  throw new Error(`the stack did not start: ${said}`);
}

async function end(signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** Imports modules that use the stack that runs now. */
async function fixtures() {
  connect(dataDir);
  jest.resetModules();
  return import('../helpers/fixtures.ts');
}

test('every acknowledged write survives kill -9, and all counts are right', async () => {
  let url = await start();
  const { makeGrant, makeUser, reviewBody } = await fixtures();
  const clients = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { access_token } = await makeGrant(await makeUser(), ['review', 'vote']);
      return { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' };
    }),
  );
  const send = (headers: Record<string, string>, method: string, path: string, body?: unknown) =>
    fetch(url + path, { method, headers, body: JSON.stringify(body) });

  const published: string[] = [];
  const votes = new Map<string, Record<string, string>>();
  let killed = false;
  await Promise.all(
    clients.map(async (headers) => {
      try {
        while (!killed) {
          const response = await send(headers, 'POST', '/review', reviewBody());
          if (response.status !== 200) throw new Error(`${response.status}`);
          const { id } = (await response.json()) as { id: string };
          published.push(id);
          const other = published.find((one) => one !== id && !votes.has(one));
          if (!other) continue;
          const voted = await send(headers, 'PUT', `/review/${other}/vote`, { vote: true });
          await voted.arrayBuffer();
          if (voted.status === 200) votes.set(other, headers);
          if (published.length >= 60 && !killed) {
            killed = true;
            await end('SIGKILL');
          }
        }
      } catch (error) {
        // Requests in flight are cut off. Acknowledged writes must not be lost.
        if (!killed) throw error;
      }
    }),
  );
  expect(published.length).toBeGreaterThanOrEqual(60);
  expect(votes.size).toBeGreaterThan(5);

  url = await start();
  for (const id of published) {
    expect((await send({}, 'GET', `/review/${id}`)).status).toBe(200);
  }
  for (const [id, headers] of votes) {
    expect((await send(headers, 'GET', `/review/${id}/vote`)).status).toBe(200);
  }
  await fixtures();
  const { differences } = await import('../helpers/recount.ts');
  // The consumers of the new process resume from the old position within moments.
  const deadline = Date.now() + 10_000;
  while ((await differences()).length > 0 && Date.now() < deadline);
  expect(await differences()).toEqual([]);
});
