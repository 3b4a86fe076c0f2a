import { Command } from 'commander';
import { startStack } from '../infra/local/stack.ts';
import { bundleSizes, overSizes } from './bench/sizes.ts';

/** What requests cost, a line each, and what is over its budget; exit status 1 when anything is. */
const { reviews, writes, dataDir } = new Command('bench')
  .option('--reviews <number>', 'how many reviews to seed, where there are none', Number, 200_000)
  .option('--writes <number>', 'how many random writes to send first', Number, 0)
  .option(
    '--data-dir <folder>',
    'keeps the data for the next time (default: .data/bench-<reviews>)',
  )
  .parse()
  .opts<{ reviews: number; writes: number; dataDir?: string }>();

const stack = await startStack({ port: 0, dataDir: dataDir ?? `.data/bench-${reviews}` });
try {
  await bench();
} finally {
  await stack.stop();
}

async function bench(): Promise<void> {
  // Only now does the environment say where the database is.
  const { seed } = await import('./seed.ts');
  const { benchEndpoints } = await import('./bench/endpoints.ts');
  const { benchLists, checkFlatness, someLists } = await import('./bench/lists.ts');
  const { format, heading, measure } = await import('./bench/measure.ts');
  const { checkLists } = await import('./bench/recount.ts');
  const { writeAtRandom } = await import('./bench/writes.ts');

  const { body } = await measure('list-users', { query: { limit: '0' } });
  if (body.count === 0) {
    console.error(`Seeding ${reviews} reviews into ${stack.dataDir}`);
    await seed({ reviews, users: Math.ceil(reviews / 40), seed: 1 });
  }
  if (writes > 0) {
    console.error('Wrote at random:', await writeAtRandom(writes));
    await stack.stream.idle();
  }

  const faults: string[] = [];
  const lists = await someLists();
  console.log(heading);
  for (const lines of [benchLists(lists), benchEndpoints()]) {
    for await (const line of lines) {
      console.log(format(line));
      faults.push(...line.broken);
    }
  }
  await stack.stream.idle();
  console.error('Comparing lists with the reviews');
  faults.push(...(await checkFlatness()), ...(await checkLists(lists)));
  const sizes = bundleSizes();
  for (const [name, bytes] of sizes) console.log(name.padEnd(38), `${bytes} bytes`.padStart(15));
  faults.push(...overSizes(sizes));
  for (const fault of faults) console.error(`Over budget: ${fault}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
