/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,game:Game"}} */
import '../../../helpers/engine.ts';
import { describe, expect, test } from '@jest/globals';
import { measure, measureRun } from '../../../../bin/bench/measure.ts';
import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import { type EntityType, entityTypes } from '../../../../shared/core/entity/entity-type.ts';
import { type Entity, readRecord, recordKey } from '../../../../shared/core/entity/record.ts';
import type { Review } from '../../../../shared/core/review/review.ts';
import { recountOwners } from '../../../../shared/features/audit/recount.ts';
import { keepThings } from '../../../../shared/features/things/keep-things.ts';
import { listMostReviewed, shareOf } from '../../../../shared/features/things/list-things.ts';
import { rebuildThings } from '../../../../shared/features/things/rebuild-things.ts';
import { settleRisen } from '../../../../shared/features/things/settle-risen.ts';
import { invalid } from '../../../helpers/invoke.ts';
import { scanTable } from '../../../helpers/items.ts';
import { faults, film, game, list, name, newThing, walk } from '../../../helpers/listed-things.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { expectSmallItems } from '../../../helpers/sizes.ts';
import { applyStream, readStream } from '../../../helpers/stream.ts';
import {
  idsOf,
  makeUser,
  makeUsers,
  type Person,
  reviewBy,
  storeReviews,
} from '../../../helpers/world.ts';

/** Reviews of a thing by so many people, with these ratings. */
async function reviewed(entity: Entity, people: readonly Person[], ratings: (number | null)[]) {
  for (const [i, rating] of ratings.entries()) await people[i]?.publishes({ ...entity, rating });
}

describe('GET /entity/?sort=', () => {
  test('lists by number, weighted mean and first review, of a type and of all', async () => {
    const people = await makeUsers(7);
    // The means with five ratings of three stars: 4.17, 3.33, 3.67 and 2.83.
    const things: [string, EntityType, (number | null)[]][] = [
      ['Adored', film, [5, 5, 5, 5, 5, 5, 5]],
      ['Perfect once', film, [5]],
      ['Liked', game, [5, 4, 5]],
      ['Disliked', film, [2, null]],
      ['Unrated', game, [null]],
    ];
    for (const [title, type, ratings] of things) {
      const thing = newThing(type);
      await name(thing, { name: title, about: 'Ann · 1990' });
      await reviewed(thing, people, ratings);
    }
    await name(newThing(), { name: 'Unreviewed' });
    await reviewed(newThing('work'), people, [5, 5, 5]);
    const hidden = newThing();
    await name(hidden, { name: 'Hidden' });
    await people[0]?.publishesHidden({ ...hidden, rating: 5 });
    await applyStream();
    const lists: [Record<string, string>, string][] = [
      [{ sort: 'reviews' }, 'Adored, Liked, Disliked, Unrated, Perfect once'],
      [{ sort: 'rating' }, 'Adored, Liked, Perfect once, Disliked'],
      [{ sort: 'latest' }, 'Unrated, Disliked, Liked, Perfect once, Adored'],
      [{ sort: 'reviews', entity_type: game }, 'Liked, Unrated'],
      [{ sort: 'rating', entity_type: film, limit: '1' }, 'Adored, Perfect once, Disliked'],
      [{ sort: 'latest', entity_type: film, limit: '2' }, 'Disliked, Perfect once, Adored'],
      [{ sort: 'latest', entity_type: 'work' }, ''],
    ];
    for (const [query, names] of lists) {
      expect([query, (await walk(query)).names.join(', ')]).toEqual([query, names]);
    }
    for (const sort of ['reviews', 'rating', 'latest']) {
      const { entities } = (await list({ sort })).body;
      expect(entities.find((each: { name: string }) => each.name === 'Liked')).toEqual({
        id: expect.any(String),
        type: game,
        name: 'Liked',
        about: 'Ann · 1990',
        image: null,
        url: expect.stringContaining('/entity/'),
        review_count: 3,
        average_rating: { rating: 4.7, count: 3 },
      });
    }
    expect(await faults()).toEqual([]);
  });

  test.each<[Record<string, string>, string]>([
    [{}, 'Either q or sort must be sent: q finds entities by name, sort lists them'],
    [
      { q: 'a', sort: 'reviews' },
      'Either q or sort must be sent: q finds entities by name, sort lists them',
    ],
    [{ sort: 'name' }, 'sort must be one of reviews, rating, latest'],
    [{ sort: 'latest', limit: '0' }, 'limit must be an integer from 1 to 50'],
    [
      { sort: 'latest', cursor: 'x' },
      'cursor must be one that came with a page of the very same list',
    ],
    [{ q: 'a', cursor: 'x' }, 'cursor must be one that came with a page of the very same search'],
  ])('refuses %j', async (query, description) => {
    expect(await list(query)).toMatchObject(invalid(description));
  });

  test('takes the cursor of its own list alone', async () => {
    const ann = await makeUser();
    for (const title of ['One', 'Two']) {
      const thing = newThing();
      await name(thing, { name: title });
      await ann.publishes({ ...thing });
    }
    await applyStream();
    const { next } = (await list({ sort: 'reviews', limit: '1' })).body;
    expect(await list({ sort: 'reviews', cursor: next })).toHaveStatus(200);
    const others: Record<string, string>[] = [
      { sort: 'rating' },
      { sort: 'reviews', entity_type: film },
      { q: 'one' },
    ];
    for (const query of others) {
      expect(await list({ ...query, cursor: next })).toHaveStatus(400);
    }
  });
});

describe('the places of a thing', () => {
  /** Write units of the consumer that follows the things of what is in the stream. */
  async function unitsOf(run: () => Promise<unknown>): Promise<number> {
    await run();
    const records = await readStream();
    const { write } = await measureRun(() => keepThings(records));
    return write;
  }

  test('cost a publication four write units, and a name ten, with the widest words', async () => {
    await applyStream();
    const people = await makeUsers(4);
    const [ann] = people;
    const wide = Array.from({ length: 60 }, (_, i) => `ß${i}`).join('-');
    const words = {
      name: wide.slice(0, 200),
      about: wide.slice(0, 200),
      url: `https://e.example/${'x'.repeat(1_900)}`,
    };
    const thing = newThing();
    expect(await unitsOf(() => name(thing, words))).toBeLessThanOrEqual(6);
    // The first review raises the thing. Its place by rating waits for the next minute.
    expect(await unitsOf(() => ann.publishes({ ...thing }))).toBe(4);
    expect(await unitsOf(() => people[1].publishes({ ...thing, rating: 1 }))).toBe(2);
    // Each word is deleted and written. The mark is deleted on a condition.
    const minute = await measureRun(settleRisen);
    expect(minute.write).toBeLessThanOrEqual(6 * 2 + 1 + 4);
    expect((await measureRun(settleRisen)).write).toBe(0);
    for (const person of people.slice(2)) {
      expect(await unitsOf(() => person.publishes({ ...thing, rating: 2 }))).toBe(4);
    }
    expect(await faults()).toEqual([]);
    const unnamed = newThing('work');
    expect(await unitsOf(() => ann.publishes({ ...unnamed }))).toBe(0);
    expect(await unitsOf(() => name(unnamed, words))).toBeLessThanOrEqual(10);
    await expectSmallItems();
  });

  test('are written once for a thing that is named with its first review', async () => {
    await applyStream();
    const thing = newThing();
    const ann = await makeUser();
    await name(thing, { name: 'One' });
    await ann.publishes({ ...thing });
    const records = await readStream();
    const { write } = await measureRun(() => keepThings(records));
    expect(write).toBe(5);
    // From two shards, and again.
    const { write: again } = await measureRun(async () => {
      for (const record of records) await keepThings([record]);
    });
    expect(again).toBeLessThanOrEqual(9);
    expect(await faults()).toEqual([]);
  });
});

describe('two consumers of one thing', () => {
  test.each(['ENTITY', 'METADATA'])(
    'leave the right entries if the other writes between the read and the write for %s',
    async (sort) => {
      await applyStream();
      const [ann, ben] = await makeUsers(2);
      const thing = newThing();
      await name(thing, { name: 'Before' });
      await ann.publishes({ ...thing });
      await applyStream();
      const deeds: Record<string, () => Promise<unknown>> = {
        ENTITY: () => ben.publishes({ ...thing, rating: 1 }),
        METADATA: async () => name(thing, { name: 'After' }, await readRecord(thing)),
      };
      await deeds[sort]?.();
      const records = await readStream();
      let isHeld = true;
      const spy = beforeSend(async ({ input }) => {
        if (!isHeld || !('RequestItems' in input)) return;
        if (!JSON.stringify(input).includes('PutRequest')) return;
        isHeld = false;
        await deeds[sort === 'ENTITY' ? 'METADATA' : 'ENTITY']?.();
        await keepThings(await readStream());
      });
      await keepThings(records);
      spy.mockRestore();
      expect(isHeld).toBe(false);
      expect(await faults()).toEqual([]);
    },
  );
});

describe('a list of things', () => {
  // Half a unit reads four places of 1 KB.
  test.each([
    [1, 80],
    [2, 40],
    [3, 24],
    [12, 4],
    [20, 4],
    [25, 4],
  ])('of %i types that go on has %i more places of each for ten units', (lists, places) => {
    expect(shareOf(lists, 10)).toBe(places);
  });

  test('of 50 costs at most 20 units and two round trips, whatever there is', async () => {
    await batchDelete(await scanTable());
    const ann = await makeUser();
    const wide = '\u{1f3b7}'.repeat(200);
    const reviews: Review[] = [];
    for (const [i, entity_type] of entityTypes.entries()) {
      for (let n = 0; n < (i < 3 ? 60 : 8); n++) {
        const entity = newThing(entity_type);
        reviews.push(reviewBy(ann.id, { ...entity, rating: 1 + (n % 5) }));
      }
    }
    await storeReviews(reviews);
    await batchWrite(
      reviews.map(({ entity_id, entity_type }) => {
        const entity = { entity_id, entity_type };
        const words = { name: wide, about: wide, url: `https://e.example/${'x'.repeat(400)}` };
        return { put: { ...recordKey(entity), ...entity, ...words, version: 1 } };
      }),
    );
    await recountOwners();
    await rebuildThings();
    await expectSmallItems();
    for (const sort of ['reviews', 'rating', 'latest']) {
      for (const type of ['', 'event', 'film']) {
        const query = { sort, limit: '50', ...(type && { entity_type: type }) };
        const costs: number[] = [];
        const ids: string[] = [];
        for (let cursor: string | undefined = ''; cursor !== undefined; ) {
          const { status, read, roundTrips, body } = await measure('list-entities', {
            query: { ...query, ...(cursor && { cursor }) },
          });
          expect([status, roundTrips <= 2]).toEqual([200, true]);
          costs.push(read);
          ids.push(...idsOf(body.entities));
          cursor = body.next;
        }
        expect([query, Math.max(...costs) <= 20]).toEqual([query, true]);
        const expected = reviews.filter(({ entity_type }) => !type || entity_type === type);
        expect(ids.toSorted()).toEqual(expected.map(({ entity_id }) => entity_id).toSorted());
      }
      expect((await list({ sort, limit: '20' })).body.entities).toHaveLength(20);
    }
  });
});

test('the most reviewed of all are of the four types with most reviews', async () => {
  const ann = await makeUser();
  const types = [film, game, 'work', 'artist', 'label'] as EntityType[];
  for (const type of types) {
    const thing = newThing(type);
    await name(thing, { name: `Only ${type}` });
    await reviewed(thing, [ann], [5]);
  }
  await applyStream();
  const counts = new Map(types.map((type, i) => [type, { all: 10 - i }]));
  const listed = await listMostReviewed(counts, 100);
  const found = new Set(listed.map(({ record }) => record.entity_type));
  expect(found).toEqual(new Set(types.slice(0, 4)));
});
