import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { bundleOptions } from '../../infra/aws/bundle.ts';
import { eventOf } from './event.ts';
import { type Host, here } from './process.ts';
import { quantile, round } from './table.ts';

/** A bundled handler in a process of its own: its size, and the medians of its import and of its first call, in milliseconds; of both, the CPU. */
export interface ColdStart {
  name: string;
  kilobytes: number;
  import: number;
  firstCall: number;
  cpu: { median: number; taken: number[] };
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

// As Lambda does: what is CommonJS is not imported.
const program = `
  const [file, event] = process.argv.slice(1);
  const require = process.getBuiltinModule('module').createRequire(file);
  const used = process.cpuUsage();
  const begin = performance.now();
  const { handler } = file.endsWith('.mjs') ? await import(file) : require(file);
  const imported = performance.now();
  // That nobody is signed in, or that there is no such review, is an answer too.
  await Promise.resolve(handler(JSON.parse(event), {})).catch(() => {});
  const called = performance.now();
  const { user, system } = process.cpuUsage(used);
  const taken = JSON.stringify([imported - begin, called - imported, (user + system) / 1000]);
  process.stdout.write(taken + '\\n', () => process.exit());`;

type Times = [loading: number, call: number, cpu: number];

/**
 * Starts every bundle of each checkout so many times, in turn, so that what else the machine does falls on all alike. Gives a list for each
 * checkout; bundles that not all of them have are left out.
 */
export async function benchColdStarts(
  checkouts: readonly { root: string; host: Host }[],
  rounds: number,
): Promise<ColdStart[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{}');
    const bundled = await Promise.all(
      checkouts.map(({ root }, i) => bundle(root, join(folder, `${i}`))),
    );
    const names = [...(bundled[0]?.keys() ?? [])].filter((name) =>
      bundled.every((files) => files.has(name)),
    );
    const times = bundled.map(() => new Map(names.map((name) => [name, [] as Times[]])));
    for (let round = 0; round < rounds; round++) {
      for (const name of names) {
        const inTurn = [...checkouts.entries()];
        if (round % 2 === 1) inTurn.reverse();
        for (const [i, { host }] of inTurn) {
          times[i]?.get(name)?.push(await start(bundled[i]?.get(name) ?? '', host));
        }
      }
    }
    return bundled.map((files, i) =>
      names.map((name) => {
        const taken = times[i]?.get(name) ?? [];
        const median = (of: (times: Times) => number) => round(quantile(taken.map(of), 0.5));
        return {
          name,
          kilobytes: round(statSync(files.get(name) ?? '').size / 1000),
          import: median(([loading]) => loading),
          firstCall: median(([, call]) => call),
          cpu: { median: median(([, , cpu]) => cpu), taken: taken.map(([, , cpu]) => cpu) },
        };
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bundles of a checkout as it makes them, and what there is to compare with; by operation. */
async function bundle(root: string, folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const [name, source] of Object.entries(baselines)) {
    const outfile = join(folder, `baseline-${files.size}.cjs`);
    const stdin = { contents: source, resolveDir: here };
    buildSync({ ...bundleOptions, outExtension: undefined, stdin, outfile });
    files.set(name, outfile);
  }
  const { bundleFunctions } = await import(pathToFileURL(`${root}/infra/aws/bundle.ts`).href);
  const bundles: Map<string, { directory: string }> = bundleFunctions(folder);
  for (const [operation, { directory }] of bundles) {
    files.set(operation, join(directory, 'index.cjs'));
  }
  return files;
}

async function start(file: string, { env }: Host): Promise<Times> {
  const options = ['--enable-source-maps=false', '--input-type=module', '-e', program, '--'];
  const args = [...options, file, JSON.stringify(anyEvent)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
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
