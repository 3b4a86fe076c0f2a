import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { databaseFile } from '../infra/local/storage/data-folder.ts';
import { readDiscovery } from '../infra/local/storage/discovery.ts';
import { cpuOf, memoryOf } from './bench/process-use.ts';

/** Runs a server of a size through all that its operator does, and prints what each step takes. */
const { reviews, dataDir, requests } = new Command('size')
  .option('--reviews <number>', 'the number of reviews', Number, 20_000)
  .option('--requests <number>', 'the number of requests of each kind', Number, 40)
  .option('--data-dir <folder>', 'a folder for the data, which is deleted first', '.data/size')
  .parse()
  .opts<{ reviews: number; requests: number; dataDir: string }>();

const restored = `${dataDir}-restored`;
const backup = `${dataDir}-backup`;
const dump = `${dataDir}.jsonl.gz`;
const leftovers = [dataDir, restored, backup, dump];

/** CPU of a process so far in milliseconds, and the most memory in bytes. */
interface Use {
  cpu: number;
  memory: number;
}

function run(file: string, options: readonly string[]): ChildProcess {
  const all = ['--require', './bin/ready.cjs', file, ...options];
  return spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The service on a data folder. */
async function startService(folder: string) {
  const began = performance.now();
  const child = run('bin/start.ts', ['--port', '0', '--data-dir', folder, '--quiet']);
  child.stdout?.resume();
  let found = readDiscovery(folder);
  while (!found?.url || found.pid !== child.pid) {
    if (child.exitCode !== null) throw new Error('the service has ended');
    await sleep(20);
    found = readDiscovery(folder);
  }
  return {
    url: found.url,
    milliseconds: performance.now() - began,
    use: () => useOf(Number(child.pid)),
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

type Service = Awaited<ReturnType<typeof startService>>;

const useOf = (pid: number): Use => ({ cpu: cpuOf(pid), memory: memoryOf(pid) });

/** Runs a command of the operator, and prints what it and the service have used. */
async function step(name: string, options: readonly string[], service?: Service): Promise<string> {
  const before = service?.use();
  const began = performance.now();
  const child = run('bin/admin.ts', options);
  let out = '';
  child.stdout?.on('data', (bytes) => {
    out += bytes;
  });
  let own: Use = { cpu: 0, memory: 0 };
  const exited = once(child, 'exit');
  while (child.exitCode === null) {
    // The last look is at most a tenth of a second before the end.
    try {
      const { cpu, memory } = useOf(Number(child.pid));
      own = { cpu, memory: Math.max(own.memory, memory) };
    } catch {
      break;
    }
    await Promise.race([exited, sleep(100)]);
  }
  const [code] = await exited;
  if (code !== 0) throw new Error(`${name}: exit status ${code} ${out}`);
  const after = service?.use();
  const used = before && after ? seconds(after.cpu - before.cpu) : '';
  print(name, seconds(performance.now() - began), seconds(own.cpu), used, megabytes(own.memory));
  return out;
}

/** Sends requests, and prints the CPU of one. Reads are sent once before. */
async function measure(
  name: string,
  service: Service,
  send: (i: number) => Promise<Response>,
  { count = requests, isRead = true } = {},
): Promise<void> {
  const round = async () => {
    for (let i = 0; i < count; i++) {
      const response = await send(i);
      if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  // The first round compiles the code.
  if (isRead) await round();
  const before = service.use();
  const began = performance.now();
  await round();
  // The stream has followed the votes by then.
  await sleep(1_000);
  const after = service.use();
  const each = (number: number) => `${(number / count).toFixed(1)} ms`;
  print(name, each(performance.now() - began - 1_000), '', each(after.cpu - before.cpu), '');
}

/** The part of a list of reviews that is read here. */
interface Listed {
  count: number;
  reviews: { id: string; entity_id: string; text: string | null; user: { id: string } }[];
}

/** Votes that a new member may cast in a day. */
const votes = 10;

/** Returns reviews that somebody may vote on. */
async function findVotable({ url }: Service, voter: string) {
  const votable: Listed['reviews'] = [];
  for (let offset = 0; votable.length < votes; offset += 50) {
    const page = await fetch(`${url}/review/?limit=50&offset=${offset}`);
    const { reviews: listed } = (await page.json()) as Listed;
    if (listed.length === 0) throw new Error('too few reviews have a text');
    votable.push(...listed.filter(({ text, user }) => text !== null && user.id !== voter));
  }
  return votable;
}

async function measureRequests(service: Service): Promise<void> {
  // With a cookie, the service answers from the database, and not from memory.
  const headers = { Cookie: 'size=1' };
  const read = (path: string) => fetch(`${service.url}${path}`, { headers });
  const { count, reviews: newest } = (await (await read('/review/?limit=50')).json()) as Listed;
  const [{ id, entity_id, user } = { id: '', entity_id: '', user: { id: '' } }] = newest;
  const far = `/review/?limit=50&offset=${Math.floor(count / 2)}`;
  await measure('list of 50', service, () => read('/review/?limit=50'));
  await measure('list of 50, half way down', service, () => read(far));
  await measure('the same by popularity', service, () => read(`${far}&sort=popularity`));
  await measure('one review', service, () => read(`/review/${id}`));
  await measure('page of an entity', service, () => read(`/../entity/${entity_id}`));
  const options = ['--user', user.id, '--name', 'size', '--scope', 'vote'];
  const made = ['--data-dir', dataDir, '--only', 'access_token', 'token', 'create', ...options];
  const Authorization = `Bearer ${(await step('a token', made, service)).trim()}`;
  const votable = await findVotable(service, user.id);
  const vote = (i: number) =>
    fetch(`${service.url}/review/${votable[i]?.id}/vote`, {
      method: 'PUT',
      headers: { Authorization, 'Content-Type': 'application/json' },
      body: '{"vote":true}',
    });
  const writes = { count: votes, isRead: false };
  await measure('vote, with its part of the stream', service, vote, writes);
}

const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(1)} s`;
const megabytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MB`;

function print(...cells: string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

for (const each of leftovers) rmSync(each, { recursive: true, force: true });
let service = await startService(dataDir);
try {
  console.log(`${reviews} reviews, Node.js ${process.version}, ${new Date().toISOString()}\n`);
  print('step', 'time', 'CPU of the command', 'of the service', 'memory');
  print(...Array(5).fill('---'));
  const on = ['--data-dir', dataDir];
  const users = `${Math.max(40, Math.ceil(reviews / 40))}`;
  await step('import', [...on, 'seed', '--reviews', `${reviews}`, '--users', users], service);
  await service.stop();
  const file = join(dataDir, databaseFile);
  print('data file', megabytes(statSync(file).size), '', '', '');
  service = await startService(dataDir);
  print('start', seconds(service.milliseconds), '', '', '');
  await measureRequests(service);
  await step('backup', [...on, 'backup', backup], service);
  await step('audit', [...on, 'audit'], service);
  await step('export', [...on, 'export', '--out', dump], service);
  print('memory of the service', '', '', '', megabytes(service.use().memory));
  await service.stop();
  await step('restore', ['--data-dir', restored, 'restore', backup]);
  service = await startService(restored);
  print('start after the restore', seconds(service.milliseconds), '', '', '');
  print('size of the export', megabytes(statSync(dump).size), '', '', '');
} finally {
  await service.stop();
  for (const each of leftovers) rmSync(each, { recursive: true, force: true });
}
