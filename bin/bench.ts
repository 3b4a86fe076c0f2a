import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { startStack } from '../infra/local/stack.ts';
import { overCosts } from './bench/costs.ts';
import { bundleSizes, overSizes } from './bench/sizes.ts';
import { beginStage } from './bench/stage.ts';
import { format, heading, type Line } from './bench/table.ts';

/** What the service costs: one table on stdout, the numbers in bench.json; exit status 1 when a budget is broken. */
const { reviews, writes, dataDir, runs } = new Command('bench')
  .option('--reviews <number>', 'how many reviews to seed, where there are none', Number, 200_000)
  .option('--writes <number>', 'how many random writes to send first', Number, 0)
  .option(
    '--data-dir <folder>',
    'keeps the data for the next time (default: .data/bench-<reviews>)',
  )
  .option('--runs <number>', 'how often each request is sent', Number, 15)
  .parse()
  .opts<{ reviews: number; writes: number; dataDir?: string; runs: number }>();

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
  const { measure } = await import('./bench/measure.ts');
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

  console.log(heading);
  const listed = await someLists();
  const onLists = beginStage('Lists');
  const lists = await benchLists(listed, runs, (line, share) => {
    console.log(format(line));
    onLists(share);
  });
  const endpoints = await benchEndpoints(runs, beginStage('Endpoints'));
  for (const line of endpoints) console.log(format(line));
  await stack.stream.idle();
  beginStage('Flatness');
  const faults = await checkFlatness();
  beginStage('Recount');
  faults.push(...(await checkLists(listed)));
  beginStage('Sizes');
  const sizes = bundleSizes();
  for (const [name, bytes] of sizes) console.log(name.padEnd(38), `${bytes} bytes`.padStart(15));

  const overBudget = ({ name, broken }: Line) => broken.map((fault) => `${name}: ${fault}`);
  const broken = [...lists, ...endpoints].flatMap(overBudget);
  broken.push(...overCosts(endpoints), ...faults, ...overSizes(sizes));
  const numbers = { lists, endpoints, sizes: Object.fromEntries(sizes), broken };
  writeFileSync('bench.json', `${JSON.stringify(numbers, null, 2)}\n`);
  for (const fault of broken) console.error(`Over budget: ${fault}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}
