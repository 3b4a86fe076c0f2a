import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { callerOf } from '../helpers/api.ts';
import { type Browser, openBrowser, unescapeHtml } from '../helpers/browser.ts';
import { installClient } from '../helpers/client.ts';
import { freePort } from '../helpers/listen.ts';
import { admin, fresh, start } from '../helpers/service.ts';

// The receivers of the guide on webhooks, word for word, through a restore of the service.

/** Makes minutes and looks of the clock short in the service, so that the job runs often. */
const shortMinute = `const { setInterval: real } = globalThis;
globalThis.setInterval = (run, time, ...rest) =>
  real(run, time === 60_000 || time === 5_000 ? 250 : time, ...rest);`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(shortMinute)}`;

interface Held {
  version: number;
  review: { id: string; text: string | null; rating: number | null } | null;
}

interface Named {
  entity: { name: string };
}

/** The programs, each with code that shows what it holds when it gets a signal. */
const programs = [
  {
    file: 'receiver.mts',
    command: process.execPath,
    shown: (code: string) => `${code}
import { writeFileSync } from 'node:fs';
function held([id, version]) {
  const { revisions } = mirror.state.reviews[id] ?? {};
  if (!revisions) return [id, { version, review: null }];
  const { text, rating } = revisions.at(-1);
  const sum = (name) => revisions.reduce((all, each) => all + each[name], 0);
  const votes = { positive: sum('votes_positive'), negative: sum('votes_negative') };
  return [id, { version, review: { id, text, rating, edits: revisions.length - 1, votes } }];
}
process.on('SIGUSR2', () => {
  const { reviews, versions, things } = mirror.state;
  const seen = Object.fromEntries(Object.keys(reviews).map((id) => [id, 0]));
  const names = Object.entries(things).map(([key, entity]) => [key, { entity }]);
  const all = Object.entries({ ...seen, ...versions }).map(held);
  writeFileSync('held.json', JSON.stringify([all, names]));
});
`,
  },
  {
    file: 'receiver.py',
    command: 'python3',
    shown: (code: string) =>
      code.replace(
        /\nthreading\.Thread\(.*\nThreadingHTTPServer/,
        `
import signal
def show(*_):
    with open('held.json', 'w') as file:
        json.dump([list(reviews.items()), list(entities.items())], file)
signal.signal(signal.SIGUSR2, show)
$&`,
      ),
  },
].filter(({ command }) => spawnSync(command, ['--version']).status === 0);

const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Returns a program as the page of the guide shows it. */
async function programOf(authUrl: string, file: string) {
  const page = await (await fetch(`${authUrl}/docs/webhooks`)).text();
  const blocks = [...page.matchAll(/<code class="language-\w+">(.*?)<\/code>/gs)];
  const programs = blocks.map(([, code = '']) => unescapeHtml(code));
  return programs.find((code) => code.includes(`${file}:`)) ?? '';
}

/** Registers an application with a webhook on the pages. Returns the page of the webhook. */
async function addWebhook(browser: Browser, address: string) {
  await browser.signIn('Owner');
  const redirect_uri = 'http://localhost:1/callback';
  const application = await browser.register({ name: 'Copy', redirect_uri });
  const types = ['published', 'edited', 'voted', 'removed'].map((kind) => [
    `review.${kind}`,
    'yes',
  ]);
  const form = { address, 'entity.edited': 'yes', ...Object.fromEntries(types) };
  return browser.submit(application, 'Register webhook', form);
}

/** Returns the names in a dump of a running service, by type and id. */
async function namesIn(dataDir: string) {
  const out = fresh('dump');
  await admin(dataDir, ['export', '--public', '--out', out]);
  const text = `${gunzipSync(readFileSync(join(out, 'entities.jsonl.gz')))}`;
  const [, ...records] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return Object.fromEntries(
    records.map(({ type, id, name }) => [`${type}/${id}`, name]).toSorted(),
  );
}

/** Returns all public reviews of the API by id, as the program may hold them. */
async function readAll(url: string) {
  const { body } = await callerOf(url)('GET', '/review/?limit=50');
  return contentsOf(body.reviews);
}

/** Returns the contents by id. The author's karma changes without a change of the review. */
function contentsOf(reviews: readonly (Held['review'] & object)[]) {
  const contents = reviews.map(({ id, text, rating, ...others }) => {
    const { edits, votes } = others as { edits: number; votes: object };
    return [id, { text, rating, edits, votes }];
  });
  return Object.fromEntries(contents.toSorted());
}

describe.each(programs)('$file', ({ file, command, shown }) => {
  test('holds what the API has, through edits, a backup, and a restore', async () => {
    const port = await freePort();
    const begin = (dataDir: string) =>
      start(dataDir, { options: ['--quiet', '--port', port], env: { NODE_OPTIONS } });
    let dataDir = fresh('data');
    let service = await begin(dataDir);
    const authUrl = service.url.replace(/\/1$/, '');
    const people = await Promise.all(
      ['Ann', 'Ben'].map(async (name) => {
        const { id } = await admin(dataDir, ['user', 'create', '--name', name]);
        const scopes = ['--scope', 'review', '--scope', 'vote'];
        const options = ['--user', id, '--name', 'Test', ...scopes];
        const { access_token } = await admin(dataDir, ['token', 'create', ...options]);
        return callerOf(service.url, access_token);
      }),
    );
    const [ann, ben] = people as [(typeof people)[0], (typeof people)[0]];
    const rename = (entity_id: string, name: string) =>
      admin(dataDir, ['entity', 'name', 'work', entity_id, '--name', name]);
    const entityIds: string[] = [];
    const publish = async (text: string) => {
      const entity_id = crypto.randomUUID();
      entityIds.push(entity_id);
      await rename(entity_id, text.slice(0, 5));
      const review = { entity_id, entity_type: 'work', text, license_choice: 'CC BY-SA 4.0' };
      return (await ann('POST', '/review/', review)).body.id as string;
    };
    const edit = async (id: string, text: string) => {
      expect(await ann('POST', `/review/${id}`, { text })).toHaveStatus(200);
    };
    const first = await publish('First: a record that gets better.');
    const second = await publish('Second: a record that gets better.');

    const home = fresh('receiver');
    installClient(home);
    const receiverPort = await freePort();
    const owner = openBrowser(authUrl);
    const webhook = await addWebhook(owner, `http://localhost:${receiverPort}/`);
    const secret = /whsec_[\w+/]{43}=/.exec(webhook.html)?.[0] ?? '';
    const code = (await programOf(authUrl, file))
      .replace('whsec_…', secret)
      .replaceAll(/\b8080\b/g, receiverPort);
    expect(shown(code)).not.toBe(code);
    writeFileSync(join(home, file), shown(code));
    const receiver = spawn(command, [file], { cwd: home, stdio: 'ignore' });
    children.add(receiver);

    // Before it listens, the signal would end it.
    const receiverUrl = `http://127.0.0.1:${receiverPort}/`;
    const isListening = () =>
      fetch(receiverUrl, { method: 'POST' }).then(
        () => true,
        () => false,
      );
    while (!(await isListening())) await sleep(100);

    async function shownNow(): Promise<[[string, Held][], [string, Named][]]> {
      const shownFile = join(home, 'held.json');
      rmSync(shownFile, { force: true });
      receiver.kill('SIGUSR2');
      for (;;) {
        if (receiver.exitCode !== null || receiver.signalCode !== null)
          throw new Error('The receiver has ended');
        await sleep(50);
        try {
          return JSON.parse(readFileSync(shownFile, 'utf8'));
        } catch {
          // Not yet written.
        }
      }
    }
    const held = async () => new Map((await shownNow())[0]);
    async function expectEqualNames(): Promise<void> {
      const expected = await namesIn(dataDir);
      const deadline = Date.now() + 60_000;
      for (;;) {
        const [, entities] = await shownNow();
        const names = entities.map(([key, { entity }]) => [key, entity.name]);
        const mine = Object.fromEntries(names.toSorted());
        if (JSON.stringify(mine) === JSON.stringify(expected)) return;
        if (Date.now() > deadline) expect(mine).toEqual(expected);
        await sleep(200);
      }
    }
    async function expectEqual(): Promise<void> {
      const deadline = Date.now() + 60_000;
      for (;;) {
        const kept = [...(await held()).values()].flatMap(({ review }) => review ?? []);
        const mine = contentsOf(kept);
        const theirs = await readAll(service.url);
        if (JSON.stringify(mine) === JSON.stringify(theirs)) return;
        if (Date.now() > deadline) expect(mine).toEqual(theirs);
        await sleep(200);
      }
    }
    await expectEqual();
    // The first test came before the program. Its owner asks for another.
    await owner.submit(webhook, 'Send a test');
    await edit(first, 'First again: a record that gets better.');
    await ben('PUT', `/review/${first}/vote`, { vote: true });
    const third = await publish('Third: a record that gets better.');
    await expectEqual();
    await rename(`${entityIds[0]}`, 'Another name');
    await expectEqualNames();

    const backup = fresh('backup');
    await admin(dataDir, ['backup', backup]);
    for (let i = 1; i <= 4; i++) await edit(first, `Edit ${i}: a record that gets better.`);
    const lost = await publish('Lost: a record that gets better.');
    await ann('DELETE', `/review/${second}`);
    await expectEqual();
    const before = await held();
    expect(before.get(second)).toMatchObject({ review: null });
    expect(before.get(first)?.review?.text).toBe('Edit 4: a record that gets better.');

    // The machine is lost.
    await service.end('SIGKILL');
    dataDir = fresh('data');
    await admin(dataDir, ['restore', backup]);
    service = await begin(dataDir);
    await expectEqual();
    const after = await held();
    expect(after.get(first)?.review?.text).toBe('First again: a record that gets better.');
    expect(after.has(lost)).toBe(false);
    expect(after.get(second)?.review).not.toBeNull();

    await edit(first, 'After the restore: a record that gets better.');
    const everything = fresh('everything.jsonl');
    await admin(dataDir, ['export', '--out', everything]);
    await rename(`${entityIds[1]}`, 'After the restore');
    await ann('DELETE', `/review/${third}`);
    await expectEqual();
    const last = await held();
    await expectEqualNames();
    expect(last.get(first)?.version).toBeGreaterThan(before.get(first)?.version ?? 0);
    expect(last.get(third)).toMatchObject({ review: null });
    await admin(dataDir, ['erase']);
    await admin(dataDir, ['import', everything]);
    await expectEqual();
    expect((await held()).get(third)?.review).not.toBeNull();
    receiver.kill();
    await service.end('SIGTERM');
  }, 240_000);
});
