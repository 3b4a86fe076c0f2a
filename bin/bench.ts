import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { startStack } from '../infra/local/stack.ts';

/** What the service costs: one table on stdout, the numbers in bench.json; exit status 1 when a budget of design.md is broken. */
const { reviews, dataDir, runs, rounds } = new Command('bench')
  .option('--reviews <number>', 'how many reviews to seed, where there are none', Number, 200_000)
  .option(
    '--data-dir <folder>',
    'keeps the data for the next time (default: .data/bench-<reviews>)',
  )
  .option('--runs <number>', 'how often each request is sent', Number, 15)
  .option('--rounds <number>', 'how often each bundle is started; 0 leaves them out', Number, 15)
  .parse()
  .opts<{ reviews: number; dataDir?: string; runs: number; rounds: number }>();

const stack = await startStack({ port: 0, dataDir: dataDir ?? `.data/bench-${reviews}` });
try {
  // Only now does the environment say where the database is.
  const { seed } = await import('./seed.ts');
  const { readUsersTotal } = await import('../shared/feed/totals.ts');
  const { benchLists, checkFlatness } = await import('./bench/lists.ts');
  const { benchEndpoints } = await import('./bench/endpoints.ts');
  const { benchColdStarts } = await import('./bench/cold.ts');
  const { format, heading } = await import('./bench/table.ts');
  if ((await readUsersTotal()) === 0) {
    console.error(`Seeding ${reviews} reviews`);
    await seed({ reviews, users: Math.ceil(reviews / 40), seed: 1 });
  }

  console.log(heading);
  const show = (line: Parameters<typeof format>[0]) => console.log(format(line));
  const lists = await benchLists(runs, show);
  const endpoints = await benchEndpoints(runs, show);
  const unevenness = await checkFlatness();
  const coldStarts = rounds > 0 ? await benchColdStarts(rounds) : [];
  for (const { name, kilobytes, import: loading, firstCall } of coldStarts) {
    const numbers = [`${kilobytes} KB`, `${loading} ms import`, `${firstCall} ms first call`];
    console.log(name.padEnd(38), ...numbers.map((number) => number.padStart(20)));
  }

  const broken = [
    ...[...lists, ...endpoints].flatMap((line) =>
      line.broken.map((fault) => `${line.name}: ${fault}`),
    ),
    ...unevenness,
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
