import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { callerOf } from './api.ts';
import type { TestResponse } from './invoke.ts';

const run = promisify(execFile);

/** The folder of the code. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'operate-'));
const running = new Set<ChildProcess>();
afterAll(async () => {
  for (const process of running) process.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a path where nothing exists yet. */
export function fresh(name: string): string {
  return join(mkdtempSync(join(folder, 'x-')), name);
}

/** A service started as an operator starts it. */
export interface Service {
  /** The base URL. */
  url: string;
  /** Lines printed so far. */
  out: string[];
  err: string[];
  process: ChildProcess;
  /** Sends a signal. Returns the exit status, or the signal's name, when the process has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string>;
}

interface StartOptions {
  options?: readonly string[];
  /** The folder of the code. */
  code?: string;
  /** More variables. */
  env?: NodeJS.ProcessEnv;
  /** A command that runs JavaScript, by default Node.js as it runs here. */
  node?: readonly string[];
  /** Matches the line to wait for, after the one with the address. */
  until?: RegExp;
}

/** Starts the service on a free port. Throws its output if it does not start. */
export async function start(
  dataDir: string,
  {
    options = [],
    code = root,
    env = {},
    node: [program = '', ...begin] = [globalThis.process.execPath],
    until = /./,
  }: StartOptions = {},
): Promise<Service> {
  const args = [...begin, '--require', './bin/ready.cjs', 'bin/start.ts', '--port', '0'];
  const process = spawn(program, [...args, '--data-dir', dataDir, ...options], {
    cwd: code,
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(process);
  const out: string[] = [];
  const err: string[] = [];
  const gone = once(process, 'exit').then(([status, signal]) => {
    running.delete(process);
    return signal ?? status;
  });
  createInterface({ input: process.stderr }).on('line', (line) => err.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    let address: string | undefined;
    createInterface({ input: process.stdout }).on('line', (line) => {
      out.push(line);
      address ??= /http:\/\/localhost:\d+\/ws\/1/.exec(line)?.[0];
      if (address && until.test(line)) resolve(address);
    });
    void gone.then(() => reject(new Error(err.join('\n'))));
  });
  return {
    url,
    out,
    err,
    process,
    end(signal) {
      process.kill(signal);
      return gone;
    },
  };
}

/** Runs an admin command. Returns its answer; throws its stderr. */
export async function admin(
  dataDir: string,
  args: readonly string[],
  code = root,
): Promise<TestResponse['body']> {
  const command = ['--require', './bin/ready.cjs', 'bin/admin.ts', '--data-dir', dataDir, ...args];
  try {
    const options = { cwd: code, env: environment() };
    return JSON.parse((await run(globalThis.process.execPath, command, options)).stdout);
  } catch (error) {
    throw new Error((error as { stderr?: string }).stderr || `${error}`);
  }
}

/** Makes an account. Returns an access token for it, with these scopes. */
export async function makeToken(dataDir: string, code = root, scopes = 'review'): Promise<string> {
  const { id } = await admin(dataDir, ['user', 'create', '--name', 'Ann'], code);
  const options = ['--user', id, '--name', 'Test', '--scope', scopes];
  return (await admin(dataDir, ['token', 'create', ...options], code)).access_token;
}

/** Returns a review of another entity at each call. */
export function review(): string {
  return JSON.stringify({
    entity_id: crypto.randomUUID(),
    entity_type: 'work',
    language: 'en',
    text: 'Forty minutes that reward every new listen.',
    license_choice: 'CC BY-SA 4.0',
  });
}

/** Publishes a review. Returns its id. */
export async function publish(url: string, token: string): Promise<string> {
  const { status, body } = await callerOf(url, token)('POST', '/review/', review());
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** Returns how many of these reviews are missing. */
export async function missing(url: string, ids: readonly string[]): Promise<string[]> {
  const statuses = await Promise.all(
    ids.map(async (id) => [id, (await fetch(`${url}/review/${id}`)).status] as const),
  );
  return statuses.filter(([, status]) => status !== 200).map(([id]) => id);
}

/** Returns the environment without what the tests set for the service in their process. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = globalThis.process.env;
  return { PATH, HOME, NODE_COMPILE_CACHE };
}
