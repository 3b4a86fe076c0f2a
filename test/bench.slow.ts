/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import './helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { benchLists, someLists } from '../bin/bench/lists.ts';
import { type Line, measure, measureRun, toLine } from '../bin/bench/measure.ts';
import {
  benchEndpoints,
  measureConsumer,
  newCaller,
  operationOf,
  steps,
} from '../bin/bench/requests.ts';
import { seed } from '../bin/seed.ts';
import type { EndpointRequest } from '../infra/local/gateway/endpoint-event.ts';
import { routes } from '../shared/base/routes.ts';
import { batchGet } from '../shared/base/table/batch.ts';
import { transact } from '../shared/base/table/transact.ts';
import { recordWrites } from '../shared/core/entity/record.ts';
import { entityKey, reviewKey } from '../shared/core/keys.ts';
import { recordHeartbeat } from '../shared/features/health/heartbeat.ts';
import { queueEntities } from '../shared/features/names/queue.ts';
import { importRecords } from '../shared/features/transfer/import.ts';
import type { TransferRecord } from '../shared/features/transfer/record.ts';
import {
  costs,
  costsOfText,
  foldedVotes,
  grownCosts,
  importCosts,
  unitsIn,
} from './helpers/costs.ts';
import { scanTable, setAttributes } from './helpers/items.ts';
import { applyRecords, applyStream } from './helpers/stream.ts';
import { reviewRecord, revisionRecord, sourced } from './helpers/transfer.ts';
import { makeUser } from './helpers/world.ts';

beforeAll(async () => {
  await seed({ reviews: 1200, users: 60, entities: 60, seed: 1 });
});

// As every minute. Else the health check would tell of a service that stands still.
beforeEach(async () => {
  await recordHeartbeat();
  await applyStream();
});

// Offsets beyond 400 use rank trees, as in a large table. Only this part of `npm run bench` is
// deterministic.
describe('request units and round trips', () => {
  test('of every endpoint are within budget', async () => {
    const lines = await allOf(benchEndpoints());
    const faults = faultsOf(lines);
    // On a busy machine, requests side by side may once count as one after the other.
    const again = faults.length === 0 ? [] : faultsOf(await allOf(benchEndpoints()));
    expect(faults.filter((fault) => again.includes(fault))).toEqual([]);
    expect(lines.find(({ name }) => name === 'get-review')?.read).toBe(2);
  });

  test('of a vote and of a new review are as the guides say', async () => {
    const units = unitsIn(await allOf(benchEndpoints()));
    for (const name of ['a vote', 'a new review'] as const) {
      const { read, write } = costs[name];
      expect([name, units[name]]).toEqual([name, { read, write }]);
    }
  });

  test.each([
    ['a list of 10', '10'],
    ['a list of 50', '50'],
  ] as const)('of %s are as the guides say', async (name, limit) => {
    const { body, read } = await measure('list-reviews', { query: { limit } });
    const authors = new Set(body.reviews.map(({ user }: { user: { id: string } }) => user.id));
    // An author costs half a unit. Here some authors wrote several of these reviews.
    const same = Number(limit) - authors.size;
    expect(read + same / 2).toBe(costs[name].read);
  });

  test('of votes are lower when votes are batched', async () => {
    for (const { votes, write } of foldedVotes) {
      const measured = await consumeVotes(votes);
      // The lane of a change depends on its id, so chance decides how many votes share a lane.
      expect([votes, Math.abs(measured - write) <= 1, measured]).toEqual([votes, true, measured]);
    }
  });

  // Its levels begin at 1, 10 and 100 reviews.
  test.each([0, 1, 9, 10, 99, 100])(
    'of a publication are 56 at most, of a thing of the widest name with %i reviews',
    async (reviews) => {
      const entity = { entity_id: randomUUID(), entity_type: 'work' as const };
      const name = Array.from({ length: 60 }, (_, i) => `ß${i}`)
        .join('-')
        .slice(0, 200);
      await transact(recordWrites(undefined, { ...entity, name, about: name, origin: 'member' }));
      // Counts alone, as that many people have made them.
      const counts = {
        b4: reviews,
        work: reviews,
        EN: reviews,
        version: 1,
        first_on: '2020-01-01',
      };
      if (reviews > 0) {
        await setAttributes(entityKey(entity.entity_id), counts);
        await queueEntities([entity]);
      }
      await applyStream();
      const { caller } = await newCaller('Author');
      await applyStream();
      const body = { ...entity, text: 'x'.repeat(1_500), rating: 4, license_choice: 'CC0 1.0' };
      const { write } = await measure('create-review', { method: 'POST', caller, body });
      const consumed = await measureRun(applyRecords);
      expect(write + consumed.write).toBeLessThanOrEqual(56);
    },
  );

  test('of an import are as the guides say', async () => {
    const time = '2025-01-01T00:00:00.000Z';
    const ids = Array.from({ length: 12 }, randomUUID);
    const [author = '', ...voters] = ids;
    const contact = { email: 'ann@mail.example', musicdb_username: null };
    const account = { kind: 'user', created: time, contact } as const;
    const revisions = [revisionRecord({ text: 'x'.repeat(1500), rating: 4 })];
    const review = reviewRecord(author, { created: time, published_on: time, revisions });
    const cast = { kind: 'vote', review_id: review.id, vote: true, voted_at: time } as const;
    const votes = voters.slice(1).map((user_id) => ({ ...cast, user_id, revision: 1 }));
    const written = async (...records: TransferRecord[]) =>
      (await measureRun(() => importRecords(sourced(records)))).write;
    // Accounts with the same name would share the check that it is no moderator's. A name with
    // letters that look like others takes a check more.
    const named = (first: string, all: readonly string[]) =>
      all.map((id, i) => {
        return { ...account, id, display_name: `${first}${'aeou'[i % 4]}${'xyz'[i % 3]}` };
      });
    const accounts = await written(...named('B', ids));
    const alike = await written(...named('В', Array.from({ length: 12 }, randomUUID)));
    expect(alike / ids.length).toBe(9);
    const alone = await written({ ...review, id: randomUUID(), user_id: `${voters[0]}` });
    const vote = ((await written(review, ...votes)) - alone) / votes.length;
    expect({ account: accounts / ids.length, review: alone, vote }).toEqual(importCosts);
  });

  test('are bounded for every API endpoint that uses the table', () => {
    const measured = new Set([...steps.map(operationOf), 'list-reviews', 'list-users']);
    const missing = routes.filter(
      ({ operation, table, base }) =>
        base === undefined && table !== 'none' && !measured.has(operation),
    );
    expect(missing.map(({ operation }) => operation)).toEqual([]);
  });

  test('of lists are within budget at every offset', async () => {
    const lines = await allOf(benchLists(await someLists()));
    expect(faultsOf(lines)).toEqual([]);
    expect(lines.map(({ name }) => name)).toContain('all popularity @1000');
  });

  // The last one, because its longest text stands first in every list from then on.
  test.each([
    ['usual', 'x'.repeat(1_500)],
    ['longest', '\u{1F3B5}'.repeat(5_000)],
  ] as const)(
    'of a vote and of a change of the stars are as the guides say: %s text',
    async (length, text) => {
      const author = await newCaller('Author');
      const voter = await newCaller('Voter');
      const fields = {
        entity_id: randomUUID(),
        entity_type: 'work',
        license_choice: 'CC BY-SA 3.0',
      };
      const body = { ...fields, text, rating: 4 };
      const created = await measure('create-review', {
        method: 'POST',
        caller: author.caller,
        body,
      });
      const path = { review_id: created.body.id };
      await measureConsumer([created.body.id]);
      /** Returns the write units of a request, and of the consumer after it. */
      const written = async (operation: string, request: EndpointRequest) => {
        const { status, write } = await measure(operation, { path, ...request });
        expect(status).toBe(200);
        return write + (await measureConsumer([created.body.id])).write;
      };
      const vote = { method: 'PUT', caller: voter.caller, body: { vote: true } };
      const stars = { method: 'POST', caller: author.caller, body: { rating: 5 } };
      expect({
        'a change of the stars': await written('update-review', stars),
        'a vote': await written('put-vote', vote),
      }).toEqual({
        'a change of the stars': costsOfText['a change of the stars'][length],
        'a vote': costsOfText['a vote'][length],
      });
    },
  );
});

test('request units of a vote and a new review are bounded in a large table', async () => {
  // Makes the rank tree nodes that count today’s reviews.
  await allOf(benchEndpoints());
  for (const item of await scanTable()) {
    // A minute has 60 seconds, so its node stays small.
    if (!item.pk.startsWith('TREE#') || /(#-?\d+){3}$/.test(item.pk)) continue;
    const padding = 'x'.repeat(item.sk === 'root' ? 7_500 : 3_800);
    await setAttributes({ pk: item.pk, sk: item.sk }, { padding });
  }
  expect(unitsIn(await allOf(benchEndpoints()))).toEqual(grownCosts);
});

/**
 * Returns the write units for each of `count` votes, on reviews of different ages, that the
 * consumer reads in one batch.
 */
async function consumeVotes(count: number) {
  const voter = await makeUser();
  const ids = [];
  for (let i = 0; i < count; i++) {
    const query = { review_type: 'review', offset: `${150 * i + 100}`, limit: '1' };
    const [{ id }] = (await measure('list-reviews', { query })).body.reviews;
    await voter.votes(id);
    ids.push(id);
  }
  return (await measureConsumer(ids)).write / count;
}

async function allOf(lines: AsyncIterable<Line>) {
  const all = [];
  for await (const line of lines) all.push(line);
  return all;
}

const faultsOf = (lines: readonly Line[]) => lines.flatMap(({ broken }) => broken);

describe('the measurement', () => {
  test('counts overlapping calls as one round trip, and ignores calls of others', async () => {
    const read = () => batchGet([reviewKey(randomUUID())], { consistent: false });
    const others = read();
    const run = measureRun(async () => {
      await Promise.all([read(), read(), read()]);
      await read();
    });
    await others;
    expect(await run).toMatchObject({ roundTrips: 2, read: 2, write: 0 });
  });

  const cost = { status: 200, read: 3, write: 0, roundTrips: 1, commands: 1, body: {} };

  test('names operations over budget, and rejects failed requests', () => {
    const budget = { read: 2, roundTrips: 1 };
    expect(toLine('x', cost, budget).broken).toEqual(['x: read 3 > 2']);
    expect(() => toLine('x', { ...cost, status: 400 }, budget)).toThrow('x: 400');
  });
});
