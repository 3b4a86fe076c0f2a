import { beforeAll, describe, expect, test } from '@jest/globals';
import { benchEndpoints } from '../bin/bench/endpoints.ts';
import { benchLists, someLists } from '../bin/bench/lists.ts';
import { roundTripsIn } from '../bin/bench/measure.ts';
import { operationOf, pages, steps } from '../bin/bench/requests.ts';
import { beginStage } from '../bin/bench/stage.ts';
import { toLine, withCpu } from '../bin/bench/table.ts';
import { seed } from '../bin/seed.ts';
import { routes } from '../shared/routes.ts';

process.env.AUTH_URL = 'https://api.example/ws';

beforeAll(async () => {
  await seed({ reviews: 1200, users: 60, entities: 60, seed: 1 });
});

// The deterministic part of `npm run bench`: offsets beyond 400 are descended to, as in a large set.
describe('request units and round trips', () => {
  test('of every endpoint are within budget', async () => {
    const lines = await benchEndpoints(1);
    expect(lines.flatMap(({ name, broken }) => broken.map((fault) => `${name}: ${fault}`))).toEqual(
      [],
    );
    expect(lines.find(({ name }) => name === 'get-review')?.read).toBe(2);
  });

  test('are bounded for every endpoint of the API that uses the table', () => {
    const measured = new Set([...steps, ...pages].map(operationOf));
    const missing = routes.filter(
      ({ operation, table, base }) =>
        base === undefined && table !== 'none' && !measured.has(operation),
    );
    expect(missing.map(({ operation }) => operation)).toEqual([]);
  });

  test('of lists are within budget at every offset', async () => {
    const shares: number[] = [];
    const lines = await benchLists(await someLists(), 1, (_, share) => shares.push(share));
    // It says how far it is, and at the end that it is there.
    expect(shares).toEqual(shares.map((_, i) => (i + 1) / shares.length));
    expect(lines.flatMap(({ name, broken }) => broken.map((fault) => `${name}: ${fault}`))).toEqual(
      [],
    );
    expect(lines.map(({ name }) => name)).toContain('all popularity @1000');
  });
});

test('a stage says which it is, how far it is and how long the rest takes', () => {
  const said: string[] = [];
  let time = 0;
  const tell = beginStage('Endpoints', { write: (line) => said.push(line), now: () => time });
  for (const [at, share] of [
    [5_000, 0.01],
    [20_000, 0.1],
    [25_000, 0.2],
    [60_000, 0.5],
  ] as const) {
    time = at;
    tell(share);
  }
  expect(said).toEqual([
    '2 of 6: Endpoints',
    '2 of 6: Endpoints: 10 %, about 3 minutes left',
    '2 of 6: Endpoints: 50 %, about 60 seconds left',
  ]);
});

describe('the measure', () => {
  test('counts calls that overlap as one round trip', () => {
    const calls = [
      { start: 1, end: 4 },
      { start: 2, end: 5 },
      { start: 7, end: 9 },
    ];
    expect(roundTripsIn(calls)).toBe(2);
  });

  const cost = { status: 200, read: 3, write: 0, roundTrips: 1, total: 5, body: {} };

  test('names what is over its budget, and will not count a refusal', () => {
    const budget = { read: 2, roundTrips: 1 };
    expect(toLine('x', [{ cost, budget }]).broken).toEqual(['read 3 > 2']);
    expect(() => toLine('x', [{ cost: { ...cost, status: 400 }, budget }])).toThrow('x: 400');
  });

  test('judges CPU by what was measured beside it, at the median', () => {
    const line = toLine('x', [{ cost, budget: {} }]);
    const calm = { cpu: 2, bare: 1, commands: 1, least: 0.25 };
    const busy = { cpu: 40, bare: 20, commands: 1, least: 5 };
    expect(withCpu(line, [calm, busy]).broken).toEqual([]);
    expect(withCpu(line, [calm, calm, { ...calm, cpu: 99 }]).broken).toEqual([]);
    expect(withCpu(line, [{ ...calm, cpu: 9 }]).broken).toEqual(['cpu is 2 × what it may be']);
  });
});
