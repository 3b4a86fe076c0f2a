import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, jest } from '@jest/globals';
import { startStack } from '../../infra/local/stack.ts';

/**
 * The service at work for one test file, with its data in memory and without its log; it ends with the file. It sets what shared/ reads from the
 * environment: a file that uses both imports that after it.
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
