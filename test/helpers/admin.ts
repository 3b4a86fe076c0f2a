import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runAdmin } from '../../bin/admin/program.ts';
import { announce, type Discovery } from '../../infra/local/storage/discovery.ts';
import type { SqliteStorage } from '../../shared/base/table/sqlite/storage.ts';
import { provideStorage, storage } from '../../shared/base/table/storage.ts';
import { newFolder } from './folder.ts';
import { name, sqlite } from './table.ts';

const { PATH, NODE_COMPILE_CACHE, SIGNING_KEYS } = process.env;

/** The folder of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Makes a data folder that names this process as a running stack. Commands in this process use the
 * table of the test file.
 */
export function dataFolder(but: Partial<Discovery> = {}): string {
  const folder = newFolder();
  announce(folder, {
    pid: process.pid,
    url: null,
    identity_provider: null,
    database: null,
    dynamodb_endpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '',
    table_name: process.env.TABLE_NAME ?? '',
    ...but,
  });
  return folder;
}

/** Makes a data folder as `dataFolder` does, on a table that commands of any process open. */
export const dataFolderOn = (table: string) =>
  dataFolder(sqlite ? { database: table } : { table_name: table });

/** The data folder that commands use by default. */
export const dataDir = dataFolder();

/**
 * Runs the admin tool in a process of its own, for tests that change the environment or the
 * database.
 */
export async function spawnAdmin(
  args: string[],
  DATA_DIR = dataFolderOn(name),
  env: Record<string, string> = {},
) {
  const child = spawn(process.execPath, ['bin/admin.ts', ...args], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE, DATA_DIR, SIGNING_KEYS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    readAll(child.stdout),
    readAll(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

/** Runs the admin tool in this process, which uses its own table again afterwards. */
export async function admin(args: string[], DATA_DIR = dataDir) {
  const said = { stdout: '', stderr: '' };
  process.env.DATA_DIR = DATA_DIR;
  const before = storage();
  try {
    const code = await runAdmin(args, {
      writeOut: (text) => {
        said.stdout += text;
      },
      writeErr: (text) => {
        said.stderr += text;
      },
    });
    return { code, ...said };
  } finally {
    const used = storage();
    if (used !== before) (used as SqliteStorage).close();
    provideStorage(before);
    if (!sqlite) process.env.TABLE_NAME = name;
  }
}

/** Runs a command that must succeed. Returns its one JSON document, and expects an empty stderr. */
export async function run(...args: string[]) {
  const { code, stdout, stderr } = await admin(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  const document = JSON.parse(stdout);
  expect(stdout).toBe(`${JSON.stringify(document, null, 2)}\n`);
  return document;
}

/** Runs commands that must fail, one after the other. */
export async function refuses(code: number, cases: [string[], string | RegExp, string?][]) {
  for (const [args, message, folder] of cases) {
    const stderr = typeof message === 'string' ? message : expect.stringMatching(message);
    expect({ args, ...(await admin(args, folder)) }).toEqual({ args, code, stdout: '', stderr });
  }
}
