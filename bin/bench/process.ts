import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tasks } from './service.ts';

/** This checkout. */
export const here = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** The stack of a checkout in a process of its own, with data in it. */
export interface Host {
  url: string;
  /** What the functions read. */
  env: NodeJS.ProcessEnv;
  /** Resolves when the stream has been followed. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/** The functions of a checkout in a process of its own. */
export interface Service {
  ask<K extends keyof Tasks>(name: K, task: Tasks[K]['take']): Promise<Tasks[K]['give']>;
  stop(): Promise<void>;
}

/** Starts the stack of the checkout at `root`, and seeds so many reviews where there are none. */
export async function startHost(root: string, dataDir: string, reviews: number): Promise<Host> {
  const child = fork(join(here, 'bin/bench/host.ts'), [root, resolve(dataDir), `${reviews}`], {
    env: { ...process.env, AWS_ENDPOINT_URL_DYNAMODB: '', SIGNING_KEYS: '', SESSION_KEYS: '' },
  });
  const said = await Promise.race([
    once(child, 'message').then(([message]) => message as Pick<Host, 'url' | 'env'>),
    once(child, 'exit').then(() => undefined),
  ]);
  if (!said) throw new Error(`the stack of ${root} did not start`);
  return {
    ...said,
    async idle() {
      child.send('idle');
      await once(child, 'message');
    },
    stop: () => end(child),
  };
}

/** Starts a process that has the functions of the checkout at `root`, and the data of its host. */
export function startService(root: string, { env }: Host): Service {
  const child = fork(join(here, 'bin/bench/service.ts'), [root], { env });
  const ended = once(child, 'exit').then(() => [{ failure: 'the service ended' }]);
  return {
    async ask(name, task) {
      child.send({ name, task });
      const said = new Promise<{ given: never; failure?: string }[]>((resolve) => {
        child.once('message', (message) => resolve([message as never]));
      });
      const [{ given, failure }] = (await Promise.race([said, ended])) as Awaited<typeof said> &
        [never];
      if (failure) throw new Error(`${root}: ${failure}`);
      return given;
    },
    stop: () => end(child),
  };
}

/** Another commit of this repository in a folder of its own, with the packages of this checkout. */
export function checkOut(commit: string): { root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'bench-against-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: here, stdio: 'pipe' });
  git('worktree', 'add', '--detach', '--force', root, commit);
  symlinkSync(join(here, 'node_modules'), join(root, 'node_modules'));
  return {
    root,
    remove() {
      rmSync(join(root, 'node_modules'));
      git('worktree', 'remove', '--force', root);
    },
  };
}

async function end(child: ReturnType<typeof fork>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.disconnect();
  await gone;
}
