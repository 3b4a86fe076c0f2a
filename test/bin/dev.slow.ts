import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { newFolder } from '../helpers/folder.ts';
import { root } from '../helpers/service.ts';

const folder = newFolder();
for (const part of ['bin', 'functions', 'infra', 'shared', 'package.json']) {
  cpSync(join(root, part), join(folder, part), { recursive: true });
}
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

const { PATH, NODE_COMPILE_CACHE } = process.env;
const dev = spawn('npm', ['run', 'dev', '--', '--port', '0', '--memory', '--quiet'], {
  cwd: folder,
  env: { PATH, NODE_COMPILE_CACHE, DATA_DIR: join(folder, 'data') },
  detached: true,
});
let said = '';
for (const output of [dev.stdout, dev.stderr]) {
  output.on('data', (chunk) => {
    said += chunk;
  });
}
afterAll(async () => {
  if (dev.exitCode === null && dev.signalCode === null) {
    process.kill(-(dev.pid ?? 0), 'SIGKILL');
    await once(dev, 'exit');
  }
});

const endpoint = join(folder, 'functions/api/list-languages.ts');
const good = readFileSync(endpoint, 'utf8');

/**
 * Answer of the endpoint from the newest process that was started, as soon as that is `expected`.
 */
async function answers(expected: unknown) {
  let answer: unknown;
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(100)) {
    const url = /.*runs at (\S+)/s.exec(said)?.[1];
    // Tests hold what fetch gets against the description of the API, and a typo is none of that.
    if (!url) continue;
    const response = await new Promise<IncomingMessage | undefined>((resolve) => {
      get(`${url}/review/languages`, resolve).on('error', () => resolve(undefined));
    });
    const isFine = response?.statusCode === 200;
    answer = isFine ? JSON.parse(await readAll(response)).languages[0] : response?.statusCode;
    if (answer === expected) return;
  }
  expect({ answer, said }).toEqual({ answer: expected, said });
}

/** The endpoint, but its list leaves out the first languages: aa, ab, ae, af, ak. */
function without(first: number | string) {
  const changed = good.replace('=> ({ languages', `=> ({ languages: languages.slice(${first})`);
  expect(changed).not.toBe(good);
  return changed;
}

/** As editors save that keep the old file until the new one is written. */
function replace(text: string) {
  writeFileSync(`${endpoint}.new`, text);
  renameSync(`${endpoint}.new`, endpoint);
}

beforeAll(() => answers('aa'));

test('a change is served, and so is the one after a typo', async () => {
  writeFileSync(endpoint, without(1));
  await answers('ab');
  replace(good.replace('export const handler', 'export const handler oops'));
  await answers(502);
  replace(good);
  await answers('aa');
  replace(without(2));
  await answers('ae');
  writeFileSync(endpoint, without(3));
  await answers('af');
});

test('a typo that ends the service is mended by the next save', async () => {
  const routes = join(folder, 'shared/base/routes.ts');
  const before = readFileSync(routes, 'utf8');
  writeFileSync(routes, `${before}oops oops`);
  await answers(undefined);
  writeFileSync(routes, before);
  await answers('af');
});

test('a folder that is new is watched', async () => {
  mkdirSync(join(folder, 'shared/new/er'), { recursive: true });
  const file = join(folder, 'shared/new/er/name.ts');
  const importing = `import { name } from '../../shared/new/er/name.ts';\n${without('name')}`;
  writeFileSync(file, 'export const name = 4;\n');
  writeFileSync(endpoint, importing);
  await answers('ak');
  writeFileSync(file, 'export const name = 1;\n');
  await answers('ab');
});

test('it ends with its service', async () => {
  process.kill(-(dev.pid ?? 0), 'SIGINT');
  await once(dev, 'exit');
  await answers(undefined);
});
