/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,game:Game"}} */
import { describe, expect, test } from '@jest/globals';
import { batchDelete } from '../../../../shared/base/table/batch.ts';
import { type Item, toJson } from '../../../../shared/base/table/item.ts';
import { type EntityRecord, readRecord } from '../../../../shared/core/entity/record.ts';
import { audit } from '../../../../shared/features/audit/audit.ts';
import { findThings } from '../../../../shared/features/things/find-things.ts';
import { keepThings } from '../../../../shared/features/things/keep-things.ts';
import { settleRisen } from '../../../../shared/features/things/settle-risen.ts';
import { scanTable } from '../../../helpers/items.ts';
import {
  entriesIn,
  faults,
  film,
  game,
  name,
  newThing,
  walk,
} from '../../../helpers/listed-things.ts';
import {
  beforeFirst,
  beforeSend,
  beforeTransaction,
  type Command,
} from '../../../helpers/sends.ts';
import { applyStream, readStream } from '../../../helpers/stream.ts';
import { makeUsers } from '../../../helpers/world.ts';

/** A thing with a name and so many reviews, all followed, and what may happen to it. */
async function reviewedBy(reviews: number, entity_type = film) {
  await batchDelete(await scanTable());
  await readStream();
  const people = await makeUsers(24);
  const thing = newThing(entity_type);
  await name(thing, { name: 'Blue' });
  const ids: string[] = [];
  const publish = async (count: number, type = entity_type) => {
    for (const person of people.splice(0, count)) {
      const id = await person.publishes({ ...thing, entity_type: type, rating: 5 });
      ids.push(id);
      authors.set(id, person);
    }
  };
  const authors = new Map<string, (typeof people)[number]>();
  const remove = async () => {
    const id = `${ids.pop()}`;
    await authors.get(id)?.deletes(id);
  };
  const rename = async (words: string) =>
    name(thing, { name: words }, await readRecord({ ...thing, entity_type }));
  await publish(reviews);
  await applyStream();
  expect(await faults()).toEqual([]);
  return { thing, publish, remove, rename };
}

/** The places by rating of the only thing, and whether it waits, after the next minutes. */
async function atRest() {
  await settleRisen();
  await applyStream();
  const places = (await scanTable()).filter(({ pk }) => pk.startsWith('THINGS#rating#'));
  expect(await faults()).toEqual([]);
  expect(await marks()).toEqual([]);
  return places.map(({ review_count }) => review_count);
}

/** A thing with a tenth review, at which it rises. Its words wait for the next minute. */
async function risen() {
  const made = await reviewedBy(9);
  await made.publish(1);
  await keepThings(await readStream());
  return made;
}

const marks = async () => (await scanTable()).filter(({ pk }) => pk === 'THINGS#risen');

const oneByOne = async (records: Awaited<ReturnType<typeof readStream>>) => {
  for (const record of records) await keepThings([record]);
};

test('a thing has words at one level after its name comes again with its reviews', async () => {
  const { publish, rename } = await reviewedBy(0);
  await rename('Green');
  const named = await readStream();
  await keepThings(named);
  await publish(1);
  await keepThings([...named, ...(await readStream())]);
  expect(await atRest()).toEqual([1]);
});

describe('a thing is once in the list by rating', () => {
  test.each([
    ['in one batch', keepThings],
    ['one by one', oneByOne],
  ])('after a batch that was late, and those after it %s', async (_, follow) => {
    const { publish } = await reviewedBy(7);
    await publish(1);
    const first = await readStream();
    // The counts say 9 when the batch to 8 is followed.
    await publish(1);
    await keepThings(first);
    await publish(1);
    await follow(await readStream());
    await publish(3);
    expect(await atRest()).toEqual([13]);
  });

  test('if it has reviews of two types', async () => {
    const { publish } = await reviewedBy(8, 'recording');
    await publish(1, 'work');
    const first = await readStream();
    await publish(1);
    await keepThings(first);
    await publish(1);
    await keepThings(await readStream());
    expect(await atRest()).toEqual([11]);
  });

  test('after a batch that comes again with more records', async () => {
    const { publish } = await reviewedBy(8);
    await publish(1);
    const first = await readStream();
    await keepThings(first);
    await publish(1);
    await keepThings([...first, ...(await readStream())]);
    expect(await atRest()).toEqual([10]);
  });

  test('after a review that is deleted beside the rise', async () => {
    const { publish, remove } = await reviewedBy(8);
    await publish(1);
    const first = await readStream();
    await remove();
    await publish(1);
    await keepThings(first);
    await publish(1);
    await oneByOne(await readStream());
    expect(await atRest()).toEqual([10]);
  });

  test('after two runs of a minute at once, beside a count', async () => {
    const { publish } = await risen();
    await publish(1);
    await Promise.all([settleRisen(), settleRisen(), keepThings(await readStream())]);
    expect(await atRest()).toEqual([11]);
  });
});

/** Audits and repairs the table at once. Returns the number of repairs. */
async function repair(): Promise<number> {
  let sum = 0;
  for await (const { repaired } of audit({ repair: true, settle: 0, patience: 0 })) sum += repaired;
  return sum;
}

const isEntryWrite = ({ input }: Command) => toJson(input).includes('PutRequest');
const isOfMark = ({ input }: Command) => toJson(input.TransactItems ?? []).includes('THINGS#risen');

/** The levels of the words that stand: 0, 1, 2 and 3 from 0, 1, 10 and 100 reviews on. */
async function wordLevels() {
  const words = entriesIn(await scanTable()).filter(({ pk }) => pk.startsWith('WORD#'));
  return words.map(({ sk }) => sk.split('#')[1]);
}

describe('a thing that has risen', () => {
  test('has a corrected name at once, and the words of the one before no longer', async () => {
    const { rename } = await risen();
    await rename('Green');
    await keepThings(await readStream());
    expect((await findThings('green')).things).toHaveLength(1);
    expect((await findThings('blue')).things).toEqual([]);
    for (const sort of ['reviews', 'rating', 'latest']) {
      expect((await walk({ sort })).names).toEqual(['Green']);
    }
    expect(await wordLevels()).toEqual(['2']);
  });

  test('has words at one level after it falls, and its name comes again', async () => {
    const { remove, rename } = await risen();
    await rename('Green');
    const named = await readStream();
    await keepThings(named);
    await remove();
    await keepThings(await readStream());
    expect(await wordLevels()).toEqual(['2']);
    await keepThings(named);
    expect(await wordLevels()).toEqual(['1']);
  });

  test('in the batch of its record has its words at once, and does not wait', async () => {
    const { thing, publish } = await reviewedBy(9);
    await publish(1);
    const record = (await readRecord(thing)) as EntityRecord;
    await name(thing, { ...record, url: 'https://blue.example/' }, record);
    await keepThings(await readStream());
    expect(await wordLevels()).toEqual(['2']);
    expect(await marks()).toEqual([]);
  });

  test('is in each list at once, and no longer once it is removed', async () => {
    const { thing } = await risen();
    for (const sort of ['reviews', 'rating']) {
      expect((await walk({ sort })).entities).toMatchObject([{ review_count: 10 }]);
    }
    const record = (await readRecord(thing)) as EntityRecord;
    await name(thing, { ...record, state: 'removed' }, record);
    await keepThings(await readStream());
    for (const sort of ['reviews', 'rating', 'latest']) {
      expect((await walk({ sort })).entities).toEqual([]);
    }
    expect(await atRest()).toEqual([]);
  });

  test('waits again if it is counted while its words are written', async () => {
    const { remove } = await risen();
    beforeFirst(isOfMark, async () => {
      // It falls again. Its words wait for the next run.
      await remove();
      await keepThings(await readStream());
    });
    await settleRisen();
    expect(await marks()).toHaveLength(1);
    expect(await atRest()).toEqual([9]);
  });
});

test('a thing that has risen loses the words of a type that it no longer has', async () => {
  const { thing, publish, remove } = await risen();
  const other = { ...thing, entity_type: game };
  await name(other, { name: 'Rot' });
  await publish(1, game);
  await name(other, { name: 'Red' }, await readRecord(other));
  await keepThings(await readStream());
  await remove();
  await keepThings(await readStream());
  expect(await atRest()).toEqual([10]);
  const red = (await scanTable()).find(({ pk, sk }) => pk === 'WORD#r' && sk.includes('#red '));
  // Nobody has reviewed it as a game.
  expect(red?.sk).toMatch(/#0#red /);
});

test('a count reads the counts once, because later ones have records of their own', async () => {
  const { thing, publish } = await reviewedBy(3);
  await publish(1);
  const records = await readStream();
  let reads = 0;
  const spy = beforeSend(({ input }) => {
    if (toJson(input).includes(`ENTITY#${thing.entity_id}`)) reads++;
  });
  await keepThings(records);
  spy.mockRestore();
  expect(reads).toBe(1);
});

describe('a name that changes beside counts', () => {
  test('ends, although the counts change at each read', async () => {
    const { thing, publish, rename } = await reviewedBy(3);
    await rename('Green');
    const named = await readStream();
    let reads = 0;
    const spy = beforeSend(async ({ input }) => {
      const text = toJson(input);
      const isRead = !input.TransactItems && !text.includes('Request":{');
      if (!isRead || !text.includes(`ENTITY#${thing.entity_id}`)) return;
      reads++;
      if (reads <= 16) await publish(1);
    });
    await keepThings(named);
    spy.mockRestore();
    expect(reads).toBeGreaterThan(3);
    await keepThings(await readStream());
    expect(await atRest()).toEqual([3 + Math.min(reads, 16)]);
  });

  test('leaves an entry if it is killed, which an audit deletes', async () => {
    const { publish, rename } = await reviewedBy(3);
    await rename('Green');
    const named = await readStream();
    let state: 'before' | 'beside' | 'written' = 'before';
    const spy = beforeSend(async (command) => {
      if (state === 'written' && !isEntryWrite(command)) throw new Error('killed');
      if (state !== 'before' || !isEntryWrite(command)) return;
      state = 'beside';
      // The other consumer deletes the place that is about to be written.
      await publish(1);
      await keepThings(await readStream());
      state = 'written';
    });
    await expect(keepThings(named)).rejects.toThrow('killed');
    spy.mockRestore();
    await keepThings(named);
    await applyStream();
    // By number, and by rating.
    expect(await faults()).toHaveLength(2);
    expect(await repair()).toBe(2);
    expect(await atRest()).toEqual([4]);
  });

  test('has words of one level after a batch that is followed again with later reviews', async () => {
    await reviewedBy(0);
    const thing = newThing(film);
    const people = await makeUsers(10);
    await readStream();
    await name(thing, { name: 'Blue' });
    const named = await readStream();
    // It is killed before the position in the stream is stored.
    await keepThings(named);
    for (const person of people) await person.publishes({ ...thing, entity_type: film });
    await keepThings([...named, ...(await readStream())]);
    await settleRisen();
    await applyStream();
    expect(await faults()).toEqual([]);
  });

  test('has its lost entries again after an audit', async () => {
    await reviewedBy(3);
    const entries = entriesIn(await scanTable());
    const lost = entries.filter((_, i) => i % 2 === 0);
    await batchDelete(lost);
    expect(await repair()).toBe(lost.length);
    expect(entriesIn(await scanTable())).toEqual(entries);
  });

  test('is not repaired while its words wait, or once it has changed', async () => {
    // It has a mark, and words of nine reviews.
    const { rename } = await risen();
    const before = entriesIn(await scanTable());
    expect(await repair()).toBe(0);
    expect(entriesIn(await scanTable())).toEqual(before);
    await atRest();
    const [entry] = entriesIn(await scanTable());
    await batchDelete([entry as Item]);
    beforeTransaction(() => rename('Red'));
    expect(await repair()).toBe(0);
  });
});
