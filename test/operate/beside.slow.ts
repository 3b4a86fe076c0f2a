import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { callerOf } from '../helpers/api.ts';
import { admin, fresh, makeToken, publish, root, type Service, start } from '../helpers/service.ts';

// The operator's tool beside a service with traffic.

const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
const dataDir = fresh('data');
let service: Service;
let token: string;

beforeAll(async () => {
  service = await start(dataDir, { options: ['--quiet', '--publications-per-day', '0'] });
  await admin(dataDir, ['seed', '--reviews', '3000', '--users', '100', '--entities', '200']);
  token = await makeToken(dataDir);
}, 300_000);

/** Milliseconds of requests, in ascending order. */
interface Times {
  reads: number[];
  writes: number[];
}

/** Sends requests one after the other, reads that nothing has kept and writes, while `isOn`. */
async function traffic(isOn: () => boolean): Promise<Times> {
  const call = callerOf(service.url, token);
  const times: Times = { reads: [], writes: [] };
  const timed = async (into: number[], send: () => Promise<unknown>) => {
    const began = performance.now();
    await send();
    into.push(performance.now() - began);
  };
  let offset = 0;
  while (isOn()) {
    for (let i = 0; i < 9; i++) {
      await timed(times.reads, async () => {
        const path = `/review/?limit=20&offset=${offset++ % 2_000}`;
        expect(await call('GET', path)).toHaveStatus(200);
      });
    }
    await timed(times.writes, () => publish(service.url, token));
  }
  for (const each of [times.reads, times.writes]) each.sort((a, b) => a - b);
  return times;
}

const p99 = (times: readonly number[]) => times[Math.floor(0.99 * times.length)] ?? 0;

/**
 * Measures the traffic beside a process, which is started anew while it takes too short. It ends
 * with one of these statuses.
 */
async function besideProcess(
  args: () => readonly string[],
  seconds: number,
  statuses: readonly number[] = [0],
): Promise<Times> {
  const deadline = performance.now() + 1_000 * seconds;
  let child: ChildProcess | undefined;
  let isOver = false;
  const running = (async () => {
    while (performance.now() < deadline) {
      child = spawn(process.execPath, args(), {
        cwd: root,
        env: { PATH, HOME, NODE_COMPILE_CACHE },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const timer = setTimeout(() => child?.kill('SIGKILL'), deadline - performance.now());
      const [code, signal] = await once(child, 'exit');
      clearTimeout(timer);
      expect(signal === null ? statuses : ['SIGKILL']).toContain(signal ?? code);
    }
  })().finally(() => {
    isOver = true;
  });
  const times = await traffic(() => !isOver);
  await running;
  return times;
}

test('a long audit, export or backup holds up no request', async () => {
  const tool = (...args: string[]) => ['bin/admin.ts', '--data-dir', dataDir, ...args];
  await traffic(() => performance.now() < 0);
  const measured = async (name: string, ...how: Parameters<typeof besideProcess>) => {
    const { reads, writes } = await besideProcess(...how);
    process.stderr.write(
      `p99 in ms beside ${name}: ${p99(reads).toFixed(1)} of a read, ${p99(writes).toFixed(1)} of a write\n`,
    );
    return { name, reads: p99(reads), writes: p99(writes), requests: reads.length };
  };
  // A neighbour that is as busy, and does not touch the data.
  const usual = await measured('a neighbour', () => ['--eval', 'for (;;);'], 15);
  const limits = { reads: 3 * usual.reads + 20, writes: 3 * usual.writes + 50 };
  for (const [name, args, statuses] of [
    // Numbers that writes keep changing cannot be checked, which is status 3.
    ['an audit', () => tool('audit'), [0, 3]],
    ['an export', () => tool('export', '--out', fresh('all.jsonl')), [0]],
    ['a backup', () => tool('backup', fresh('backup')), [0]],
  ] as const) {
    const first = await measured(name, args, 15, statuses);
    const isOver = first.reads > limits.reads || first.writes > limits.writes;
    // What the machine does meanwhile, and no tool, does not come twice.
    const { reads, writes, requests } = isOver ? await measured(name, args, 15, statuses) : first;
    expect([name, requests > 50]).toEqual([name, true]);
    expect([name, reads <= limits.reads]).toEqual([name, true]);
    expect([name, writes <= limits.writes]).toEqual([name, true]);
  }
}, 180_000);

test('consumers follow what the tool writes within a second', async () => {
  const count = async () => (await callerOf(service.url)('GET', '/review/?limit=0')).body.count;
  for (const verdict of ['hide', 'unhide']) {
    const id = await publish(service.url, token);
    const isListed = async () =>
      (await callerOf(service.url)('GET', '/review/?limit=1')).body.reviews[0]?.id === id;
    while (!(await isListed())) await sleep(20);
    if (verdict === 'unhide') await admin(dataDir, ['review', 'hide', id, '--reason', 'spam']);
    await sleep(1_000);
    const before = await count();
    await admin(dataDir, [
      'review',
      verdict,
      id,
      ...(verdict === 'hide' ? ['--reason', 'spam'] : []),
    ]);
    const began = performance.now();
    while ((await count()) === before && performance.now() - began < 10_000) await sleep(10);
    expect((await count()) - before).toBe(verdict === 'hide' ? -1 : 1);
    expect(performance.now() - began).toBeLessThan(1_000);
  }
});

test('nothing was lost or miscounted, and the service has logged nothing', async () => {
  expect(await admin(dataDir, ['audit'])).toMatchObject({ differences: 0 });
  expect(service.err).toEqual([]);
  expect(await service.end('SIGTERM')).toBe(0);
}, 60_000);
