import '../../../helpers/engine.ts';
import { recordOf } from '../../../../infra/local/storage/change-records.ts';
import { SqliteStorage } from '../../../../shared/base/table/sqlite/storage.ts';
import { Comparison, plain } from '../../../helpers/differential.ts';
import { readStream } from '../../../helpers/stream.ts';

/** The records of each item, without their numbers and times. */
function byItem(records: Awaited<ReturnType<typeof readStream>>) {
  const groups: Record<string, unknown[]> = {};
  for (const { eventName, dynamodb } of records) {
    const key = JSON.stringify(plain(dynamodb?.Keys));
    groups[key] ??= [];
    groups[key]?.push([eventName, numbered(dynamodb?.OldImage), numbered(dynamodb?.NewImage)]);
  }
  return groups;
}

/** DynamoDB writes a number in other digits than JavaScript. */
function numbered(image: object | undefined): unknown {
  const asNumber = (name: string, value: unknown) => (name === 'N' ? `${Number(value)}` : value);
  return plain(JSON.parse(JSON.stringify(image ?? null, asNumber)));
}

test('SQLite answers random writes and reads as an emulator of DynamoDB does', async () => {
  const storage = new SqliteStorage(':memory:');
  const comparison = new Comparison(storage, 1);
  for (let i = 0; i < 1_000; i++) await comparison.step();
  for (let i = 0; i < 20; i++) await comparison.race();
  await comparison.scan();
  expect(comparison.differences).toEqual([]);
  expect(comparison.units).toEqual([]);
  expect(Object.keys(comparison.operations)).toHaveLength(11);

  const changes = [];
  for (let number = 0; ; ) {
    const some = await storage.changes.after(number);
    if (some.length === 0) break;
    changes.push(...some.map(recordOf));
    number = some.at(-1)?.number ?? 0;
  }
  expect(changes.length).toBeGreaterThan(300);
  expect(byItem(changes)).toEqual(byItem(await readStream()));
});
