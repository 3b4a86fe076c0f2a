import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, jest } from '@jest/globals';
import { startStack } from '../../infra/local/stack.ts';

/**
 * Starts the service for one test file, with data in memory and without its log. It stops with the
 * file. It sets the environment that shared/ reads, so import modules of shared/ after it.
 */
export async function startTestStack(options: Partial<Parameters<typeof startStack>[0]> = {}) {
  jest.spyOn(console, 'info').mockImplementation(() => {});
  const dataDir = mkdtempSync(join(tmpdir(), 'stack-'));
  const stack = await startStack({ port: 0, dataDir, memory: true, ...options });
  afterAll(async () => {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { ...stack, authUrl: new URL('..', `${stack.url}/`).href.replace(/\/$/, '') };
}
