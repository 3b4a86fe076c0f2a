import { admin, dataFolderOn } from '../helpers/admin.ts';
import { scanTable } from '../helpers/items.ts';
import { differences } from '../helpers/recount.ts';
import { enterTable, newTable } from '../helpers/table.ts';

/** Items of the seed by key, without totals, trees and queues, which a rebuild makes. */
async function seeded() {
  const items = (await scanTable()).filter(
    ({ pk, queued_at }) => !/^(TREE#|TOTALS$|HEALTH$)/.test(pk) && queued_at === undefined,
  );
  return Object.fromEntries(
    items.map(({ version: _, ...item }) => [`${item.pk} ${item.sk}`, item]),
  );
}

test('npm run admin -- seed makes the same data for the same options, with all counts right', async () => {
  const options = ['seed', '--reviews', '150', '--users', '40'];
  const first = await admin(options);
  const answer = JSON.parse(first.stdout);
  const totals = { reviews: 150, users: 40, names: 0, corrected_projections: expect.any(Number) };
  const votes = expect.any(Number);
  expect(answer).toEqual({ reviews: 150, users: 40, entities: 8, votes, totals });
  expect(answer.votes).toBeGreaterThan(10);
  expect(await differences()).toEqual([]);
  const made = await seeded();
  expect(Object.keys(made).filter((key) => key.endsWith(' REVIEW'))).toHaveLength(150);

  const again = await newTable();
  expect((await admin(options, dataFolderOn(again))).stdout).toBe(first.stdout);
  enterTable(again);
  expect(await seeded()).toEqual(made);
});
