import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fresh } from '../helpers/service.ts';

test('the run of a size prints all steps, and leaves nothing behind', async () => {
  const dataDir = join(fresh('size'), 'data');
  const file = ['--require', './bin/ready.cjs', 'bin/size.ts'];
  const options = ['--reviews', '400', '--requests', '5', '--data-dir', dataDir];
  const { stdout } = await promisify(execFile)(process.execPath, [...file, ...options]);
  const rows = stdout.split('\n').filter((line) => line.startsWith('| '));
  const cells = new Map(rows.map((row) => [row.split(' | ')[0]?.slice(2), row.split(' | ')]));
  const commands = ['import', 'backup', 'restore', 'audit', 'export'];
  for (const name of commands) {
    expect([name, ...(cells.get(name) ?? [])]).toEqual([
      name,
      `| ${name}`,
      expect.stringMatching(/^\d+\.\d s$/),
      expect.stringMatching(/^\d+\.\d s$/),
      // Of the service, where one runs.
      expect.stringMatching(name === 'restore' ? /^$/ : /^\d+\.\d s$/),
      expect.stringMatching(/^[1-9]\d+ MB \|$/),
    ]);
  }
  const requests = ['list of 50', 'one review', 'vote, with its part of the stream'];
  for (const name of requests) {
    expect([name, cells.get(name)?.[3]]).toEqual([name, expect.stringMatching(/^[\d.]+ ms$/)]);
  }
  expect(cells.get('data file')?.[1]).toMatch(/^[1-9]\d* MB$/);
  expect(existsSync(dirname(dataDir)) ? readdirSync(dirname(dataDir)) : []).toEqual([]);
}, 120_000);
