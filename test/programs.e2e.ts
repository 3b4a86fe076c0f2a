import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { startStack } from '../infra/local/stack.ts';
import { openApiAt } from '../shared/openapi.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'programs-'));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));

jest.spyOn(console, 'info').mockImplementation(() => {});
const { url, stop } = await startStack({ port: 0, dataDir: join(folder, 'data'), memory: true });
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

// The stack has set what these read.
const { makeReview, makeUser } = await import('./fixtures.ts');
const { makeClient } = await import('./oauth/client.ts');
const { insertGrant } = await import('../shared/oauth/grant-repository.ts');
const { tokenResponse } = await import('../shared/oauth/grant.ts');

/** What a section of the README has in its one block of this language. */
function snippet(heading: string, language: string): string {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split(/\n## /)[0] ?? '';
  const blocks = [...section.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const found = blocks.filter(([, name]) => name === language);
  expect(found).toHaveLength(1);
  return found[0]?.[2] ?? '';
}

/** Somebody whose reviews fill several pages, and what a program of theirs is told. */
async function person() {
  const user = await makeUser({ display_name: 'Ann' });
  const client = await makeClient(user, 'http://localhost:8080/callback');
  const grant = await insertGrant({
    user_id: user.id,
    client_id: client.client_id,
    scopes: ['review'],
  });
  return {
    ...process.env,
    BASE: url,
    CLIENT: client.client_id,
    CLIENT_SECRET: client.client_secret,
    REFRESH_TOKEN: (await tokenResponse(grant)).refresh_token,
  };
}

/** Each program says what it has published, then lists everything. */
function expectWalk(output: string, there: readonly string[]): void {
  const [first = '', ...lines] = output.trim().split('\n');
  const id = /^published ([\da-f-]{36})$/.exec(first)?.[1];
  expect(lines.map((line) => line.slice(0, 36))).toEqual([id, ...there.toReversed()]);
  for (const line of lines) expect(line).toContain(' by Ann');
}

const there: string[] = [];
beforeAll(async () => {
  const author = await makeUser({ display_name: 'Ann' });
  for (let i = 0; i < 5; i++) there.push(await makeReview(author));
});

describe('the program in TypeScript', () => {
  const file = join(folder, 'reviews.ts');

  test('fits the types that openapi-typescript makes, without a warning', async () => {
    const description = join(folder, 'openapi.json');
    writeFileSync(description, JSON.stringify(openApiAt('http://localhost:3000/ws')));
    const made = await run(
      join(root, 'test/client/node_modules/.bin/openapi-typescript'),
      [description, '--output', join(folder, 'api.d.ts')],
      { cwd: folder },
    );
    expect(made.stderr).not.toMatch(/warn|error/i);
    writeFileSync(file, snippet('From TypeScript', 'ts'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const options =
      '--noEmit --strict --module nodenext --target es2024 --lib es2024,dom,dom.iterable --types node --skipLibCheck --allowImportingTsExtensions';
    await run(join(root, 'node_modules/.bin/tsc'), [...options.split(' '), file], {
      cwd: folder,
    }).catch(({ stdout }) => {
      throw new Error(stdout);
    });
  });

  test('publishes, refreshes on 401 and walks the list', async () => {
    writeFileSync(file, snippet('From TypeScript', 'ts'));
    const { stdout } = await run(process.execPath, [file], { cwd: folder, env: await person() });
    expectWalk(stdout, there);
    there.push(/[\da-f-]{36}/.exec(stdout)?.[0] ?? '');
  });
});

describe('the program in Python', () => {
  const python = process.env.PYTHON ?? 'python3';
  const { status, stderr } = spawnSync(python, ['-c', 'import requests_oauthlib'], {
    encoding: 'utf8',
  });
  const why = stderr?.trim().split('\n').at(-1) || `there is no ${python}`;
  const testWhereItRuns = status === 0 ? test : test.skip;

  testWhereItRuns(
    status === 0 ? 'publishes, refreshes and walks the list' : `is not run: ${why}`,
    async () => {
      const file = join(folder, 'reviews.py');
      writeFileSync(file, snippet('From Python', 'python'));
      const { stdout } = await run(python, [file], { cwd: folder, env: await person() });
      expectWalk(stdout.replaceAll(/^published +/gm, 'published '), there);
    },
  );
});
