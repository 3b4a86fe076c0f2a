import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { benchAgainst } from './bench/against.ts';
import { benchColdStarts } from './bench/cold.ts';
import { here, startHost, startService } from './bench/process.ts';
import { profile } from './bench/profile.ts';
import { beginStage } from './bench/stage.ts';

/** What the service costs: one table on stdout, the numbers in bench.json; exit status 1 when a budget is broken. */
const { dataDir: folder, ...options } = new Command('bench')
  .option('--reviews <number>', 'how many reviews to seed, where there are none', Number, 200_000)
  .option('--writes <number>', 'how many random writes to send first', Number, 0)
  .option(
    '--data-dir <folder>',
    'keeps the data for the next time (default: .data/bench-<reviews>)',
  )
  .option('--runs <number>', 'how often each request is sent', Number, 15)
  .option('--rounds <number>', 'how often each bundle is started; 0 leaves them out', Number, 15)
  .option(
    '--against <commit>',
    'compare CPU with another commit instead: both in turn, each with data that its own seed makes (in <data-dir>-<commit>). The other needs the route table, events and seed of this one, and these packages',
  )
  .option(
    '--profile <request>',
    'write a CPU profile of one request instead, such as list-reviews, and print where the time goes',
  )
  .parse()
  .opts<{
    reviews: number;
    writes: number;
    dataDir?: string;
    runs: number;
    rounds: number;
    against?: string;
    profile?: string;
  }>();
const { reviews, writes, runs, rounds, against: commit } = options;
const dataDir = folder ?? `.data/bench-${reviews}`;

if (commit !== undefined) {
  const compared = await benchAgainst({ commit, dataDir, reviews, runs, rounds });
  writeFileSync('bench.json', `${JSON.stringify(compared, null, 2)}\n`);
  process.exit();
}

const host = await startHost(here, dataDir, reviews);
const service = startService(here, host);
try {
  if (options.profile === undefined) await bench();
  else await profile(service, options.profile);
} finally {
  await service.stop();
  await host.stop();
}

async function bench(): Promise<void> {
  Object.assign(process.env, host.env);
  // Only now does the environment say where the database is.
  const { writeAtRandom } = await import('./bench/writes.ts');
  const { benchLists, checkFlatness, someLists } = await import('./bench/lists.ts');
  const { checkLists } = await import('./bench/recount.ts');
  const { benchEndpoints } = await import('./bench/endpoints.ts');
  const { cpuOf, measureCpu } = await import('./bench/cpu.ts');
  const { overCosts } = await import('./bench/costs.ts');
  const { steps } = await import('./bench/requests.ts');
  const { format, heading, withCpu } = await import('./bench/table.ts');
  if (writes > 0) {
    console.error('Wrote at random:', await writeAtRandom(host.url, writes));
    await host.idle();
  }

  console.log(heading);
  const show = (line: Parameters<typeof format>[0]) => console.log(format(line));
  const listed = await someLists();
  const onLists = beginStage('Lists');
  const onLine = (line: Parameters<typeof format>[0], share: number) => {
    show(line);
    onLists(share);
  };
  const lists = await benchLists(listed, runs, onLine, cpuOf(service));
  const counted = await benchEndpoints(runs, beginStage('Endpoints'));
  beginStage('CPU');
  let endpoints = counted;
  // What else the machine does makes requests slower, and never faster: what takes too much is measured again.
  for (let attempt = 1; attempt <= 3; attempt++) {
    const taken = (await measureCpu([service], steps, { rounds: runs, each: 10 })).flat();
    endpoints = counted.map((line, i) => {
      const before = endpoints[i];
      if (before?.cpu !== undefined && before.broken.length === line.broken.length) return before;
      const found = taken.find(({ name }) => name === line.name);
      return found ? withCpu(line, found.rounds) : line;
    });
    if (endpoints.every(({ broken }, i) => broken.length === counted[i]?.broken.length)) break;
  }
  endpoints.forEach(show);
  await host.idle();
  beginStage('Evenness');
  const faults = await checkFlatness(runs, cpuOf(service));
  beginStage('Recount');
  faults.push(...(await checkLists(listed)));
  if (rounds > 0) beginStage('Cold starts');
  const [coldStarts = []] = rounds > 0 ? await benchColdStarts([{ root: here, host }], rounds) : [];
  for (const { name, kilobytes, import: loading, firstCall, cpu } of coldStarts) {
    const numbers = [`${kilobytes} KB`, `${loading} ms import`, `${firstCall} ms first call`];
    numbers.push(`${cpu.median} ms CPU`);
    console.log(name.padEnd(38), ...numbers.map((number) => number.padStart(20)));
  }

  const broken = [
    ...[...lists, ...endpoints].flatMap((line) =>
      line.broken.map((fault) => `${line.name}: ${fault}`),
    ),
    ...overCosts(endpoints),
    ...faults,
  ];
  const numbers = { lists, endpoints, coldStarts, broken };
  writeFileSync('bench.json', `${JSON.stringify(numbers, null, 2)}\n`);
  for (const fault of broken) console.error(`Over budget: ${fault}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}
