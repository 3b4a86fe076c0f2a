import { type Cost, quantile } from './measure.ts';

/** One line of the table: a request, what it cost at the median of its runs, and what is over its budget, in words. */
export interface Line {
  name: string;
  read: number;
  write: number;
  roundTrips: number;
  /** Milliseconds, in which no command to the database was under way; and all. */
  ownP50: number;
  ownP95: number;
  totalP50: number;
  totalP95: number;
  broken: string[];
}

/** The most that a request may cost. Absent is not limited. */
export type Budget = Partial<Pick<Line, 'read' | 'write' | 'roundTrips' | 'ownP50'>>;

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
    ownP50: at((cost) => cost.own, 0.5),
    ownP95: at((cost) => cost.own, 0.95),
    totalP50: at((cost) => cost.total, 0.5),
    totalP95: at((cost) => cost.total, 0.95),
  };
  const broken = (['read', 'write', 'roundTrips', 'ownP50'] as const).flatMap((what) => {
    const most = quantile(
      runs.map(({ budget }) => budget[what] ?? Number.POSITIVE_INFINITY),
      0.5,
    );
    return line[what] > most ? [`${what} ${line[what]} > ${round(most)}`] : [];
  });
  return { ...line, broken };
}

/** A line as text, under `heading`. */
export function format(line: Line): string {
  const numbers = [
    line.read,
    line.write,
    line.roundTrips,
    line.ownP50,
    line.ownP95,
    line.totalP50,
    line.totalP95,
  ];
  return [
    line.name.padEnd(38),
    ...numbers.map((number) => `${round(number)}`.padStart(8)),
    line.broken.length > 0 ? `  OVER: ${line.broken.join('; ')}` : '',
  ].join('');
}

/** The head of the table. */
export const heading = [
  ''.padEnd(38),
  ...['RRU', 'WRU', 'trips', 'own p50', 'p95', 'all p50', 'p95'].map((name) => name.padStart(8)),
].join('');

/** With two decimals at most. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
