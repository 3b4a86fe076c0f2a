import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../../infra/local/stack.ts';

/**
 * Starts the service for one test file, with data in memory and without its log. It stops with the
 * file. It sets the environment that shared/ reads, so import modules of shared/ after it. A
 * stopped clock goes on after each test.
 */
export async function startTestStack(options: Partial<Parameters<typeof startStack>[0]> = {}) {
  for (const level of ['info', 'warn'] as const) {
    jest.spyOn(console, level).mockImplementation(() => {});
  }
  afterEach(() => {
    jest.useRealTimers();
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'stack-'));
  const stack = await startStack({ port: 0, dataDir, memory: true, ...options });
  afterAll(async () => {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { ...stack, authUrl: new URL('..', `${stack.url}/`).href.replace(/\/$/, '') };
}
