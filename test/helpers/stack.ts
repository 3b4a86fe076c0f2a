import { startStack } from '../../infra/local/stack.ts';
import { silenceAll } from './console.ts';
import { newFolder } from './folder.ts';

/**
 * Starts the service for one test file, with data in memory and without its log. It stops with the
 * file. It sets the environment that shared/ reads, so import modules of shared/ after it. A
 * stopped clock goes on after each test.
 */
export async function startTestStack(options: Partial<Parameters<typeof startStack>[0]> = {}) {
  silenceAll('info');
  silenceAll('warn');
  const own = { port: 0, dataDir: newFolder(), memory: true };
  const stack = await startStack({ ...own, ...options });
  afterAll(stack.stop);
  return { ...stack, authUrl: new URL('..', `${stack.url}/`).href.replace(/\/$/, '') };
}
