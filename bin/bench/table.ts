import type { Cost } from './measure.ts';

/** CPU of a request in milliseconds, all of the process included, and what there is to compare it with: see `Floor`. */
export interface Cpu {
  cpu: number;
  least: number;
  bare: number;
  commands: number;
}

/** One line of the table: a request, what it cost at the median of its runs, and what is over its budget, in words. */
export interface Line extends Partial<Cpu> {
  name: string;
  read: number;
  write: number;
  roundTrips: number;
  /** Milliseconds from the call to the answer. They are shown and not judged: they depend on what else the machine does. */
  p50: number;
  p95: number;
  broken: string[];
}

/** The most that a request may cost. Absent is not limited. */
export type Budget = Partial<Pick<Line, 'read' | 'write' | 'roundTrips'>>;

/**
 * The most CPU that a request may take: so many times a bare command of the SDK for each of its own and for one more, and so many times
 * what no implementation goes without. Medians of pages are at 0.3 to 0.95 of it, of other requests below 0.85.
 */
export const cpuBudget = { bare: 1.25, least: 8 };

/** What a request has cost, and might. */
export interface Run {
  cost: Cost;
  budget: Budget;
}

/** Sums up the runs of a request, and their budgets. Throws when it was refused. */
export function toLine(name: string, runs: readonly Run[]): Line {
  const failed = runs.find(({ cost }) => cost.status !== 200)?.cost;
  if (failed) throw new Error(`${name}: ${failed.status} ${JSON.stringify(failed.body)}`);
  const at = (of: (cost: Cost) => number, share: number) =>
    round(
      quantile(
        runs.map(({ cost }) => of(cost)),
        share,
      ),
    );
  const line = {
    name,
    read: at((cost) => cost.read, 0.5),
    write: at((cost) => cost.write, 0.5),
    roundTrips: at((cost) => cost.roundTrips, 0.5),
    p50: at((cost) => cost.total, 0.5),
    p95: at((cost) => cost.total, 0.95),
  };
  const broken = (['read', 'write', 'roundTrips'] as const).flatMap((what) => {
    const most = quantile(
      runs.map(({ budget }) => budget[what] ?? Number.POSITIVE_INFINITY),
      0.5,
    );
    return line[what] > most ? [`${what} ${line[what]} > ${round(most)}`] : [];
  });
  return { ...line, broken };
}

/** The line with its CPU, at the median of several rounds, which is over its budget where the median of what is over is. */
export function withCpu(line: Line, rounds: readonly Cpu[]): Line {
  const at = (of: (cpu: Cpu) => number) => round(quantile(rounds.map(of), 0.5));
  const most = ({ bare, commands, least }: Cpu) =>
    cpuBudget.bare * bare * (commands + 1) + cpuBudget.least * least;
  const share = at((taken) => taken.cpu / most(taken));
  const isOver = share > 1;
  return {
    ...line,
    cpu: at(({ cpu }) => cpu),
    least: at(({ least }) => least),
    bare: at(({ bare }) => bare),
    commands: at(({ commands }) => commands),
    broken: [...line.broken, ...(isOver ? [`cpu is ${share} × what it may be`] : [])],
  };
}

/** A line as text, under `heading`. */
export function format(line: Line): string {
  const { read, write, roundTrips, cpu, bare, least, p50, p95 } = line;
  const numbers = [read, write, roundTrips, cpu, bare, least, p50, p95];
  return [
    line.name.padEnd(38),
    ...numbers.map((number) => `${number === undefined ? '' : round(number)}`.padStart(8)),
    line.broken.length > 0 ? `  OVER: ${line.broken.join('; ')}` : '',
  ].join('');
}

/** The head of the table. */
export const heading = [
  ''.padEnd(38),
  ...['RRU', 'WRU', 'trips', 'CPU ms', 'bare', 'least', 'p50', 'p95'].map((name) =>
    name.padStart(8),
  ),
].join('');

/** With two decimals at most. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Numbers in ascending order at a share of the way, such as 0.5 for the median. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
