/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { archive } from '../helpers/critiquebrainz-archive.ts';
import {
  addWebhook,
  makeMember,
  type Operator,
  reviewFilm,
  shell,
  startOperator,
} from '../helpers/operator.ts';
import { membersFile, printedCommands, startBlocks } from '../helpers/printed-commands.ts';
import { codeBlock } from '../helpers/server-guide.ts';
import { fresh, root } from '../helpers/service.ts';

// Each command that a document for operators prints, as it is printed.

/** Commands that need an account of AWS, a container, root or another checkout. */
const notHere = [
  /\baws \w/,
  /^(npx cdk|docker|sudo|git|cd|cp|curl|export|query) /,
  /^([A-Z_]+=\S+ )?npm (ci|install|start|test)\b/,
  /^npm run (deploy|synth|bench)\b/,
  // Run whole, in test/contract/command.slow.ts.
  /^npm run (contract|smoke)\b/,
  // They need a thing that is in the right state.
  /\bentity (remove|return|lead|confirm)\b/,
  // It waits six minutes, until every function has read the key.
  /--stack \S+ key rotate/,
  // Only the beginning that all commands share.
  /^npm run( -s)? admin --( --stack [\w-]+)?$/,
];

const operator = await startOperator();
const { dataDir, service } = operator;
const folder = fresh('folder');
let env: NodeJS.ProcessEnv;

/** Installs the command of the server guide, without the change to another user. */
function installCommand() {
  const text = codeBlock('#!/bin/sh')
    .replace('/opt/reviews/service', root)
    .replace('sudo -u reviews env', 'env')
    .replace('/srv/reviews/data', dataDir);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const file = join(folder, 'bin/reviews-admin');
  writeFileSync(file, `${text}\n`);
  chmodSync(file, 0o755);
  return join(folder, 'bin');
}

/** Makes what the commands name: accounts, an application, a webhook and files. */
async function makeNamed({ admin }: Operator) {
  await admin('seed', '--reviews', '40', '--users', '20', '--entities', '8');
  const ann = await makeMember(operator, 'Ann');
  await reviewFilm(operator, ann);
  const { client_id, webhook_id } = await addWebhook(operator, ann.id, 'http://127.0.0.1:1/');
  const both = ['--user', ann.id, '--name', 'Smoke', '--scope', 'review,vote'];
  const token: { access_token: string } = await admin('token', 'create', ...both);
  await archive(join(folder, 'cbdump.tar.bz2'), { user_sanitised: [], license: [] });
  const tables = { review: [], revision: [], vote: [] };
  await archive(join(folder, 'cbdump-reviews-all.tar.bz2'), tables);
  writeFileSync(join(folder, 'members.jsonl'), membersFile());
  mkdirSync(join(folder, 'backups'));
  await admin('backup', join(folder, 'backups/2026-11-22'));
  return {
    USER_ID: ann.id,
    CLIENT: client_id,
    WEBHOOK: webhook_id,
    TOKEN: token.access_token,
  };
}

beforeAll(async () => {
  const bin = installCommand();
  const named = await makeNamed(operator);
  await operator.copyToAccount();
  env = { ...operator.env, ...named, PATH: `${bin}:${operator.env.PATH}` };
}, 120_000);

/** Returns the command with paths of this test, and smaller data. */
function here(command: string) {
  return (
    command
      .replaceAll(/(?<!\/)\b[\w-]+(\.jsonl(?:\.gz)?|\.tar\.bz2)\b/g, (file) => join(folder, file))
      .replaceAll(/--out (dump[\w-]*)/g, (_, name) => `--out ${join(folder, name)}`)
      .replaceAll('/srv/reviews', folder)
      .replaceAll(/https:\/\/\S+\/ws\/1/g, service.url)
      .replaceAll('rva_…', '$TOKEN')
      .replaceAll('6fea414a-…', crypto.randomUUID())
      // A person at a terminal is asked.
      .replace(/(app revoke .*)/, '$1 --yes')
      .replace('--reviews 200000 --users 5000', '--reviews 400 --users 40')
  );
}

test('every command that is printed succeeds as it is printed', async () => {
  const commands = printedCommands().filter(
    ({ command }) => !notHere.some((each) => each.test(command)),
  );
  // Last, because a key that is retired ends the token of the others.
  commands.sort((a, b) => Number(/ key /.test(a.command)) - Number(/ key /.test(b.command)));
  const places = new Set(commands.map(({ place }) => place));
  expect(places.size).toBe(5);
  const failures = [];
  const done = new Set<string>();
  for (const { place, command } of commands) {
    if (done.has(command) && !/import|audit/.test(command)) continue;
    done.add(command);
    // A restore takes a folder without data.
    const isRestore = / restore /.test(command);
    const text = isRestore
      ? here(command).replace('reviews-admin', `npm run -s admin -- --data-dir ${fresh('other')}`)
      : here(command);
    // Each export is written anew.
    const [, out] = / --out (\S+)/.exec(text) ?? [];
    if (out) rmSync(out, { recursive: true, force: true });
    if (/--stack \S+ audit/.test(text)) await operator.followAccount();
    const { code, stdout, stderr } = await shell(text, env);
    if (code !== 0) failures.push(`${place}: ${command}\n${stdout.slice(-200)}${stderr}`);
  }
  expect(failures).toEqual([]);
  expect(done.size).toBeGreaterThan(40);
}, 600_000);

test.each(startBlocks())('$place: the service starts as printed: $command', async ({ command }) => {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const started = spawn('sh', ['-c', command], {
    cwd: root,
    env: { PATH, HOME, NODE_COMPILE_CACHE, PORT: '0', DATA_DIR: fresh('data') },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(started, 'exit');
  let said = '';
  const isUp = new Promise<void>((resolve) => {
    started.stdout.on('data', (chunk) => {
      said += chunk;
      if (said.includes('runs at')) resolve();
    });
  });
  started.stderr.on('data', (chunk) => {
    said += chunk;
  });
  await Promise.race([isUp, ended]);
  expect(said).toContain('runs at');
  process.kill(-(started.pid ?? 0), 'SIGTERM');
  await ended;
});
