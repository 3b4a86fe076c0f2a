import { existsSync } from 'node:fs';
import { benchColdStarts } from './cold.ts';
import { measureCpu, type Spread, spreadOf, type Taken } from './cpu.ts';
import { checkOut, type Host, here, type Service, startHost, startService } from './process.ts';
import { operationOf, pages, steps } from './requests.ts';
import { round } from './table.ts';

/** How this checkout and another commit are compared. */
export interface Comparison {
  commit: string;
  /** Of ours; the other's data lie beside it. */
  dataDir: string;
  reviews: number;
  /** How often all is sent, and how often each bundle is started. */
  runs: number;
  rounds: number;
}

/**
 * Prints, for each request and each cold start, the CPU that this checkout takes and that another commit takes, in turn within one run, and
 * the ratio of the two: its median over the rounds, its least and its most.
 */
export async function benchAgainst(comparison: Comparison): Promise<object> {
  const { commit, dataDir, reviews, runs, rounds } = comparison;
  const other = checkOut(commit);
  const undo: (() => unknown)[] = [() => other.remove()];
  try {
    const sides: { root: string; host: Host; service: Service }[] = [];
    for (const [root, folder] of [
      [here, dataDir],
      [other.root, `${dataDir}-${commit}`],
    ] as const) {
      const host = await startHost(root, folder, reviews);
      undo.push(() => host.stop());
      const service = startService(root, host);
      undo.push(() => service.stop());
      sides.push({ root, host, service });
    }
    const services = sides.map(({ service }) => service);
    // What the other commit does not have is compared with nothing.
    const common = [...pages, ...steps].filter((step) =>
      sides.every(({ root }) => existsSync(`${root}/functions/${operationOf(step)}.ts`)),
    );
    const taken = await measureCpu(services, common, { rounds: runs, each: 10 });
    console.log(row('CPU, ms a request', 'here', commit, 'ratio', 'low', 'high', 'floor', 'bare'));
    const requests = taken.map(([ours, theirs]) => {
      const of = (rounds: Taken['rounds'] = []) => rounds.map(({ cpu }) => cpu);
      const floor = (ours?.rounds ?? []).map(({ least }) => least);
      const bare = (ours?.rounds ?? []).map(({ bare, commands }) => bare * commands);
      return {
        ...compare(ours?.name ?? '', of(ours?.rounds), of(theirs?.rounds)),
        floor: spreadOf(floor).median,
        bare: spreadOf(bare).median,
      };
    });
    for (const line of requests) console.log(format(line), cell(line.floor) + cell(line.bare));
    const [ours = [], theirs = []] = rounds > 0 ? await benchColdStarts(sides, rounds) : [];
    console.log(row('CPU, ms a cold start', 'here', commit, 'ratio', 'low', 'high'));
    const coldStarts = ours.map(({ name, cpu }, i) =>
      compare(name, cpu.taken, theirs[i]?.cpu.taken ?? []),
    );
    for (const line of coldStarts) console.log(format(line));
    return { commit, requests, coldStarts };
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

interface Compared {
  name: string;
  ours: number;
  theirs: number;
  ratio: Spread;
}

function compare(name: string, ours: readonly number[], theirs: readonly number[]): Compared {
  const ratio = spreadOf(ours.map((cpu, i) => cpu / (theirs[i] ?? Number.NaN)));
  return { name, ours: spreadOf(ours).median, theirs: spreadOf(theirs).median, ratio };
}

function format({ name, ours, theirs, ratio }: Compared): string {
  return row(name, ...[ours, theirs, ratio.median, ratio.low, ratio.high].map(round));
}

function row(name: string, ...cells: readonly (string | number)[]): string {
  return [name.padEnd(34), ...cells.map(cell)].join('');
}

function cell(value: string | number): string {
  return `${typeof value === 'number' ? round(value) : value}`.slice(0, 9).padStart(10);
}
