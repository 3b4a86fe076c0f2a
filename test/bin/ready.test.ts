import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newFolder } from '../helpers/folder.ts';
import { root } from '../helpers/service.ts';

const ready = join(root, 'bin/ready.cjs');
const folder = newFolder();

function run(...args: string[]) {
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

test('lets a program run', () => {
  const expected = { status: 0, stderr: '', stdout: 'it runs\n' };
  expect(run('--require', ready, '--print', '"it runs"')).toMatchObject(expected);
});

/** Runs a program with this file on another version of Node.js. */
function runOn(version: string, file: string) {
  const old = join(folder, 'old.cjs');
  writeFileSync(old, `Object.defineProperty(process.versions, 'node', { value: '${version}' });`);
  return run('--require', old, '--require', file, '--print', '1');
}

test.each(['20.20.2', '22.18.0', '9.0.0'])('says that Node.js %s is too old', (version) => {
  const { status, stderr, stdout } = runOn(version, ready);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^Error: this needs Node\.js 24, but runs on v[\d.]+\. The correct version .*\n$/,
  );
});

test('says which Node.js is needed where only what runs in production is installed', () => {
  const production = join(folder, 'production');
  mkdirSync(join(production, 'bin'), { recursive: true });
  mkdirSync(join(production, 'node_modules/commander'), { recursive: true });
  const copy = join(production, 'bin/ready.cjs');
  copyFileSync(ready, copy);
  const { status, stderr } = runOn('22.18.0', copy);
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /^Error: this needs Node\.js 24, but runs on v[\d.]+\. Install Node\.js 24, or type "npm ci", .*\n$/,
  );
});

test('says that nothing is installed', () => {
  mkdirSync(join(folder, 'bin'));
  const copy = join(folder, 'bin/ready.cjs');
  copyFileSync(ready, copy);
  const stderr = 'Error: the packages are not installed. Type: npm ci\n';
  expect(run('--require', copy, '--print', '1')).toMatchObject({ status: 1, stderr });
});

test('ends a program whose shell has died, as that of npm does of a signal', async () => {
  const program = `console.log(process.pid); setInterval(() => {}, 1_000);`;
  const command = `"${process.execPath}" --require "${ready}" --eval "${program}"; true`;
  const env = { PATH: process.env.PATH, npm_lifecycle_event: 'start' };
  const shell = spawn('sh', ['-c', command], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [pid] = await once(shell.stdout, 'data');
  const isRunning = () => {
    try {
      return readFileSync(`/proc/${`${pid}`.trim()}/cmdline`).length > 0;
    } catch {
      return false;
    }
  };
  expect(isRunning()).toBe(true);
  shell.kill('SIGTERM');
  for (let i = 0; i < 250 && isRunning(); i++) await sleep(20);
  expect(isRunning()).toBe(false);
});

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('every script that runs a program of ours makes sure of it first', () => {
  const ours = Object.values<string>(scripts).filter((script) => /\bbin\/\w+\.ts\b/.test(script));
  expect(ours.length).toBeGreaterThan(3);
  for (const script of ours) expect(script).toMatch(/^node --require \.\/bin\/ready\.cjs /);
});

test('no script needs more of a shell than the cmd of Windows has', () => {
  for (const script of Object.values<string>(scripts)) {
    expect(script).not.toMatch(/^\s*(exec|export|rm|cp|sh|bash)\b|^\w+=|['$`;|]|(?<!&)&(?!&)/);
  }
});
