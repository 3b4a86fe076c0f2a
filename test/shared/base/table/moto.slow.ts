import { runAudit } from '../../../../bin/audit.ts';
import { toJson } from '../../../../shared/base/table/item.ts';
import { SqliteStorage } from '../../../../shared/base/table/sqlite/storage.ts';
import { rebuildAll } from '../../../../shared/features/transfer/upgrade.ts';
import { Comparison } from '../../../helpers/differential.ts';
import { scanTable } from '../../../helpers/items.ts';
import { isMotoThere } from '../../../helpers/moto.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';
import { exported, importWhole } from '../../../helpers/transfer.ts';
import { makeUsers, text, visitor } from '../../../helpers/world.ts';

// A second opinion on DynamoDB, which nobody here has written. Known faults of moto are left out:
// idempotency tokens, units, and the stream after a rollback.

const onMoto = isMotoThere ? describe : describe.skip;
if (!isMotoThere) console.warn('Left out: a second DynamoDB. It needs python3 with venv');

onMoto('on another implementation of DynamoDB', () => {
  /** A small community: reviews, votes, a report, an edit and a draft. */
  async function makeCommunity() {
    const [ann, ben, eve] = await makeUsers(3);
    const id = await ann.publishes();
    const lost = await eve.publishes({ text: `${text} of one who leaves` });
    await ben.votes(id);
    await eve.votes(id, 'down');
    await ben.votes(lost);
    await ann.reports(lost, { reason: 'spam' });
    await eve.edits(lost, { rating: 1 });
    await ben.publishes({ is_draft: true });
    await applyStream();
    return { ann, ben, eve, id, lost };
  }

  const audit = async () => (await runAudit({ settle: 50, patience: 0 })).differences;

  test('a deleted account leaves nothing, counts follow, and the audit finds no difference', async () => {
    const { ann, eve, id, lost } = await makeCommunity();
    expect((await visitor.sees(id)).votes).toEqual({ positive: 1, negative: 1 });
    await eve.leaves();
    await applyStream();
    const left = await scanTable();
    const names = [eve.id, lost];
    const ofEve = left.filter((item) => names.some((name) => toJson(item).includes(name)));
    // The log says that they are gone, and the lists count nothing of them.
    const kindsOf = new Set(ofEve.map(({ pk, sk }) => `${pk.split('#')[0]} ${sk.split('#')[0]}`));
    expect([...kindsOf].filter((kind) => !/^CHANGES | PROJECTION$/.test(kind))).toEqual([]);
    expect(left.map(toJson).join()).not.toContain('of one who leaves');
    expect((await visitor.sees(id)).votes).toEqual({ positive: 1, negative: 0 });
    expect((await visitor.readsUser(ann.id)).body.user.karma).toBe(1);
    expect(await audit()).toBe(0);
  });

  test('an export is imported into an empty table, and exported again as it was', async () => {
    await makeCommunity();
    const before = await exported();
    await enterEmptyTable();
    await importWhole(before);
    await rebuildAll();
    const after = await exported();
    expect(after).toHaveLength(before.length);
    expect(new Set(after.map(comparable))).toEqual(new Set(before.map(comparable)));
    expect(await audit()).toBe(0);
  });

  test('random writes and reads give the same as SQLite', async () => {
    await enterEmptyTable();
    const comparison = new Comparison(new SqliteStorage(':memory:'), 7);
    for (let i = 0; i < 300; i++) await comparison.step();
    await comparison.scan();
    expect(comparison.differences.slice(0, 3)).toEqual([]);
  });
});

/** A record without its versions, which contain the time of the import. */
function comparable(record: object): string {
  return JSON.stringify(record, (name, value) => {
    if (name === 'version') return undefined;
    return typeof value === 'bigint' ? `${value}` : value;
  });
}
