import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deleteOldBackups } from '../../../../infra/local/storage/backup.ts';
import { databaseFile } from '../../../../infra/local/storage/data-folder.ts';
import { newFolder } from '../../../helpers/folder.ts';

const parent = newFolder();

/** Makes a folder with these files. The database is so many days old. */
function make(name: string, days: number, ...files: string[]) {
  const folder = join(parent, name);
  mkdirSync(folder);
  const time = Date.now() / 1000 - days * 86_400;
  for (const file of files) {
    writeFileSync(join(folder, file), '');
    utimesSync(join(folder, file), time, time);
  }
  return folder;
}

test('backups beside a new one are deleted when they are too old, and nothing else is', () => {
  const files = [databaseFile, 'version.json', 'signing-key'];
  const old = [make('2026-01-01', 36, ...files), make('2026-01-02', 35.1, ...files)];
  const kept = [
    make('new', 0, ...files),
    make('2026-02-01', 34.9, ...files),
    // A data folder, a folder of something else, and a backup with a note.
    make('data', 100, ...files, `${databaseFile}-wal`),
    make('photos', 100, 'a.jpg'),
    make('with-a-note', 100, ...files, 'README'),
    make('empty', 100),
  ];
  writeFileSync(join(parent, 'file'), '');
  expect(deleteOldBackups(join(parent, 'new'), 35)).toEqual(old);
  for (const folder of old) expect(existsSync(folder)).toBe(false);
  for (const folder of kept) expect(existsSync(folder)).toBe(true);
  expect(readdirSync(parent)).toContain('file');
});
