import type { Cost } from './measure.ts';

/** A request, its cost at the median of its runs, and what is over its budget, in words. */
export interface Line {
  name: string;
  read: number;
  write: number;
  roundTrips: number;
  /** Milliseconds from the call to the answer. They are shown and not judged: they depend on what else the machine does. */
  total: number;
  broken: string[];
}

/** The most that a request may cost. Absent is not limited. */
export type Budget = Partial<Pick<Line, 'read' | 'write' | 'roundTrips'>>;

/** The cost of a request, and its budget. */
export interface Run {
  cost: Cost;
  budget: Budget;
}

/** Sums up the runs of a request, and their budgets. Throws when it was refused. */
export function toLine(name: string, runs: readonly Run[]): Line {
  const failed = runs.find(({ cost }) => cost.status !== 200)?.cost;
  if (failed) throw new Error(`${name}: ${failed.status} ${JSON.stringify(failed.body)}`);
  const at = (what: 'read' | 'write' | 'roundTrips' | 'total') =>
    median(runs.map(({ cost }) => cost[what]));
  const most = (what: keyof Budget) =>
    median(runs.map(({ budget }) => budget[what] ?? Number.POSITIVE_INFINITY));
  const line = {
    name,
    read: at('read'),
    write: at('write'),
    roundTrips: at('roundTrips'),
    total: at('total'),
  };
  const broken = (['read', 'write', 'roundTrips'] as const).flatMap((what) =>
    line[what] > most(what) ? [`${what} ${line[what]} > ${most(what)}`] : [],
  );
  return { ...line, broken };
}

/** A line as text, under `heading`. */
export function format({ name, read, write, roundTrips, total, broken }: Line): string {
  const over = broken.length > 0 ? `  OVER: ${broken.join('; ')}` : '';
  return row(name, [read, write, roundTrips, total]) + over;
}

export const heading = row('', ['RRU', 'WRU', 'trips', 'ms']);

function row(name: string, cells: readonly (string | number)[]): string {
  return name.padEnd(38) + cells.map((cell) => `${cell}`.padStart(8)).join('');
}

/** With two decimals at most. */
export function median(numbers: readonly number[]): number {
  const middle = numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
  return Math.round((middle ?? Number.NaN) * 100) / 100;
}
