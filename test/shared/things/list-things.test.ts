/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,game:Game"}} */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { measure, measureRun } from '../../../bin/bench/measure.ts';
import { randomNumbers } from '../../../bin/random.ts';
import { handler } from '../../../functions/api/list-entities.ts';
import { auditPartitions } from '../../../shared/audit/audit.ts';
import { type EntityType, entityTypes } from '../../../shared/entity/entity-type.ts';
import {
  type Entity,
  type EntityRecord,
  readRecord,
  recordKey,
  recordWrites,
} from '../../../shared/entity/record.ts';
import { setHidden } from '../../../shared/moderation/decision-repository.ts';
import { recountOwners } from '../../../shared/review/recount.ts';
import type { Review } from '../../../shared/review/review.ts';
import { batchDelete, batchWrite } from '../../../shared/table/batch.ts';
import { type Item, keyString } from '../../../shared/table/item.ts';
import { lastRunKey } from '../../../shared/table/keys.ts';
import { transact } from '../../../shared/table/transact.ts';
import { keepThings } from '../../../shared/things/keep-things.ts';
import { buildThings, rebuildThings } from '../../../shared/things/rebuild-things.ts';
import { settleRisen } from '../../../shared/things/settle-risen.ts';
import { invalid, invoke } from '../../helpers/invoke.ts';
import { scanTable } from '../../helpers/items.ts';
import { beforeSend } from '../../helpers/sends.ts';
import { expectSmallItems } from '../../helpers/sizes.ts';
import { applyStream, readStream } from '../../helpers/stream.ts';
import { makeUser, makeUsers, type Person, reviewBy, storeReviews } from '../../helpers/world.ts';

const film = 'film' as EntityType;
const game = 'game' as EntityType;

const list = (query: Record<string, string>) => invoke(handler, { query });

/** Reads a whole list by its cursors. Returns the entities, and the sizes of pages. */
async function walk(query: Record<string, string>) {
  const entities: Record<string, unknown>[] = [];
  const sizes: number[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const { status, body, headers } = await list({ ...query, ...(cursor && { cursor }) });
    expect(status).toBe(200);
    if (body.next) expect(headers.link).toContain(`cursor=${body.next}`);
    entities.push(...body.entities);
    sizes.push(body.entities.length);
    cursor = body.next;
  }
  return { entities, sizes, names: entities.map(({ name }) => name) };
}

/** Stores a record in the place of another, or of none. */
async function name(
  entity: Entity,
  words: Partial<EntityRecord>,
  before?: EntityRecord,
): Promise<EntityRecord> {
  const record: EntityRecord = { ...entity, name: 'Blue', origin: 'operator', ...words };
  await transact(recordWrites(before, record));
  return record;
}

const newThing = (entity_type: EntityType = film): Entity => ({
  entity_id: randomUUID(),
  entity_type,
});

/** Reviews of a thing by so many people, with these ratings. */
async function reviewed(entity: Entity, people: readonly Person[], ratings: (number | null)[]) {
  for (const [i, rating] of ratings.entries()) await people[i]?.publishes({ ...entity, rating });
}

/** Entries of things that an audit misses, or finds beside those that there should be. */
async function faults(): Promise<string[]> {
  const items = await scanTable();
  const keys = items.map((item) => (isEntry(item) ? keyString(item) : item.pk));
  const due = keys.filter((pk) => /^(ENTITY|METADATA|WORD|THINGS)#/.test(pk));
  const behind = new Set<string>();
  const { differences } = await auditPartitions([...new Set(due)], { settle: 0 }, behind);
  // Things of these tests lead to others that are not there.
  const others = differences.filter(({ attribute }) => attribute !== 'led_from');
  return [...behind, ...others.map(keyString)];
}

const isEntry = ({ pk }: Item) => /^(WORD|THINGS)#/.test(pk);

const entriesIn = (items: readonly Item[]) =>
  items
    .filter(({ pk }) => /^(WORD|THINGS)#/.test(pk))
    .toSorted((a, b) => (a.pk + a.sk < b.pk + b.sk ? -1 : 1));

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
    const names = async (query: Record<string, string>) => (await walk(query)).names;
    expect(await names({ sort: 'reviews' })).toEqual([
      'Adored',
      'Liked',
      'Disliked',
      'Unrated',
      'Perfect once',
    ]);
    expect(await names({ sort: 'rating' })).toEqual([
      'Adored',
      'Liked',
      'Perfect once',
      'Disliked',
    ]);
    expect(await names({ sort: 'latest' })).toEqual([
      'Unrated',
      'Disliked',
      'Liked',
      'Perfect once',
      'Adored',
    ]);
    expect(await names({ sort: 'reviews', entity_type: game })).toEqual(['Liked', 'Unrated']);
    expect(await names({ sort: 'rating', entity_type: film, limit: '1' })).toEqual([
      'Adored',
      'Perfect once',
      'Disliked',
    ]);
    expect(await names({ sort: 'latest', entity_type: film, limit: '2' })).toEqual([
      'Disliked',
      'Perfect once',
      'Adored',
    ]);
    expect(await names({ sort: 'latest', entity_type: 'work' })).toEqual([]);
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
    // The first review raises the thing. Until the next minute, the place by rating stays.
    expect(await unitsOf(() => ann.publishes({ ...thing }))).toBe(4);
    expect(await unitsOf(() => people[1].publishes({ ...thing, rating: 1 }))).toBe(2);
    // Each word is deleted and written. The mark is written again, and deleted on a condition.
    const minute = await measureRun(settleRisen);
    expect(minute.write).toBeLessThanOrEqual(6 * 2 + 2 + 1 + 4);
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
    await recountOwners(() => {});
    await rebuildThings();
    await expectSmallItems();
    for (const sort of ['reviews', 'rating', 'latest']) {
      for (const type of ['', 'event', 'film']) {
        const query = { sort, limit: '50', ...(type && { entity_type: type }) };
        const costs: number[] = [];
        for (let cursor: string | undefined = ''; cursor !== undefined; ) {
          const { status, read, roundTrips, body } = await measure('list-entities', {
            query: { ...query, ...(cursor && { cursor }) },
          });
          expect([status, roundTrips <= 2]).toEqual([200, true]);
          costs.push(read);
          cursor = body.next;
        }
        expect([query, Math.max(...costs) <= 20]).toEqual([query, true]);
        const expected = reviews.filter(({ entity_type }) => !type || entity_type === type);
        const { entities } = await walk(query);
        expect(entities.map(({ id }) => `${id}`).toSorted()).toEqual(
          expected.map(({ entity_id }) => entity_id).toSorted(),
        );
      }
      expect((await list({ sort, limit: '20' })).body.entities).toHaveLength(20);
    }
  });
});

describe('entries of things', () => {
  const random = randomNumbers(Number(process.env.SEED ?? 13));
  const below = (number: number) => Math.floor(random() * number);
  const one = <T>(all: readonly T[]) => all[below(all.length)] as T;

  test('are right after any history, in pieces, repeated, and from two shards', async () => {
    await batchDelete(await scanTable());
    await readStream();
    const people = await makeUsers(12);
    const things = Array.from({ length: 6 }, (_, i) => newThing(i < 4 ? film : game));
    const records = new Map<string, EntityRecord>();
    const reviews: { id: string; by: Person; isHidden: boolean }[] = [];
    const deeds = [
      async () => {
        const thing = one(things);
        // Sometimes as another type, as the API allows.
        const entity_type = below(8) === 0 ? game : thing.entity_type;
        const by = one(people);
        const { status, body } = await by.triesToPublish({
          ...thing,
          entity_type,
          rating: one([null, 1, 3, 5]),
          text: 'A text that is long enough for all.',
          license_choice: 'CC0 1.0',
        });
        if (status === 200) reviews.push({ id: body.id, by, isHidden: false });
      },
      async () => {
        const thing = one(things);
        const before = records.get(thing.entity_id);
        const words = {
          name: one(['Blue', 'Blue Train', 'AC/DC Live', 'Red']),
          state: one([undefined, undefined, 'removed'] as const),
          leads_to: one([undefined, undefined, randomUUID()]),
          user_id: one([undefined, one(people).id]),
          origin: one(['member', 'operator'] as const),
          version: (before?.version ?? Date.now()) + 1,
        };
        const record = { ...thing, ...words };
        const Item = { ...recordKey(thing), ...record };
        await transact([{ Put: { Item } }]);
        records.set(thing.entity_id, record);
      },
      async () => {
        const review = one(reviews);
        if (review && !review.isHidden)
          await review.by.edits(review.id, { rating: one([1, 2, 5]) });
      },
      async () => {
        const review = one(reviews);
        if (!review) return;
        // A review of a removed thing stays hidden.
        const answer = await setHidden(review.id, !review.isHidden).catch(({ status }) => status);
        if (answer !== 400) review.isHidden = !review.isHidden;
      },
      async () => {
        const [review] = reviews.splice(below(reviews.length), 1);
        if (review) await review.by.deletes(review.id);
      },
    ];
    for (let round = 0; round < 12; round++) {
      const all = await followed(
        async () => {
          for (let n = 0; n < 15; n++) await one([deeds[0], ...deeds])?.();
        },
        round % 3 === 0,
      );
      await settleRisen();
      const before = entriesIn(await scanTable());
      expect(await faults()).toEqual([]);
      await expectListed();
      // Repeated from some place on, as after a crash.
      const repeated = all.slice(below(all.length));
      await Promise.all(shards.map((sort) => follow(repeated.filter(isOf(sort)))));
      await settleRisen();
      expect(entriesIn(await scanTable())).toEqual(before);
    }
    await applyStream();
    const before = entriesIn(await scanTable());
    await batchDelete(before.filter(() => below(2) === 0));
    await batchWrite([
      { put: { pk: 'THINGS#reviews#film', sk: `THING#000000009##${things[0]?.entity_id}` } },
      { put: { pk: 'WORD#g', sk: `NAMED#2#ghost #film#${randomUUID()}` } },
    ]);
    expect(await faults()).not.toEqual([]);
    // As a server does at its first start with lists of things.
    await batchDelete([lastRunKey('thing-rows')]);
    await buildThings();
    expect(entriesIn(await scanTable())).toEqual(before);
    expect(await faults()).toEqual([]);
  }, 120_000);

  /** What is listed has a name that is found, reviews of its type, and as many as there are. */
  async function expectListed(): Promise<void> {
    const items = await scanTable();
    const counts = new Map<string, { all: number; types: Set<unknown> }>();
    for (const { sk, entity_id, entity_type, is_hidden } of items) {
      if (sk !== 'REVIEW' || is_hidden) continue;
      const { all = 0, types = new Set() } = counts.get(`${entity_id}`) ?? {};
      counts.set(`${entity_id}`, { all: all + 1, types: types.add(entity_type) });
    }
    const expected = items.flatMap(({ pk, sk, name, state, leads_to }) => {
      const [, type, id = ''] = pk.split('#');
      const { all, types } = counts.get(id) ?? {};
      const isListed = sk === 'METADATA' && types?.has(type) && !state && !leads_to;
      return isListed ? [{ id, name, review_count: all }] : [];
    });
    const { entities } = await walk({ sort: 'reviews' });
    const listed = entities.map(({ id, name, review_count }) => ({ id, name, review_count }));
    const byId = (a: { id?: unknown }, b: { id?: unknown }) => (`${a.id}` < `${b.id}` ? -1 : 1);
    expect(listed.toSorted(byId)).toEqual(expected.toSorted(byId));
    const numbers = entities.map((each) => Number(each.review_count));
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  }

  /** Records of counts and of records come to two shards, each in its order, in batches. */
  const shards = ['ENTITY', 'METADATA'] as const;
  const isOf = (sort: string) => (record: DynamoDBRecord) => record.dynamodb?.Keys?.sk?.S === sort;

  async function follow(records: DynamoDBRecord[]): Promise<void> {
    while (records.length > 0) {
      await keepThings(records.splice(0, 1 + below(4)));
      // A minute may pass at any time, in either shard.
      if (below(4) === 0) await settleRisen();
    }
  }

  /** Follows both shards while something runs, or only afterwards. Returns all records. */
  async function followed(run: () => Promise<void>, isBeside: boolean): Promise<DynamoDBRecord[]> {
    const all: DynamoDBRecord[] = [];
    const queues = shards.map((sort) => ({ sort, records: [] as DynamoDBRecord[] }));
    const read = async () => {
      const records = await readStream();
      all.push(...records);
      for (const { sort, records: queue } of queues) queue.push(...records.filter(isOf(sort)));
    };
    let isOver = false;
    const running = run().finally(() => {
      isOver = true;
    });
    while (isBeside && !isOver) {
      await read();
      await Promise.all(queues.map(({ records }) => follow(records)));
    }
    await running;
    await read();
    await Promise.all(queues.map(({ records }) => follow(records)));
    return all;
  }
});
