import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Result } from '../contract/suite/run.ts';
import { root as cwd } from './service.ts';

/** A run of the contract, as its user sees it. */
interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `npm run contract` with these arguments and variables. */
export function contract(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const options = { cwd, env: { PATH, HOME, NODE_COMPILE_CACHE, ...env } };
  const command = ['--require', './bin/ready.cjs', 'test/contract/command.ts', ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, command, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** Runs all of the contract. Returns what does not hold, and what was left behind. */
export async function tryContract(args: readonly string[], env?: NodeJS.ProcessEnv) {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  const file = join(folder, 'report.json');
  const { code, stdout } = await contract([...args, '--json', file], env);
  const report = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(folder, { recursive: true });
  const { rows, left, stopped } = report as {
    rows: Result[];
    left: string[];
    stopped?: string;
  };
  const of = (outcome: Result['outcome']) => rows.filter((row) => row.outcome === outcome);
  return {
    code,
    stdout,
    left,
    stopped,
    holds: of('holds').length,
    differs: of('differs').map(({ claim, why }) => `${claim}: ${why}`),
    untried: of('untried').filter(({ section }) => section !== 'Beyond this suite'),
  };
}
