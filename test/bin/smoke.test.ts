import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const dataDir = mkdtempSync(join(tmpdir(), 'smoke-test-'));
let stack: ChildProcess | undefined;

afterAll(async () => {
  if (stack) {
    const end = once(stack, 'close');
    stack.kill('SIGTERM');
    await end;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

function smoke(...args: string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['bin/smoke.ts', ...args], { cwd }, (_, stdout) =>
      resolve({ code: child.exitCode ?? -1, stdout }),
    );
  });
}

async function startStack(): Promise<string> {
  const args = ['bin/start.ts', '--memory', '--port', '0', '--data-dir', dataDir];
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE };
  stack = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let said = '';
  for await (const chunk of stack.stdout ?? []) {
    said += chunk;
    const url = /runs at (\S+)/.exec(said)?.[1];
    if (url) return url;
  }
  throw new Error(said);
}

test('the local stack passes', async () => {
  const { code, stdout } = await smoke(await startStack());
  expect(stdout.split('\n').filter((line) => line.startsWith('FAILED'))).toEqual([]);
  expect(stdout).toMatch(/1\d passed, 0 failed/);
  expect(code).toBe(0);
});

test('a server that is another fails every check', async () => {
  const server = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { code, stdout } = await smoke(`http://127.0.0.1:${port}/ws/1`, '--token', 'rva_x');
  server.close();
  expect(stdout).toMatch(/\b0 passed, 1\d failed/);
  expect(code).toBe(1);
});

test('a service that is not there fails every check', async () => {
  const { code, stdout } = await smoke('http://127.0.0.1:9/ws/1');
  expect(stdout).toMatch(/\b0 passed/);
  expect(code).toBe(1);
});
