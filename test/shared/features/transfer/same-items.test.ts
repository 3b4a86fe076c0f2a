import { randomUUID } from 'node:crypto';
import { keyString } from '../../../../shared/base/table/item.ts';
import { recountOwners } from '../../../../shared/features/audit/recount.ts';
import { rebuildThings } from '../../../../shared/features/things/rebuild-things.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { admin, dataFolderOn } from '../../../helpers/admin.ts';
import { scanTable } from '../../../helpers/items.ts';
import { correct, reviewNew } from '../../../helpers/names-by-people.ts';
import { enterEmptyTable, name } from '../../../helpers/table.ts';
import { exported, sourced } from '../../../helpers/transfer.ts';
import { makeGrant, makeUsers, text } from '../../../helpers/world.ts';

/**
 * Returns all items, without versions (which contain the time of an import), counts of 0,
 * aggregates of the stream and records of the service.
 */
async function itemsNow() {
  return Object.fromEntries(
    (await scanTable())
      .filter(
        ({ pk, sk, queued_at }) =>
          !/^(TREE#|TOTALS$|CONTACT#|HEALTH$|WORD#|THINGS#)/.test(pk) &&
          sk !== 'PROJECTION' &&
          queued_at === undefined,
      )
      .map((item) => {
        const isKept = ([name, value]: [string, unknown]) =>
          name !== 'version' && !(['COUNTS', 'ENTITY'].includes(item.sk) && value === 0);
        const kept = Object.fromEntries(Object.entries(item).filter(isKept));
        // An import does not count against the daily limits of writing.
        if (item.sk.startsWith('VOTES#'))
          Object.assign(kept, { publications: 0, edits: 0, names: 0 });
        return [keyString(item), kept];
      }),
  );
}

/** Imports the table into others, with a stream and without, and compares all items. */
async function expectSameElsewhere() {
  const records = await exported();
  const items = await itemsNow();
  for (const isAlone of [false, true]) {
    await enterEmptyTable();
    const { refused } = await importRecords(sourced(records), { isAlone });
    if (isAlone) await recountOwners();
    expect(refused).toEqual({});
    // Dates first reviews.
    await rebuildThings();
    expect({ isAlone, items: await itemsNow() }).toEqual({ isAlone, items });
  }
}

test('an import makes the same items as publishing, editing and voting', async () => {
  await enterEmptyTable();
  const [ann, bob, eve] = await makeUsers(3);
  const entity_id = randomUUID();
  const popular = await ann.publishes({ entity_id });
  await eve.votes(popular, 'down');
  await ann.edits(popular, { text: `Better. ${text}`, rating: 2 });
  await bob.votes(popular);
  await ann.votes(await bob.publishes({ entity_id, rating: null }));
  await eve.publishes({ entity_id, text: null, rating: 1 });
  await eve.publishes({ is_draft: true });
  await makeGrant(ann, ['vote'], { owner: bob });
  const thing = await reviewNew(ann, { name: 'Blue', about: '1957', url: 'https://a.example/' });
  await bob.publishes({ ...thing });
  await correct(bob, thing, { name: 'Bleu', note: 'French' });
  await expectSameElsewhere();
});

test('an import makes the same items as the seed', async () => {
  await enterEmptyTable();
  const seed = ['seed', '--reviews', '60', '--users', '40'];
  const { code } = await admin(seed, dataFolderOn(name));
  expect(code).toBe(0);
  await expectSameElsewhere();
});
