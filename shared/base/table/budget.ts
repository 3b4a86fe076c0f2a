import { AsyncLocalStorage } from 'node:async_hooks';
import { ApiError } from '../errors.ts';
import { countMetric } from '../metric.ts';
import { currentOperation, type Operation, runAs } from '../operation.ts';

// The use of the table by one request, and its limit. A host runs each function within the budget
// of its route, so no endpoint can be made that costs more, whatever the data.

/** The most that one request may use. */
export interface Budget {
  /** Read request units, as DynamoDB reports them (`ReturnConsumedCapacity`). */
  read: number;
  /** Commands that are sent, with those of a repeated transaction. */
  commands: number;
  /** Bytes of the table's answers. */
  bytes: number;
  /** Bytes of the answer to the client. */
  answer: number;
}

/** The use of the table so far. */
export interface Usage extends Budget {
  /** Write request units. A cancelled transaction reports none. */
  write: number;
}

const limited = ['read', 'commands', 'bytes', 'answer'] as const satisfies (keyof Budget)[];

interface Meter {
  usage: Usage;
  budget: Budget | undefined;
}

const meters = new AsyncLocalStorage<Meter>();

/** Thrown, as 503, by what makes a request pass its budget, and by every later command. */
export class OverBudget extends ApiError {
  override readonly name = 'OverBudget';

  constructor() {
    super(
      503,
      'service_unavailable',
      'This takes more than one request may read: ask for less, or follow the pages by their cursor',
    );
  }
}

/** Runs a function within a budget. Without a budget its use is counted only. */
export async function metered<T>(
  run: () => T | Promise<T>,
  budget?: Budget,
): Promise<{ result: T; usage: Usage }> {
  const usage = { read: 0, write: 0, commands: 0, bytes: 0, answer: 0 };
  const result = await meters.run({ usage, budget }, async () => run());
  return { result, usage };
}

/** Runs the handler of an operation within a budget. */
export function withinBudget<T>(
  operation: Operation,
  budget: Budget | undefined,
  run: () => T | Promise<T>,
): Promise<T> {
  return runAs(operation, async () => (budget ? (await metered(run, budget)).result : run()));
}

/** Returns true if commands are counted here. */
export function isMetered(): boolean {
  return meters.getStore() !== undefined;
}

/** Returns what the current request may still use, infinite where there is no budget. */
export function leftOf(what: keyof Budget): number {
  const { usage, budget } = meters.getStore() ?? {};
  return usage && budget ? budget[what] - usage[what] : Number.POSITIVE_INFINITY;
}

/** Returns what the current request has used so far, 0 where nothing is counted. */
export function usedOf(what: keyof Usage): number {
  return meters.getStore()?.usage[what] ?? 0;
}

/** Returns the share of the current request's budget that is used, 0 where there is none. */
export function shareUsed(): number {
  const { usage, budget } = meters.getStore() ?? {};
  if (!usage || !budget) return 0;
  return Math.max(...limited.map((what) => usage[what] / budget[what]));
}

/** Adds to the use of the current request. Throws `OverBudget` if it then exceeds the budget. */
export function use(amounts: Partial<Usage>): void {
  const meter = meters.getStore();
  if (!meter) return;
  const { usage, budget } = meter;
  for (const [what, amount] of Object.entries(amounts) as [keyof Usage, number][]) {
    usage[what] += amount;
  }
  if (!budget) return;
  const exceeded = limited.find((what) => usage[what] > budget[what]);
  if (exceeded === undefined) return;
  const operation = currentOperation()?.name;
  console.error({ message: 'Over budget', operation, exceeded, ...usage, budget });
  countMetric('OverBudget', 1, { isSummed: true });
  throw new OverBudget();
}
