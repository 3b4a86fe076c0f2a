import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runAudit } from '../../bin/audit.ts';
import { seed } from '../../bin/seed.ts';
import { handler as updateAggregates } from '../../functions/background/update-aggregates.ts';
import { createTable } from '../../infra/local/table.ts';
import { consumers, isFor } from '../../shared/background/consumers.ts';
import { readHealth } from '../../shared/health/health.ts';
import { isBulkUnfinished } from '../../shared/transfer/bulk.ts';
import { dataDir, root, spawnAdmin } from '../helpers/admin.ts';
import { fakeAws } from '../helpers/aws/fake-aws.ts';
import { scanTable } from '../helpers/items.ts';
import { readStream } from '../helpers/stream.ts';
import { makeUser, visitor } from '../helpers/world.ts';

const reviews = 1_000;
const folder = mkdtempSync(join(tmpdir(), 'paused-'));
const file = join(folder, 'everything.jsonl.gz');
const running = new Set<ChildProcess>();
const aws = await fakeAws();

beforeAll(async () => {
  // The source is another table of the same database.
  const source = `${process.env.TABLE_NAME}-source`;
  const target = `${process.env.TABLE_NAME}`;
  await createTable(`${process.env.AWS_ENDPOINT_URL_DYNAMODB}`, source);
  process.env.TABLE_NAME = source;
  await seed({ reviews, users: 60, seed: 7 });
  aws.tableName = source;
  const { stderr, code } = await onStack('export', '--out', file);
  expect([code, stderr]).toEqual([0, '']);
  process.env.TABLE_NAME = target;
  aws.tableName = target;
});
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

/** Runs the admin tool on the stack. */
function onStack(...args: string[]) {
  return spawnAdmin(['--stack', 'reviews', ...args], '', aws.environment);
}

const importing = ['import', '--pause-consumer', '--yes'];

async function countReviews() {
  return (await scanTable()).filter(({ sk }) => sk === 'REVIEW').length;
}

describe('import --pause-consumer', () => {
  test('is refused while others write, and for a stack on this machine', async () => {
    const ann = await makeUser();
    const review = await ann.publishes({ rating: 4 });
    const ben = await makeUser();
    await ben.votes(review, 'up');
    await deliver();
    const { code, stderr } = await onStack(...importing, file);
    expect([code, stderr]).toEqual([
      1,
      'Error: somebody wrote to the service 0 minutes ago: wait until it is quiet, or add --beside-traffic. Lists then lag until the end of the import\n',
    ]);
    expect(aws.mapping.state).toBe('Enabled');
    expect(await isBulkUnfinished()).toBe(false);
    const here = await spawnAdmin([...importing, file], dataDir);
    expect(here.code).toBe(2);
    expect(here.stderr).toContain("option '--pause-consumer' works with '--stack' only");
  });

  test('is killed, goes on, and its records change nothing when the consumer sees them', async () => {
    const child = spawn(
      process.execPath,
      ['bin/admin.ts', '--stack', 'reviews', ...importing, '--beside-traffic', file],
      { cwd: root, env: { ...environment(), ...aws.environment } },
    );
    running.add(child);
    const stderr = text(child.stderr);
    const ended = once(child, 'exit');
    const already = aws.transactions;
    while (aws.transactions < already + 60 && child.exitCode === null) await sleep(20);
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
    expect(await stderr).toMatch(
      /^60 accounts, 1000 reviews and \d+ votes take at least \d+ minutes at \d+ write units a second, and cost about \$0\.0\d\n$/,
    );
    const half = await countReviews();
    expect(half).toBeGreaterThan(1);
    expect(half).toBeLessThan(reviews);

    expect(aws.mapping.state).toBe('Disabled');
    expect((await readHealth()).faults).toContain(
      'An import is not finished. Lists and counts are incomplete until it is',
    );
    expect(await onStack('audit')).toMatchObject({ code: 1 });
    const ordinary = await onStack('import', file);
    expect(ordinary.stderr).toContain('repeat it with that option');

    const cid = await makeUser();
    const own = await cid.publishes({ rating: 2 });
    const { body } = await visitor.lists({ limit: '2' });
    const other = body.reviews.find(({ id }: { id: string }) => id !== own);
    await cid.votes(other.id, 'up');

    const resumed = await onStack(...importing, file);
    expect(resumed.stderr).toContain('An earlier import was interrupted: this import goes on');
    expect(resumed.code).toBe(0);
    const result = JSON.parse(resumed.stdout);
    expect(result.present.review).toBeGreaterThan(0);
    expect(result.present.review + result.written.review).toBe(reviews);
    expect(result.totals.reviews).toBe(reviews + 2);
    expect(aws.mapping.state).toBe('Enabled');
    expect(await isBulkUnfinished()).toBe(false);

    // The stream has kept every record. Each batch comes twice.
    const before = await lists();
    expect(before.count).toBe(reviews + 2);
    const delivered = await deliver();
    expect(delivered).toBeGreaterThan(reviews);
    expect(await lists()).toEqual(before);
    expect(await runAudit({})).toMatchObject({ differences: 0, changing: 0 });
    // Mirrors are told about all of them.
    const changes = (await scanTable()).flatMap((item) => (item.changes ?? []) as string[]);
    const logged = new Set(changes.map((change) => change.split(' ')[0]));
    expect(logged.size).toBe(reviews + 2);
    expect((await readHealth()).faults.join()).not.toContain('import');
  }, 300_000);

  test('is given up by a rebuild', async () => {
    const child = spawn(
      process.execPath,
      ['bin/admin.ts', '--stack', 'reviews', ...importing, '--beside-traffic', file],
      { cwd: root, env: { ...environment(), ...aws.environment }, stdio: 'ignore' },
    );
    running.add(child);
    while (aws.mapping.state === 'Enabled' && child.exitCode === null) await sleep(50);
    child.kill('SIGKILL');
    expect(await isBulkUnfinished()).toBe(true);
    expect(await onStack('aggregates', 'rebuild')).toMatchObject({ code: 0 });
    expect(aws.mapping.state).toBe('Enabled');
    expect(await isBulkUnfinished()).toBe(false);
    const before = await lists();
    await deliver();
    expect(await lists()).toEqual(before);
  });
});

async function lists() {
  const { body } = await visitor.lists({ offset: '700', limit: '50' });
  return { count: body.count, ids: body.reviews.map(({ id }: { id: string }) => id) };
}

function environment() {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, NODE_COMPILE_CACHE };
}

/** Delivers what the stream has kept, as AWS does: up to 1,000 records in a batch, and twice. */
async function deliver(): Promise<number> {
  const consumer = consumers.find(({ operation }) => operation === 'update-aggregates');
  if (!consumer) throw new Error('There is no such consumer');
  const due = (await readStream()).filter((record) => isFor(consumer, record));
  for (let first = 0; first < due.length; first += 1_000) {
    const Records = due.slice(first, first + 1_000);
    for (let time = 0; time < 2; time++) {
      expect(await updateAggregates({ Records })).toEqual({ batchItemFailures: [] });
    }
  }
  return due.length;
}
