import '../helpers/engine.ts';
import { measure, measureCalmly } from '../../bin/bench/measure.ts';
import { listed } from '../../bin/bench/oracle.ts';
import { expectSmallItems } from '../helpers/sizes.ts';
import { makeWidestLists, type WidestLists } from '../helpers/widest.ts';
import { idsOf } from '../helpers/world.ts';

let widest: WidestLists;

beforeAll(async () => {
  widest = await makeWidestLists();
}, 1_800_000);

type Query = Record<string, string>;

const product = (...lists: Query[][]) =>
  lists.reduce(
    (all, list) => all.flatMap((one) => list.map((other) => ({ ...one, ...other }))),
    [{}],
  );

const types: Query[] = [
  {},
  { entity_type: 'work' },
  { entity_type: 'musicdb' },
  { entity_type: 'bookdb' },
];
const spoken: Query[] = [{}, { language: 'af' }, { language: 'zu' }];
const contents: Query[] = [{}, { review_type: 'review' }, { review_type: 'rating' }];
const stars: Query[] = [{}, { rating: '1' }, { rating: '4,5' }];
const sorts = [{ sort: 'published_on' }, { sort: 'popularity' }];
const orders = [{ sort_order: 'desc' }, { sort_order: 'asc' }];

const mostTrips = 6;

/** Measures again what a busy machine may have counted twice. */
async function measured(query: Query) {
  const cost = await measure('list-reviews', { query });
  return cost.roundTrips > mostTrips ? measureCalmly('list-reviews', { query }) : cost;
}

/** The cost of pages at five places of a list, each compared with the reviews themselves. */
async function look(query: Query) {
  const expected = listed(widest.reviews, query).map(({ id }) => id);
  const { length } = expected;
  const offsets = new Set([0, 60, length >> 1, length - 60].filter((offset) => offset >= 0));
  const costs = [];
  for (const offset of offsets) {
    const cost = await measured({ ...query, offset: `${offset}` });
    const ids = idsOf(cost.body.reviews);
    expect({ query, offset, count: cost.body.count, ids }).toEqual({
      query,
      offset,
      count: length,
      ids: expected.slice(offset, offset + 50),
    });
    costs.push({ ...cost, at: `${new URLSearchParams(query)} @${offset}` });
    if (offset === 0 && cost.body.next) {
      const next = await measured({ ...query, cursor: cost.body.next });
      expect(next.body.reviews[0]?.id).toBe(expected[50]);
      costs.push({ ...next, at: `${new URLSearchParams(query)} by cursor` });
    }
  }
  return costs;
}

describe('every list of the widest data', () => {
  const owners: [string, () => Query, Query[][]][] = [
    ['all reviews', () => ({}), [types, spoken, contents]],
    ['an entity', () => ({ entity_id: widest.entity_id }), [types, spoken, contents, stars]],
    ['an author', () => ({ user_id: widest.user_id }), [types, spoken, contents, stars]],
  ];

  test('has no item that is larger than its kind may be', expectSmallItems);

  test.each(owners)(
    '%s',
    async (_, owner, filters) => {
      const all = [];
      for (const query of product([owner()], ...filters, sorts, orders)) {
        all.push(...(await look(query)));
      }
      for (const { at, read, roundTrips, commands } of all) {
        expect({ at, read, isWithin: read <= 120 }).toEqual({ at, read, isWithin: true });
        expect({ at, roundTrips, isWithin: roundTrips <= mostTrips }).toEqual({
          at,
          roundTrips,
          isWithin: true,
        });
        expect(commands).toBeLessThanOrEqual(60);
      }
    },
    600_000,
  );
});
