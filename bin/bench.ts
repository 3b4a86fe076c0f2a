import { Command } from 'commander';
import { storage } from '../shared/base/table/storage.ts';

/**
 * Prints the cost of each request and what exceeds its budget. Exit status 1 if anything does. A
 * DynamoDB at DYNAMODB_ENDPOINT tells write units and round trips, SQLite the CPU.
 */
const { reviews, dataDir } = new Command('bench')
  .option('--reviews <number>', 'the number of reviews to seed, if there are none', Number, 200_000)
  .option(
    '--data-dir <folder>',
    'the folder that keeps the data for the next run (default: .data/bench-<reviews>)',
  )
  .parse()
  .opts<{ reviews: number; dataDir?: string }>();

// One request adds a film. Whatever is imported before this does not know the type.
process.env.OWN_TYPES ??= 'film:Film';
const { startStack } = await import('../infra/local/stack.ts');
const stack = await startStack({ port: 0, dataDir: dataDir ?? `.data/bench-${reviews}` });
try {
  // Imported here because the stack sets the address of the database in the environment.
  const { runAudit } = await import('./audit.ts');
  const { seed } = await import('./seed.ts');
  const { checkLists } = await import('./bench/check-lists.ts');
  const { benchLists, checkFlatness, someLists } = await import('./bench/lists.ts');
  const { measure } = await import('./bench/measure.ts');
  const { benchWebhooks } = await import('./bench/webhooks.ts');
  const { benchCpu } = await import('./bench/cpu.ts');
  const { benchEndpoints } = await import('./bench/requests.ts');

  const { body } = await measure('list-users', { query: { limit: '0' } });
  if (body.count === 0) {
    console.error(`Seeding ${reviews} reviews into ${stack.dataDir}`);
    // Fewer than 40 users would need more entities, because a user reviews an entity only once.
    await seed({ reviews, users: Math.max(40, Math.ceil(reviews / 40)), seed: 1 });
  }

  const failures: string[] = [];
  const lists = await someLists();
  print('', 'RRU', ...(storage() ? [] : ['WRU', 'trips']));
  for (const lines of [benchLists(lists), benchEndpoints(), benchWebhooks()]) {
    for await (const { name, read, write, roundTrips, broken } of lines) {
      print(name, read, ...(storage() ? [] : [write, roundTrips]));
      failures.push(...broken);
    }
  }
  await stack.stream.idle();
  for (const { name, milliseconds, broken } of storage() ? await benchCpu() : []) {
    print(`${name}, ms of CPU`, milliseconds.toFixed(2));
    failures.push(...broken);
  }
  console.error('Comparing the lists with the reviews');
  failures.push(...(await checkFlatness()), ...(await checkLists(lists)));
  console.error('Comparing the counts with the reviews');
  await runAudit();
  for (const failure of failures) console.error(`Over budget: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
} finally {
  await stack.stop();
}

function print(name: string, ...cells: (string | number)[]): void {
  console.log(name.padEnd(38) + cells.map((cell) => `${cell}`.padStart(8)).join(''));
}
