import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startDatabase } from '../../../infra/local/database.ts';
import { createTable } from '../../../infra/local/table.ts';

test('only this user can read the files of the embedded database', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'data-'));
  chmodSync(folder, 0o755);
  const database = await startDatabase({ file: join(folder, 'dynamodb.sqlite') });
  try {
    await createTable(database.endpoint, 'reviews');
    const files = readdirSync(folder);
    const modes = files.map((file) => [file, statSync(join(folder, file)).mode & 0o777]);
    expect(files).toContain('dynamodb.sqlite');
    expect(modes).toEqual(files.map((file) => [file, 0o600]));
  } finally {
    await database.stop();
    rmSync(folder, { recursive: true });
  }
});
