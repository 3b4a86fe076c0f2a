import { spawn, spawnSync } from 'node:child_process';
import { createSecretKey } from 'node:crypto';
import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { guides } from '../shared/features/docs/guides.ts';
import { Connection } from '../shared/features/webhooks/connection.ts';
import { signatureHeaders, webhookSecret } from '../shared/features/webhooks/signature.ts';
import { differencesOf, type Shown } from './helpers/answers.ts';
import { type Browser, openBrowser, unescapeHtml } from './helpers/browser.ts';
import { installClient } from './helpers/client.ts';
import { freePort } from './helpers/listen.ts';
import { root } from './helpers/service.ts';
import { paste, shells, startAsReader } from './helpers/terminal.ts';

const { home, env, authUrl } = await startAsReader('--demo', '--own-types', 'film:Film');
const callbackPort = await freePort();
const demo = join(home, 'review-demo');

beforeAll(() => {
  // The packages that the guides install from npm.
  installClient(demo);
  const library = 'node_modules/openid-client';
  symlinkSync(join(root, library), join(demo, library));
});

// Debian's package of the library belongs to Debian's Python, which may not be the first in PATH.
const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import requests_oauthlib']).status === 0,
);
// .ci/run installs it. Elsewhere the report names what did not run.
if (!python) test.skip('“Publish from Python” needs python3-requests-oauthlib', () => {});

/** A command or a program of a guide, with the answers that the guide shows. */
interface Step {
  language: string;
  code: string;
  shown: Shown[];
}

/** Returns the steps of a guide in order, as its page shows them. */
async function stepsOf(slug: string) {
  const page = await (await fetch(`${authUrl}/docs/${slug}`)).text();
  const sections = page.split(/(?=<h2 )/).filter((each) => python || !/Python</.test(each));
  const blocks = sections.join('').matchAll(/<code class="language-(\w+)">(.*?)<\/code>/gs);
  const steps: Step[] = [];
  for (const [, language = '', escaped = ''] of blocks) {
    const text = unescapeHtml(escaped);
    // Other tests run these: browser-grant.slow.ts and programs.slow.ts.
    if (['html', 'go', 'java', 'rust'].includes(language)) continue;
    const isAnswer = ['json', 'http', 'text'].includes(language);
    if (isAnswer) steps.at(-1)?.shown.push({ language, text });
    else steps.push({ language, code: text, shown: [] });
  }
  return steps;
}

/** Values that a reader copies from the pages, by the placeholder that each replaces. */
type Copied = Record<'rva_…' | '0123…' | 'rvs_…' | 'whsec_…', string>;

const webhookKey = createSecretKey(Buffer.alloc(32, 'webhook'));
const secret = webhookSecret('0'.repeat(32), webhookKey);

/**
 * Returns the text of a step as a reader pastes it. A program is saved and run as its first line
 * says, with an expired access token. Omits the download from a registry.
 */
function pasted({ language, code }: Step, copied: Copied) {
  const [, file, command] = /^\W+([\w.-]+): (.*)\n/.exec(code) ?? [];
  const text =
    language === 'sh' ? code : `cat > ${file} <<'END'\n${code}END\n${expire}${command}\n`;
  return Object.entries(copied)
    .reduce((all, [placeholder, value]) => all.replaceAll(placeholder, value), text)
    .replaceAll(/^\S*(npm|pip) install .*\n/gm, '')
    .replace('python3 -m venv', `${python} -m venv --without-pip --system-site-packages`)
    .replaceAll(/\b8080\b/g, callbackPort);
}

const expire = `test ! -f tokens.json || sed -i 's/rva_/rva_expired/' tokens.json\n`;

/** Signs in. Copies a token and the credentials of an application from the pages. */
async function copyAll(browser: Browser, name: string) {
  await browser.signIn(name);
  const scopes = { review: 'yes', vote: 'yes' };
  const tokens = await browser.visit('account/tokens');
  const made = await browser.submit(tokens, 'Create token', { name, days: '7', ...scopes });
  const redirect_uri = `http://localhost:${callbackPort}/callback`;
  const application = await browser.register({ name, redirect_uri });
  return {
    'rva_…': /rva_[\w-]+/.exec(made.html)?.[0] ?? '',
    '0123…': /[\da-f]{32}$/.exec(application.url)?.[0] ?? '',
    'rvs_…': /rvs_[\w-]+/.exec(application.html)?.[0] ?? '',
    'whsec_…': secret,
  };
}

describe.each(shells)('pasted into %s', (...shell) => {
  const browser = openBrowser(authUrl);
  let copied: Copied;
  beforeAll(async () => {
    copied = await copyAll(browser, `Reader of ${shell[0]}`);
  });

  test.each(guides.map(({ slug }) => slug))('%s: every command answers as shown', async (slug) => {
    const steps = await stepsOf(slug);
    const end = "printf '\\036'\n";
    const script = steps.map((step) => pasted(step, copied) + end).join('');
    const { stdout, stderr } = await paste(`cd ~\n${script}`, shell, env, browser);
    const outputs = stdout.split('\x1e');
    const faults = steps.flatMap(({ code, shown }, i) => {
      const output = outputs[i] ?? '';
      const found = shown.flatMap((answer) => differencesOf(answer, output));
      if (shown.length === 0 && output.includes('"error":')) found.push(output);
      return found.length > 0 ? [{ code, found }] : [];
    });
    const expected = { stderr, faults: [], steps: steps.length };
    expect({ stderr, faults, steps: outputs.length - 1 }).toEqual(expected);
  });

  test('a program explains why access has ended', () => {
    const program = ['reviews.mts', crypto.randomUUID()];
    const variables = { CLIENT: copied['0123…'], CLIENT_SECRET: copied['rvs_…'] };
    const { stderr } = spawnSync('node', program, { cwd: demo, env: { ...env, ...variables } });
    expect(`${stderr}`).toMatch(/AccessEnded: refresh_token is not valid/);
  });
});

/** The program in TypeScript takes messages as news, that in Python as what has changed. */
const receivers: [string, string, number, (long: string, hidden: string) => string][] = [
  ['node', 'receiver.mts', 200, () => 'forget ann\n'],
];
if (python) {
  receivers.push([
    python,
    'receiver.py',
    500,
    (long, hidden) =>
      `keep a\nremove a\nkeep ${long}\nremove ${hidden}\nforget ann\nname Blue\nname Blue Man\n`,
  ]);
}

test.each(receivers)('%s %s verifies messages, and keeps reviews', async (...receiverOf) => {
  const [program, file, unreadable, said] = receiverOf;
  const { reviews } = (await (await fetch(`${authUrl}/1/review/?limit=1`)).json()) as {
    reviews: { id: string }[];
  };
  const long = `${reviews[0]?.id}`;
  const hidden = crypto.randomUUID();
  const receiver = spawn(program, [file], { cwd: demo, env });
  process.env.WEBHOOK_ALLOW = '127.0.0.1';
  const connection = new Connection(`http://127.0.0.1:${callbackPort}/`);
  const send = async (type: string, data: object, secrets = [secret], age = 0) => {
    const body = JSON.stringify({ type, timestamp: '2026-11-22T05:24:00.000Z', data });
    const timestamp = Math.floor(Date.now() / 1000) - age;
    const headers = signatureHeaders({ id: 'rev_a_1', timestamp, body, secrets });
    const { status, answer } = await connection.send({ headers, body });
    return [status, answer];
  };
  const other = webhookSecret('1'.repeat(32), webhookKey);
  const change = (id: string, version: number, more: object) => {
    return { id, version, entity_id: 'e', user_id: 'u', review: null, truncated: false, ...more };
  };
  const review = { text: 'Schön ☕' };
  // One id, which names two things.
  const name = (type: string, version: number, text: string) => {
    const entity = { id: 'e', type, name: text, url: '', about: null, image: null };
    return { subject: { type, id: 'e' }, entity, version };
  };
  try {
    while ((await send('webhook.test', { challenge: 'abc' }))[0] !== 200) await sleep(100);
    expect(await send('webhook.test', { challenge: 'abc' })).toEqual([200, 'abc']);
    const answers = [
      await send('review.published', change('a', 1, { review })),
      await send('review.published', change('a', 1, { review })),
      await send('review.removed', change('a', 3, {}), [other, secret]),
      await send('review.edited', change('a', 2, { review })),
      await send('log.restarted', {}),
      await send('review.edited', change('a', 4, { review }), [other]),
      await send('review.edited', change('a', 5, { review }), [secret], 600),
      // Too long for a message. The second is hidden meanwhile, the third is answered with 401.
      await send('review.edited', change(long, 2, { truncated: true })),
      await send('review.published', change(hidden, 1, { truncated: true })),
      await send('review.voted', change('a/vote', 6, { truncated: true })),
      await send('user.deleted', { user_id: 'ann' }),
      await send('access.revoked', { user_id: 'ann' }),
      await send('entity.edited', name('work', 5, 'Blue')),
      await send('entity.edited', name('artist', 5, 'Blue Man')),
      await send('entity.edited', name('work', 4, 'Bleu')),
      // A type of the future.
      await send('moon.full', { subject: { type: 'moon', id: 'e' } }),
    ];
    expect(answers.map(([status]) => status)).toEqual([
      200,
      200,
      200,
      200,
      200,
      401,
      401,
      200,
      200,
      unreadable,
      200,
      200,
      200,
      200,
      200,
      200,
    ]);
  } finally {
    delete process.env.WEBHOOK_ALLOW;
    connection.close();
    receiver.kill();
  }
  expect(await text(receiver.stdout)).toBe(said(long, hidden));
});

test('the TypeScript programs match the types of their packages', () => {
  const options =
    '--noEmit --strict --module nodenext --target es2024 --lib es2024,dom,dom.iterable --types node --skipLibCheck --allowImportingTsExtensions';
  const typeRoots = join(root, 'node_modules/@types');
  const inDemo = readdirSync(demo).filter((file) => file.endsWith('.mts'));
  expect(inDemo).toEqual(['mirror.mts', 'receiver.mts', 'reviews.mts', 'sign-in.mts', 'walk.mts']);
  const tsc = join(root, 'node_modules/typescript-7/bin/tsc');
  const args = [tsc, ...options.split(' '), '--typeRoots', typeRoots, ...inDemo];
  expect(spawnSync(process.execPath, args, { cwd: demo, encoding: 'utf8' }).stdout).toBe('');
});

describe('a mistake in a guide is found', () => {
  const real = '{"count":2,"reviews":[{"id":"a","rating":5},{"id":"b","rating":null}],"next":"x"}';
  const json = (text: string) => differencesOf({ language: 'json', text }, real);

  test.each([
    ['a field that is not there', '{ "count": 1, "total": 1, … }'],
    ['a field that is not shown', '{ "count": 1, "reviews": [{ … }, …] }'],
    ['a field of an item', '{ "reviews": [{ "stars": 5, … }, …], … }'],
    ['another type', '{ "count": "2", … }'],
    ['fewer items', '{ "reviews": [{ … }], … }'],
    ['an error', '{ "error": "not_found", … }'],
  ])('%s', (_, text) => {
    expect(json(text)).toHaveLength(1);
  });

  test('an answer in the right shape has no fault', () => {
    const text = `{ "count": 9,
      "reviews": [{ "id": "…", "rating": 1 }, { "rating": null, … }], … }`;
    expect(json(text)).toEqual([]);
  });

  test('compares the words of an error, a header, a status and plain text', () => {
    const of = (language: string, text: string, output: string) =>
      differencesOf({ language, text }, output).length;
    const refused = '{"error":"invalid_request","description":"limit is wrong"}';
    expect(of('json', refused.replace('invalid_request', 'not_found'), refused)).toBe(1);
    expect(of('json', refused, refused)).toBe(0);
    const head = 'HTTP/2 200 OK\r\netag: "5"\r\n\r\n';
    expect(of('http', 'HTTP/1.1 200 OK\nETag: "7"', head)).toBe(0);
    expect(of('http', 'HTTP/1.1 304 Not Modified\nRetry-After: 1', head)).toBe(2);
    expect(of('text', '12 reviews', '200 reviews\n')).toBe(0);
    expect(of('text', '12 reviews', '200 users\n')).toBe(1);
  });
});
