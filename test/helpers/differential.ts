/** Random writes and reads, made once and sent to two storages, whose outcomes must be equal. */
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../shared/base/errors.ts';
import { batchGet, batchWrite } from '../../shared/base/table/batch.ts';
import { metered } from '../../shared/base/table/budget.ts';
import { tableDefinition } from '../../shared/base/table/definition.ts';
import { type Item, type Key, keyString } from '../../shared/base/table/item.ts';
import {
  collect,
  getItem,
  queryIndex,
  queryItems,
  scanItems,
} from '../../shared/base/table/query.ts';
import { RefusedRequest } from '../../shared/base/table/rules.ts';
import { provideStorage, type Storage } from '../../shared/base/table/storage.ts';
import { StaleRead, transact, tryUpdate, update } from '../../shared/base/table/transact.ts';
import type { Condition, Test, Update, Write } from '../../shared/base/table/write.ts';
import './table.ts';

/** The result of a call: a value, or the kind of an error. */
type Outcome = { value: unknown } | { error: string };

/** An operation and its outcomes, where they differ. */
export interface Difference {
  operation: string;
  ours: Outcome;
  theirs: Outcome;
}

/** Sorts by UTF-8, in which DynamoDB compares keys. JavaScript compares UTF-16. */
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const pks = ['A', 'a', 'B', 'é', '\u{1f600}', '\uff5e', 'REVIEW#1'];
const sks = [
  'A',
  'a',
  'B',
  '\uff5e',
  '\u{1f600}',
  'REVIEW',
  'R',
  '0',
  '10',
  '9',
  "'",
  '"',
  '\\',
  '%',
];
const texts = ['', 'x', 'Zoë', '\u{1f600}', '\uff5e', '2026-01-01', '\u0001', 'a\nb', 'waiting'];
const numbers = [0, 1, -1, 2, 10, 0.5, -0.25, 1e15, Number.MAX_SAFE_INTEGER, 1234567.125];
const names = ['rating', 'name', 'state', 'version', 'count', 'kind', 'user_id', 'until'];
const partitions: Record<string, readonly string[]> = {
  all: ['R', 'r'],
  type: ['t1', 't2'],
  facet: ['f1', 'f\u{1f600}'],
  entity: ['e1', 'e2'],
  author: ['a1', 'a2'],
};

/** Makes operations from a seed. */
export class Generator {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  #random(): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (this.#state >>> 8) / 2 ** 23;
  }

  int(below: number): number {
    return Math.floor(this.#random() * below);
  }

  pick<T>(all: readonly T[]): T {
    return all[this.int(all.length)] as T;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  key(): Key {
    return { pk: this.pick(pks), sk: this.pick(sks) };
  }

  keys(most: number): Key[] {
    const keys = Array.from({ length: 1 + this.int(most) }, () => this.key());
    return [...new Map(keys.map((key) => [keyString(key), key])).values()];
  }

  rank(): bigint {
    const high = BigInt(this.int(7) - 3) * 10n ** 29n;
    return high + BigInt(this.int(1000)) * 10n ** 16n + BigInt(this.int(5));
  }

  value(depth = 0): unknown {
    const kind = this.int(depth > 2 ? 5 : 8);
    if (kind < 2) return this.pick(texts);
    if (kind < 4) return this.pick(numbers);
    if (kind === 4) return this.pick([true, false, null]);
    const parts = Array.from({ length: this.int(3) }, () => this.value(depth + 1));
    if (kind === 5) return [...parts, undefined];
    return Object.fromEntries(parts.map((part) => [this.pick(['k', 'size', 'name']), part]));
  }

  #date(): string {
    return `${2020 + this.int(5)}-0${1 + this.int(9)}${this.pick(['', '~', '\uff5e', '\u{1f600}'])}`;
  }

  item(key = this.key()): Item {
    const item: Item = { ...key };
    for (const [scope, values] of Object.entries(partitions)) {
      if (this.chance(0.5)) item[scope] = this.pick(values);
    }
    if (this.chance(0.8)) item.date = this.#date();
    if (this.chance(0.6)) item.popularity_rank = this.rank();
    for (let i = this.int(4); i > 0; i--) {
      const name = this.pick(names);
      item[name] = this.#valueOf(name);
    }
    if (this.chance(0.2)) item.expires_at = this.int(100);
    if (this.chance(0.2)) item.gone = undefined;
    return item;
  }

  #valueOf(name: string): unknown {
    if (name === 'kind' || name === 'user_id') return this.pick(texts);
    // What is added to is a whole number here. DynamoDB adds decimals exactly.
    if (name === 'version') return this.pick([0, 7, 'x', null]);
    return this.chance(0.3) ? undefined : this.value();
  }

  test(depth = 0): Test {
    const name = this.pick([...names, 'pk', 'date', 'deleted_at']);
    if (depth < 2 && this.chance(0.3)) {
      // A list of one alternative would need parentheses that DynamoDB refuses.
      return { any: [[this.test(depth + 1)], [this.test(depth + 1), this.test(depth + 1)]] };
    }
    if (this.chance(0.4)) return [name, this.pick(['present', 'absent', 'text'] as const)];
    const is = this.pick(['=', '<', '<=', '>', '>='] as const);
    return [name, is, this.pick([...texts.slice(1), ...numbers])];
  }

  condition({ pk }: Key): Condition {
    const condition: { -readonly [K in keyof Condition]: Condition[K] } = {};
    if (this.chance(0.4))
      condition.where = Array.from({ length: 1 + this.int(2) }, () => this.test());
    if (this.chance(0.3)) {
      const name = this.pick(names);
      condition.was = this.pick([
        { pk: undefined },
        { [name]: undefined },
        { [name]: this.value() },
        { pk },
      ]);
    }
    return condition;
  }

  update(Key = this.key()): Update {
    const left = names.toSorted(() => this.#random() - 0.5);
    const set: Record<string, unknown> = { at: this.int(100) };
    for (const name of left.splice(0, this.int(3))) {
      set[name] = this.#valueOf(name);
    }
    if (this.chance(0.3)) Object.assign(set, this.pick([{ date: '2021-05' }, { all: undefined }]));
    if (this.chance(0.3)) set.popularity_rank = this.rank();
    const begin = this.chance(0.3) ? { [left.shift() ?? '']: 'begun' } : {};
    const amounts: Record<string, number> = this.chance(0.5) ? { total: this.int(5) - 2 } : {};
    const isOwner = this.chance(0.2) && left.includes('version') ? { isOwner: true as const } : {};
    return { Key, set, begin, amounts, ...isOwner, ...this.condition(Key) };
  }

  writes(): Write[] {
    return this.keys(4).map((Key): Write => {
      const condition = this.condition(Key);
      const hasTests = condition.was !== undefined || condition.where !== undefined;
      switch (this.int(4)) {
        case 0:
          return { Put: { Item: this.item(Key), ...condition } };
        case 1:
          return { Update: this.update(Key) };
        case 2:
          return { Delete: { Key, ...condition } };
        default:
          return { ConditionCheck: { Key, ...(hasTests ? condition : { was: { pk: Key.pk } }) } };
      }
    });
  }
}

/** Compares a storage with DynamoDB, or what stands for it. */
export class Comparison {
  readonly differences: Difference[] = [];
  readonly operations: Record<string, number> = {};
  /** Reads whose units differ. */
  readonly units: string[] = [];
  readonly #storage: Storage;
  readonly #generator: Generator;

  constructor(storage: Storage, seed: number) {
    this.#storage = storage;
    this.#generator = new Generator(seed);
  }

  /** Makes and compares one random operation. */
  async step(): Promise<void> {
    const g = this.#generator;
    switch (g.int(10)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const writes = g.writes();
        return this.#both('transact', writes, () => transact(writes));
      }
      case 4: {
        const change = g.update();
        return this.#both('tryUpdate', change, () => tryUpdate(change));
      }
      case 5: {
        const { was: _, where: __, ...change } = g.update();
        return this.#both('update', change, async () => {
          // Of a new item, the emulator returns the keys, and DynamoDB nothing.
          const { pk: _, sk: __, ...before } = await update(change);
          return before;
        });
      }
      case 6: {
        const writes = g
          .keys(5)
          .map((key) => (g.chance(0.3) ? { delete: key } : { put: g.item(key) }));
        return this.#both('batchWrite', writes, () => batchWrite(writes));
      }
      case 7: {
        const keys = g.keys(6);
        const attributes = g.chance(0.4) ? ['name', 'popularity_rank'] : undefined;
        const options = { consistent: g.chance(0.5), attributes };
        await this.#both('batchGet', [keys, options], async () =>
          Object.fromEntries(await batchGet(keys, options)),
        );
        const [key] = keys;
        if (key) await this.#both('getItem', [key, options], () => getItem(key, options));
        return;
      }
      case 8:
        return this.#query();
      default:
        return this.#queryIndex();
    }
  }

  async #query(): Promise<void> {
    const g = this.#generator;
    const prefix = { pk: g.pick(pks), sk: g.pick(['', '', 'R', 'a']) };
    const [first, second] = [g.pick(sks), g.pick(sks)].sort(byBytes);
    const bounds = g.pick([{}, { after: first, until: second }]);
    const options = {
      descending: g.chance(0.5),
      consistent: g.chance(0.5),
      pageSize: 1 + g.int(4),
      attributes: g.chance(0.3) ? ['name'] : undefined,
      ...bounds,
    };
    await this.#both('queryItems', [prefix, options], () => collect(queryItems(prefix, options)));
  }

  async #queryIndex(): Promise<void> {
    const g = this.#generator;
    const { name, partitionKey, sortKey } = g.pick(tableDefinition.indexes);
    const partition = g.pick(partitions[partitionKey] ?? []);
    const bound = () => (sortKey === 'date' ? `202${g.int(5)}-0${1 + g.int(9)}` : g.rank());
    const bounds = [bound(), bound()] as const;
    const [low, high] = bounds[0] < bounds[1] ? bounds : bounds.toReversed();
    const range = g.pick([{}, { low }, { high }, { low, high }]);
    const options = { descending: g.chance(0.5), pageSize: 1 + g.int(5), range };
    await this.#both(`queryIndex ${sortKey}`, [name, partition, options], async () => {
      const entries = await collect(queryIndex(name, partition, options));
      // Entries of equal sort keys have no order.
      const equal = entries.map((entry) => JSON.stringify(plain(entry))).sort();
      return [entries.map((entry) => `${entry[sortKey]}`), equal];
    });
  }

  /** Compares all items. */
  async scan(): Promise<void> {
    await this.#both('scan', [], async () => {
      const all: Record<string, unknown> = {};
      for await (const { items } of scanItems({ pageSize: 7 })) {
        for (const item of items) all[keyString(item)] = item;
      }
      return all;
    });
  }

  /** Sends writes at once that commute, of which some must fail, and compares what is left. */
  async race(): Promise<void> {
    const { pk, sk } = this.#generator.key();
    const Key = { pk: `RACE#${pk}`, sk };
    const most = 1 + this.#generator.int(6);
    const spend = (): Write[] => [
      {
        Update: {
          Key,
          amounts: { spent: 1 },
          where: [{ any: [[['spent', 'absent']], [['spent', '<', most]]] }],
        },
      },
      { Update: { Key: { ...Key, sk: `${sk}#` }, amounts: { spent: 1 }, isOwner: true } },
    ];
    await this.#both('race', [Key, most], async () => {
      await batchWrite([{ delete: Key }, { delete: { ...Key, sk: `${sk}#` } }]);
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => transact(spend())));
      const left = [await getItem(Key), await getItem({ ...Key, sk: `${sk}#` })];
      return [
        results.filter(({ status }) => status === 'fulfilled').length,
        left.map((item) => item?.spent),
      ];
    });
  }

  async #both(name: string, input: unknown, run: () => Promise<unknown>): Promise<void> {
    this.operations[name] = 1 + (this.operations[name] ?? 0);
    const time = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(time);
    const ours = await outcomeOf(this.#storage, run);
    const theirs = await outcomeOf(undefined, run);
    clock.mockRestore();
    const operation = `${name} ${JSON.stringify(plain(input))}`;
    if (!isDeepStrictEqual(ours.outcome, theirs.outcome)) {
      this.differences.push({ operation, ours: ours.outcome, theirs: theirs.outcome });
    }
    if (ours.read !== theirs.read) this.units.push(`${operation}: ${ours.read}, ${theirs.read}`);
  }
}

async function outcomeOf(storage: Storage | undefined, run: () => Promise<unknown>) {
  provideStorage(storage);
  try {
    const { result, usage } = await metered(run);
    return { outcome: { value: plain(result) }, read: usage.read };
  } catch (error) {
    const isOurs = [StaleRead, ApiError, RefusedRequest].some((kind) => error instanceof kind);
    return { outcome: { error: isOurs ? (error as Error).constructor.name : 'refused' }, read: 0 };
  } finally {
    provideStorage(undefined);
  }
}

/** Numbers as text, and objects in one order. */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return `N${value || 0}`;
  if (Array.isArray(value)) return value.filter((part) => part !== undefined).map(plain);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => byBytes(a, b)).map(([k, v]) => [k, plain(v)]),
  );
}
