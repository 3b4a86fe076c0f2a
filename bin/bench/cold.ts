import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { bundleFunctions, bundleOptions } from '../../infra/aws/bundle.ts';
import { eventOf, quantile } from './measure.ts';
import { round } from './table.ts';

/** A bundled handler in a process of its own: its size, and the medians of its import and of its first call, in milliseconds. */
export interface ColdStart {
  name: string;
  kilobytes: number;
  import: number;
  firstCall: number;
}

/** What there is to compare with: Node alone, and the SDK alone. */
const baselines = {
  '(empty)': 'export const handler = async () => ({ statusCode: 200 });',
  '(one GetItem)': `
    import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
    const client = new DynamoDBClient({});
    const Key = { pk: { S: 'TOTALS' }, sk: { S: 'none' } };
    export const handler = () =>
      client.send(new GetItemCommand({ TableName: process.env.TABLE_NAME, Key }));`,
};

const program = `
  const [url, event] = process.argv.slice(1);
  const begin = performance.now();
  const { handler } = await import(url);
  const imported = performance.now();
  // That nobody is signed in, or that there is no such review, is an answer too.
  await Promise.resolve(handler(JSON.parse(event), {})).catch(() => {});
  const called = performance.now();
  process.stdout.write(JSON.stringify([imported - begin, called - imported]) + '\\n', () => process.exit());`;

/** Starts every bundle so many times, in turn, so that what else the machine does falls on all alike. */
export async function benchColdStarts(rounds: number): Promise<ColdStart[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const files = new Map<string, string>();
    for (const [name, source] of Object.entries(baselines)) {
      const outfile = join(folder, `baseline-${files.size}.mjs`);
      buildSync({
        ...bundleOptions,
        outExtension: undefined,
        stdin: { contents: source, resolveDir: process.cwd() },
        outfile,
      });
      files.set(name, outfile);
    }
    for (const [operation, { directory }] of bundleFunctions(folder)) {
      files.set(operation, join(directory, 'index.mjs'));
    }
    writeFileSync(join(folder, 'package.json'), '{}');
    const times = new Map([...files.keys()].map((name) => [name, [] as [number, number][]]));
    for (let round = 0; round < rounds; round++) {
      for (const [name, file] of files) times.get(name)?.push(await start(file));
    }
    return [...files].map(([name, file]) => ({
      name,
      kilobytes: round(statSync(file).size / 1000),
      import: round(
        quantile(
          (times.get(name) ?? []).map(([loading]) => loading),
          0.5,
        ),
      ),
      firstCall: round(
        quantile(
          (times.get(name) ?? []).map(([, call]) => call),
          0.5,
        ),
      ),
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start(file: string): Promise<[number, number]> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--enable-source-maps=false',
    '--input-type=module',
    '-e',
    program,
    '--',
    file,
    JSON.stringify(anyEvent),
  ]);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** Something for every kind of function: a request with a caller, a batch of no records, a token that is not ours. */
const id = '00000000-0000-4000-8000-000000000000';
const anyEvent = {
  ...eventOf({
    path: { review_id: id, user_id: id, client_id: '0'.repeat(32), rev: '1' },
    query: { review_ids: id },
    caller: { user_id: id, client_id: '0'.repeat(32), scope: 'review vote user' },
  }),
  Records: [],
  authorizationToken: 'Bearer none',
  methodArn: 'arn:aws:execute-api:us-east-1:000000000000:bench/ws/GET/1/user/me',
};
