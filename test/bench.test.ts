import { beforeAll, describe, expect, test } from '@jest/globals';
import { benchEndpoints } from '../bin/bench/endpoints.ts';
import { benchLists, someLists } from '../bin/bench/lists.ts';
import { sequence } from '../bin/bench/measure.ts';
import { toLine } from '../bin/bench/table.ts';
import { seed } from '../bin/seed.ts';

beforeAll(async () => {
  await seed({ reviews: 1200, users: 60, entities: 60, seed: 1 });
});

// The deterministic part of `npm run bench`: offsets beyond 400 are descended to, as in a large set.
describe('request units and round trips', () => {
  test('of every endpoint are within budget', async () => {
    const lines = await benchEndpoints(1, () => {}, false);
    expect(lines.flatMap(({ name, broken }) => broken.map((fault) => `${name}: ${fault}`))).toEqual(
      [],
    );
    expect(lines.find(({ name }) => name === 'get-review')?.read).toBe(2);
  });

  test('of lists are within budget at every offset', async () => {
    const lines = await benchLists(await someLists(), 1, () => {}, false);
    expect(lines.flatMap(({ name, broken }) => broken.map((fault) => `${name}: ${fault}`))).toEqual(
      [],
    );
    expect(lines.map(({ name }) => name)).toContain('all popularity @1000');
  });
});

describe('the measure', () => {
  test('counts calls that overlap as one round trip, and as ours the time without any', () => {
    const calls = [
      { start: 1, end: 4 },
      { start: 2, end: 5 },
      { start: 7, end: 9 },
    ];
    expect(sequence(calls, 10)).toEqual({ roundTrips: 2, total: 10, own: 4 });
  });

  test('names what is over its budget, and will not count a refusal', () => {
    const cost = { status: 200, read: 3, write: 0, roundTrips: 1, total: 5, own: 1, body: {} };
    const budget = { read: 2, roundTrips: 1 };
    expect(toLine('x', [{ cost, budget }]).broken).toEqual(['read 3 > 2']);
    expect(() => toLine('x', [{ cost: { ...cost, status: 400 }, budget }])).toThrow('x: 400');
  });
});
