import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { sections } from './sections.ts';
import { check } from './suite/check.ts';
import { operatorBy } from './suite/people.ts';
import { count, lineOf, summaryOf } from './suite/report.ts';
import type { Row } from './suite/row.ts';
import { namesIn } from './suite/run.ts';

const command = new Command('npm run contract --')
  .description(
    'Checks any server against the contract of the API, over HTTP alone. It makes people of its own, and deletes them.',
  )
  .argument(
    '[url]',
    'the base URL, such as https://reviews.example.org/ws/1 (default: the stack that runs on this machine)',
    url,
  )
  .option('--admin <command>', 'the operator’s tool of the service, which makes the people')
  .option(
    '--token <access token>',
    'the token of a person, for review, vote and user; the second is that of another person',
    (token: string, earlier: string[] = []) => [...earlier, token],
  )
  .option('--quick', 'only what tells whether a service runs as it should; changes nothing')
  .option('--write', 'with --quick: also one write of each kind')
  .option('--json <file>', 'also writes the results into a file')
  .option(
    '--data-dir <folder>',
    'the data folder of the stack on this machine',
    process.env.DATA_DIR || '.data',
  )
  .parse();

interface Options {
  admin?: string;
  token?: string[];
  quick?: true;
  write?: true;
  json?: string;
  dataDir: string;
}

const {
  token = [],
  quick = false,
  write = false,
  json,
  dataDir,
  ...options
} = command.opts<Options>();
const local = localUrl();
const base: string =
  command.processedArgs[0] ??
  local ??
  command.error(
    `Error: no stack runs on the data folder ${dataDir}: start it with npm start, or give the base URL of a service`,
  );
const ownTool = `'${process.execPath}' --require ./bin/ready.cjs bin/admin.ts --data-dir '${dataDir}'`;
const admin = options.admin ?? (base === local ? ownTool : undefined);
if (quick && write && token.length === 0 && admin === undefined) {
  command.error('Error: --write needs a --token, or --admin');
}

function url(value: string): string {
  if (!/^https?:$/.test(URL.parse(value)?.protocol ?? '')) {
    throw new InvalidArgumentError('It must be a URL such as https://reviews.example.org/ws/1.');
  }
  return value.replace(/\/+$/, '');
}

/** Returns the base URL of the stack on the data folder, if there is one. */
function localUrl(): string | undefined {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')).url ?? undefined;
  } catch {
    return undefined;
  }
}

const canWrite = !quick || write;
const operator = admin !== undefined && canWrite ? operatorBy(admin) : undefined;
const chosen = sections
  .map(({ title, rows }) => ({ title, rows: quick ? quickRows(rows) : rows }))
  .filter(({ rows }) => rows.length > 0);

/** Returns the rows of the quick check, without those that write unless it was told to. */
function quickRows(rows: readonly Row[]): Row[] {
  const lost = new Set<string>();
  return rows.filter((row) => {
    const { exchange, request } = row;
    const isRead =
      request.startsWith('visitor ') || (token.length > 0 && request.includes(' GET '));
    const isChosen =
      exchange.quick && (canWrite || isRead) && !namesIn(row).some((name) => lost.has(name));
    if (!isChosen) for (const name of Object.keys(exchange.keep ?? {})) lost.add(name);
    return isChosen;
  });
}

console.log(`Checking ${base}`);
const began = Date.now();
const interruption = new AbortController();
process.once('SIGINT', () => interruption.abort());
let section = '';
const { results, left, stopped } = await check(chosen, {
  base,
  environment: process.env,
  tokens: token,
  operator,
  withPace: !quick,
  signal: interruption.signal,
  show(result) {
    if (result.section !== section) console.log(`\n${result.section}`);
    section = result.section;
    console.log(lineOf(result));
  },
});
const { holds, differs, untried } = count(results);
const seconds = Math.round((Date.now() - began) / 1000);

if (results.length > 0) console.log(`\n${summaryOf(results)}\n`);
for (const thing of left) console.log(`left    ${thing}`);
if (stopped !== undefined) console.log(`Stopped: ${stopped}`);
console.log(`${holds} hold, ${differs} differ, ${untried} could not be tried, in ${seconds} s`);
if (json !== undefined) {
  const report = { url: base, seconds, holds, differs, untried, stopped, left, rows: results };
  writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
}
process.exitCode = differs === 0 && stopped === undefined ? 0 : 1;
