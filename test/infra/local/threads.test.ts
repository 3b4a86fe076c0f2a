import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { invoke } from '../../../infra/local/invoke.ts';
import { startThreads, type Threads } from '../../../infra/local/threads.ts';

const folder = mkdtempSync(join(tmpdir(), 'threads-test-'));
let threads: Threads | undefined;
afterEach(async () => {
  await threads?.stop();
});
afterAll(() => rmSync(folder, { recursive: true }));

const sources: Record<string, string> = {
  echo: `export const handler = (event, context) => ({ event, ...context, left: context.getRemainingTimeInMillis(), done: 0, fail: 0, succeed: 0, getRemainingTimeInMillis: 0 });`,
  refuse: `export const handler = async () => { throw new Error('Unauthorized'); };`,
  strange: `export const handler = () => ({ body() {} });`,
  leave: `export const handler = () => process.exit(1);`,
  broken: `export const handler = (;`,
  none: `export const other = 1;`,
  // Computes for so many milliseconds and gives nobody else a turn.
  spin: `import { threadId } from 'node:worker_threads';
    export const handler = (ms: number) => { const end = Date.now() + ms; while (Date.now() < end); return threadId; };`,
  wait: `import { threadId } from 'node:worker_threads';
    export const handler = async (ms: number) => { await new Promise((end) => setTimeout(end, ms)); return threadId; };`,
};
for (const [name, source] of Object.entries(sources)) {
  writeFileSync(join(folder, `${name}.ts`), source);
}

function startLoading(most: number): Threads['load'] {
  threads = startThreads(most, pathToFileURL(`${folder}/`));
  return threads.load;
}

function start(most: number) {
  const load = startLoading(most);
  return async (operation: string, event: unknown, timeout?: number) =>
    invoke(await load(operation), operation, event, timeout);
}

test('gives what a function returns, and tells it what Lambda does', async () => {
  const call = start(1);
  const event = { path: 'é', body: null, list: [1, { a: true }] };
  const result = (await call('echo', event, 5_000)) as Context & { event: unknown; left: number };
  expect(result.event).toEqual(event);
  expect(result.functionName).toBe('echo');
  expect(result.left).toBeGreaterThan(3_000);
  expect(result.left).toBeLessThanOrEqual(5_000);
});

test('throws what a function throws', async () => {
  const call = start(1);
  await expect(call('refuse', {})).rejects.toMatchObject({
    message: 'Unauthorized',
    stack: expect.stringContaining('refuse.ts'),
  });
  await expect(call('strange', {})).rejects.toMatchObject({ name: 'DataCloneError' });
});

test.each([
  ['nothing', 'functions/nothing.ts is missing'],
  ['none', 'functions/none.ts exports no handler'],
  ['broken', expect.stringMatching(/Expression expected|Unexpected token/)],
])('says what is wrong with the function %s before it is called', async (operation, message) => {
  await expect(startLoading(1)(operation)).rejects.toMatchObject({ message });
});

test('does with one thread for few calls, and takes another for many', async () => {
  const call = start(2);
  const many = (operation: string, count: number) =>
    Promise.all(Array.from({ length: count }, () => call(operation, 50)));
  expect(new Set(await many('wait', 3)).size).toBe(1);
  const used = new Set<unknown>();
  for (let i = 0; i < 100 && used.size < 2; i++) {
    for (const thread of await many('wait', 12)) used.add(thread);
  }
  expect(used.size).toBe(2);
  // Both compute at once now: two cores have four spins behind them in half the time, and one gives both turns.
  expect(new Set(await many('spin', 4)).size).toBe(2);
  for (let i = 0; i < 5; i++) for (const thread of await many('wait', 40)) used.add(thread);
  expect(used.size).toBe(2);
});

test('fails the calls of a thread that ends, and goes on with another', async () => {
  const call = start(1);
  const first = await call('wait', 0);
  const [waiting, leaving] = await Promise.allSettled([call('wait', 5_000), call('leave', {})]);
  const message = 'the thread that ran this function has ended';
  expect(waiting).toMatchObject({ status: 'rejected', reason: { message } });
  expect(leaving).toMatchObject({ status: 'rejected', reason: { message } });
  expect(await call('wait', 0)).not.toBe(first);
});

test('ends a thread whose function never ends, and answers all calls by others', async () => {
  const said = jest.spyOn(console, 'error').mockImplementation(() => {});
  const call = start(1);
  const stuck = await call('wait', 0);
  const endless = expect(call('spin', 3_600_000, 300)).rejects.toThrow('spin took over 300 ms');
  const beside = call('wait', 0);
  await endless;
  await expect(beside).rejects.toThrow('the thread that ran this function has ended');
  const used = await Promise.all(Array.from({ length: 20 }, () => call('wait', 0)));
  expect(new Set(used).size).toBe(1);
  expect(used).not.toContain(stuck);
  expect(said.mock.calls).toEqual([[expect.stringContaining('spin')]]);
});

test('keeps a thread whose function only waits for too long', async () => {
  const call = start(1);
  const first = await call('wait', 0);
  await expect(call('wait', 1_500, 100)).rejects.toThrow('wait took over 100 ms');
  const others = await Promise.all(Array.from({ length: 8 }, () => call('wait', 1_600)));
  expect(others.concat(await call('wait', 0))).toContain(first);
});

test('does not wait for a function that computes for ever', async () => {
  jest.spyOn(console, 'error').mockImplementation(() => {});
  const call = start(1);
  await expect(call('spin', 60_000, 300)).rejects.toThrow('spin took over 300 ms');
});
