import { benchCpu, toCpuLine } from '../bin/bench/cpu.ts';
import { seed } from '../bin/seed.ts';
import './helpers/table.ts';

beforeAll(() => seed({ reviews: 300, users: 60, entities: 20, seed: 1 }));

test('names what takes more CPU than its budget', () => {
  expect(toCpuLine('show-home', 11.9, 3)).toMatchObject({ milliseconds: 11.9, broken: [] });
  expect(toCpuLine('show-home', 12.6, 3).broken).toEqual([
    'show-home: CPU is 4.20 of a read of 50 reviews > 4',
  ]);
  expect(toCpuLine('read of 50 reviews', 3, 3).broken).toEqual([]);
});

test('finds the CPU of pages and lists', async () => {
  const began = process.cpuUsage();
  const lines = await benchCpu({ turns: 4 });
  const { user, system } = process.cpuUsage(began);
  expect(lines.map(({ name }) => name)).toEqual([
    'read of 50 reviews',
    'get-review',
    'list-reviews',
    'show-home',
    'show-review',
    'show-entity',
  ]);
  for (const { milliseconds } of lines) expect(milliseconds).toBeGreaterThan(0);
  // Eight turns of 20 requests of each kind, in microseconds.
  const sum = lines.reduce((total, { milliseconds }) => total + milliseconds, 0);
  expect(sum * 20 * 4).toBeLessThan((user + system) / 1_000);
});
