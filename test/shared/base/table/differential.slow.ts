import '../../../helpers/engine.ts';
import { randomInt } from 'node:crypto';
import { SqliteStorage } from '../../../../shared/base/table/sqlite/storage.ts';
import { Comparison } from '../../../helpers/differential.ts';

// With DYNAMODB_ENDPOINT, SQLite is compared with the DynamoDB there.
const steps = Number(process.env.STEPS ?? 3_000);

test('SQLite answers as an emulator of DynamoDB does, with another seed each time', async () => {
  const seed = randomInt(2 ** 31);
  const comparison = new Comparison(new SqliteStorage(':memory:'), seed);
  for (let i = 0; i < steps; i++) await comparison.step();
  for (let i = 0; i < steps / 50; i++) await comparison.race();
  await comparison.scan();
  // Not all, which would be megabytes.
  expect({ seed, differences: comparison.differences.slice(0, 3) }).toEqual({
    seed,
    differences: [],
  });
  expect({ seed, units: comparison.units.slice(0, 3) }).toEqual({ seed, units: [] });
}, 600_000);
