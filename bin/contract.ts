import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { sections } from './contract/sections.ts';
import { makeClient, Unreachable } from './contract/suite/client.ts';
import { makeCaretaker } from './contract/suite/leave.ts';
import { makePeople, operatorBy, people } from './contract/suite/people.ts';
import { count, lineOf, summaryOf } from './contract/suite/report.ts';
import type { Row } from './contract/suite/row.ts';
import { namesIn, paceOf, type Result, tryRows } from './contract/suite/run.ts';
import { makeThings } from './contract/suite/things.ts';

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
const things = makeThings(base, process.env);
for (const [index, value] of token.entries()) things.set(Object.keys(people)[index] ?? '', value);
const client = makeClient(things, operator);
const { witness, leave } = makeCaretaker(client, things);
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
const results: Result[] = [];
const made = new Set<string>();
let stopped: string | undefined;
// What was written is deleted first.
process.once('SIGINT', () => {
  stopped = 'interrupted';
});
try {
  if (operator) {
    const names = new Set(chosen.flatMap(({ rows }) => rows.flatMap(namesIn)));
    await makePeople(things, names, operator, made);
  }
  await signIn();
  let section = '';
  for await (const result of tryRows(chosen, { client, things, witness })) {
    if (result.section !== section) console.log(`\n${result.section}`);
    section = result.section;
    console.log(lineOf(result));
    results.push(result);
    if (isOther(results)) stopped = `${base} is not the base URL of a review service`;
    if (stopped !== undefined) break;
  }
} catch (error) {
  stopped =
    error instanceof Unreachable
      ? `the service cannot be reached (${error.message})`
      : (error as Error).message;
}
if (stopped === undefined && !quick) results.push(paceOf(client));
const left = await leave(made);
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

/** Returns true if nothing has answered like the service yet, and enough was tried to say so. */
function isOther(results: readonly Result[]): boolean {
  const { holds, differs } = count(results);
  return holds === 0 && differs === 10;
}

/** Opens Ann's browser: with the cookies of the environment, or at a provider that asks a name. */
async function signIn(): Promise<void> {
  const { CONTRACT_COOKIE: cookie } = process.env;
  const name = things.find('ann_name');
  if (cookie !== undefined) client.browser.adopt(cookie);
  else if (!name || !(await client.browser.signIn(things.get('auth'), name))) return;
  things.set('browser', 'signed in');
}
