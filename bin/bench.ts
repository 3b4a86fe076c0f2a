import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { startStack } from '../infra/local/stack.ts';

/** What the service costs: one table on stdout, the numbers in bench.json; exit status 1 when a budget is broken. */
const { reviews, writes, runs, rounds, ...rest } = new Command('bench')
  .option('--reviews <number>', 'how many reviews to seed, where there are none', Number, 200_000)
  .option('--writes <number>', 'how many random writes to send first', Number, 0)
  .option(
    '--data-dir <folder>',
    'keeps the data for the next time (default: .data/bench-<reviews>)',
  )
  .option('--runs <number>', 'how often each request is sent', Number, 15)
  .option('--rounds <number>', 'how often each bundle is started; 0 leaves them out', Number, 15)
  .parse()
  .opts<{ reviews: number; writes: number; dataDir?: string; runs: number; rounds: number }>();

const { dataDir = `.data/bench-${reviews}` } = rest;
const stack = await startStack({ port: 0, dataDir });
try {
  // Only now does the environment say where the database is.
  const { readLengths } = await import('../shared/list/totals.ts');
  const { writeAtRandom } = await import('./bench/writes.ts');
  const { benchLists, checkFlatness, someLists } = await import('./bench/lists.ts');
  const { checkLists } = await import('./bench/recount.ts');
  const { benchEndpoints } = await import('./bench/endpoints.ts');
  const { benchColdStarts } = await import('./bench/cold.ts');
  const { format, heading } = await import('./bench/table.ts');
  if ((await readLengths('users')).size === 0) {
    console.error(`Seeding ${reviews} reviews`);
    // In a process of its own: what it leaves in memory would slow down what is measured after it.
    const size = ['--reviews', `${reviews}`, '--users', `${Math.ceil(reviews / 40)}`];
    const admin = ['bin/admin.ts', '--data-dir', dataDir, 'seed', ...size];
    await promisify(execFile)(process.execPath, admin);
  }
  if (writes > 0) {
    console.error('Wrote at random:', await writeAtRandom(stack.url, writes));
    await stack.stream.idle();
  }

  console.log(heading);
  const show = (line: Parameters<typeof format>[0]) => console.log(format(line));
  const listed = await someLists();
  const lists = await benchLists(listed, runs, show);
  const endpoints = await benchEndpoints(runs, show);
  await stack.stream.idle();
  const faults = [...(await checkFlatness(runs)), ...(await checkLists(listed))];
  const coldStarts = rounds > 0 ? await benchColdStarts(rounds) : [];
  for (const { name, kilobytes, import: loading, firstCall } of coldStarts) {
    const numbers = [`${kilobytes} KB`, `${loading} ms import`, `${firstCall} ms first call`];
    console.log(name.padEnd(38), ...numbers.map((number) => number.padStart(20)));
  }

  const broken = [
    ...[...lists, ...endpoints].flatMap((line) =>
      line.broken.map((fault) => `${line.name}: ${fault}`),
    ),
    ...faults,
  ];
  writeFileSync(
    'bench.json',
    `${JSON.stringify({ lists, endpoints, coldStarts, broken }, null, 2)}\n`,
  );
  for (const fault of broken) console.error(`Over budget: ${fault}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
} finally {
  await stack.stop();
}
