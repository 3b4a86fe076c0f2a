import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmulator } from '../helpers/emulator.ts';
import { newFolder } from '../helpers/folder.ts';
import { fresh, start } from '../helpers/service.ts';

/** Processes that keep both cores busy. */
const burners: ReturnType<typeof spawn>[] = [];
beforeAll(() => {
  for (let i = 0; i < 2; i++) {
    burners.push(spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }));
  }
});
afterAll(() => {
  for (const burner of burners) burner.kill();
});

/** Sends one request after the other. Returns the statuses, and how the last one ended. */
async function requestUntilRefused(url: string, agent: Agent) {
  const statuses = new Set<number | undefined>();
  for (;;) {
    try {
      const sent = get(url, { agent });
      const [response] = await once(sent, 'response');
      await once(response.resume(), 'end');
      statuses.add(response.statusCode);
    } catch (error) {
      return { statuses: [...statuses], end: (error as NodeJS.ErrnoException).code };
    }
  }
}

test.each([
  ['on kept connections', true],
  ['on a connection for each request', false],
])('ten stops on a busy machine cut no request of 16 clients %s', async (_, keepAlive) => {
  const dataDir = fresh('data');
  for (let round = 0; round < 10; round++) {
    const service = await start(dataDir, { options: ['--quiet'] });
    const agent = new Agent({ keepAlive });
    const url = `${service.url.replace('localhost', '127.0.0.1')}/review/`;
    const clients = Array.from({ length: 16 }, () => requestUntilRefused(url, agent));
    await sleep(1_000);
    const begin = performance.now();
    expect(await service.end('SIGTERM')).toBe(0);
    expect(performance.now() - begin).toBeLessThan(10_000);
    for (const { statuses, end } of await Promise.all(clients)) {
      expect(end).toBe('ECONNREFUSED');
      expect(statuses.filter((status) => status !== 200)).toEqual([]);
    }
    agent.destroy();
  }
});

test('a request sent while the service starts is answered', async () => {
  const dataDir = fresh('data');
  const first = await start(dataDir);
  const { port } = new URL(first.url);
  await first.end('SIGTERM');
  const starting = start(dataDir, { options: ['--port', port] });
  const signIn = `http://127.0.0.1:${port}/ws/account/sign-in`;
  const statuses = [];
  for (let isStarted = false; !isStarted; ) {
    const response = await fetch(signIn, { redirect: 'manual' }).catch(() => undefined);
    if (response) statuses.push(response.status);
    isStarted = response !== undefined;
    if (!isStarted) await sleep(5);
  }
  const service = await starting;
  expect(statuses).toEqual([303]);
  expect(service.err).toEqual([]);
  await service.end('SIGTERM');
});

test('health answers within three seconds while a DynamoDB hangs', async () => {
  const emulator = await startEmulator(join(newFolder(), 'emulator.sqlite'));
  const env = { DYNAMODB_ENDPOINT: emulator.endpoint };
  const service = await start(fresh('data'), { options: ['--quiet'], env });
  const health = new URL('/ws/health', service.url);
  expect(await fetch(health)).toHaveStatus(200);
  process.kill(emulator.pid, 'SIGSTOP');
  const begin = performance.now();
  const response = await fetch(health);
  expect(performance.now() - begin).toBeLessThan(3_000);
  expect(response).toHaveStatus(503);
  process.kill(emulator.pid, 'SIGCONT');
  await service.end('SIGTERM');
  await emulator.stop();
});
