import * as v from 'valibot';
// Loaded first: it describes each field of a vote, and the compiler would ask for one more text.
import '../../../../shared/features/account/presented.ts';
import { Vote } from '../../../../shared/core/vote/vote.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';

// Added before the schemas that are derived from a vote are made.
const mood = v.optional(v.picklist(['calm', 'cross']));
Object.assign(Vote.entries, { mood });

const { voteKey } = await import('../../../../shared/core/keys.ts');
const { importRecords } = await import('../../../../shared/features/transfer/import.ts');
const { makeUsers } = await import('../../../helpers/world.ts');
const { readItem, setAttributes } = await import('../../../helpers/items.ts');
const { exported, sourced, recordsOf } = await import('../../../helpers/transfer.ts');

test('a field that a vote gains survives export and import', async () => {
  const [ann, bob] = await makeUsers(2);
  const review = await ann.publishes();
  await bob.votes(review);
  await setAttributes(voteKey(review, bob.id), { mood: 'calm' });
  const lines = (await exported()).map((record) => JSON.stringify(record));
  const records = recordsOf(lines);

  await enterEmptyTable();
  expect(await importRecords(sourced(records))).toMatchObject({
    written: { vote: 1 },
    refused: {},
  });
  expect(await readItem(voteKey(review, bob.id))).toMatchObject({ vote: true, mood: 'calm' });
});
