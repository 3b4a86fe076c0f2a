/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,game:Game"}} */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { DynamoDBRecord } from 'aws-lambda';
import { lastRunKey } from '../../../../shared/base/background/last-run.ts';
import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import { transact } from '../../../../shared/base/table/transact.ts';
import { type EntityRecord, recordKey } from '../../../../shared/core/entity/record.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { keepThings } from '../../../../shared/features/things/keep-things.ts';
import { buildThings } from '../../../../shared/features/things/rebuild-things.ts';
import { settleRisen } from '../../../../shared/features/things/settle-risen.ts';
import { choices } from '../../../helpers/choices.ts';
import { scanTable } from '../../../helpers/items.ts';
import { entriesIn, faults, film, game, newThing, walk } from '../../../helpers/listed-things.ts';
import { applyStream, readStream } from '../../../helpers/stream.ts';
import { makeUsers, type Person } from '../../../helpers/world.ts';

describe('entries of things', () => {
  const { below, pick: one } = choices(Number(process.env.SEED ?? 13));

  test.each([
    { of: 'six things that are removed and joined', types: [film, film, film, film, game, game] },
    // Each rises at its tenth review.
    { of: 'two things with many reviews', types: [film, film], isBusy: true },
  ])(
    'are right after any history of $of, in pieces, repeated, and from two shards',
    async ({ types, isBusy = false }) => {
      await batchDelete(await scanTable());
      await readStream();
      const people = await makeUsers(isBusy ? 26 : 12);
      const things = types.map(newThing);
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
            state: isBusy ? undefined : one([undefined, undefined, 'removed'] as const),
            leads_to: isBusy ? undefined : one([undefined, undefined, randomUUID()]),
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
            const publications = Array.from({ length: isBusy ? 4 : 1 }, () => deeds[0]);
            for (let n = 0; n < 15; n++) await one([...publications, ...deeds])?.();
          },
          isBusy || round % 3 === 0,
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
      await batchDelete([lastRunKey('thing-entries')]);
      await buildThings();
      expect(entriesIn(await scanTable())).toEqual(before);
      expect(await faults()).toEqual([]);
    },
    120_000,
  );

  /** Each listed thing has a name, reviews of its type, and their number. */
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
