import { execFileSync, spawn } from 'node:child_process';
import { createHmac, createSecretKey } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { signatureHeaders, webhookSecret } from '../../../shared/features/webhooks/signature.ts';
import { installClient } from '../../helpers/client.ts';
import { newFolder } from '../../helpers/folder.ts';
import { isThere } from '../../helpers/languages.ts';
import { freePort } from '../../helpers/listen.ts';
import { root } from '../../helpers/service.ts';
import { startTestStack } from '../../helpers/stack.ts';

// The programs of the guides that refresh tokens and verify messages, in each language. Those that
// publish a review run in guides.slow.ts.

const { url } = await startTestStack();
const { makeUser } = await import('../../helpers/world.ts');
const { formOf, makeClient, makeCode } = await import('../../helpers/oauth-client.ts');

const port = await freePort();
const rust = join(root, 'test/languages/rust');

interface Language {
  /** Its word in Markdown. */
  word: string;
  hasTool(): boolean;
  /** The end of the name of its files. */
  ending: string;
  /** Installs what the guide says, and builds the program, in its folder. */
  build(folder: string, name: string): unknown;
  /** Returns the command that runs it in its folder. */
  run(name: string): [command: string, ...args: string[]];
}

const run = (folder: string, command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: folder, stdio: 'pipe', env: environment });

const environment = { ...process.env, CARGO_TARGET_DIR: join(rust, 'target'), LC_ALL: 'C.UTF-8' };

const languages: Record<string, Language> = {
  Go: {
    word: 'go',
    hasTool: () => isThere('Go'),
    ending: '.go',
    build: (folder, name) => {
      for (const file of ['go.mod', 'go.sum']) {
        copyFileSync(join(root, 'test/languages/go', file), join(folder, file));
      }
      run(folder, 'go', 'vet', `${name}.go`);
      run(folder, 'go', 'build', '-o', name, `${name}.go`);
    },
    run: (name) => [`./${name}`],
  },
  Java: {
    word: 'java',
    hasTool: () => isThere('Java'),
    ending: '.java',
    build: () => {},
    run: (name) => ['java', `${name}.java`],
  },
  Python: {
    word: 'py',
    hasTool: () => isThere('Python'),
    ending: '.py',
    build: () => {},
    run: (name) => ['python3', `${name}.py`],
  },
  Rust: {
    word: 'rust',
    hasTool: () => isThere('Rust'),
    ending: '.rs',
    build: (folder, name) => {
      // Two tests of one folder of builds would otherwise replace each other's program.
      const manifest = readFileSync(join(rust, 'Cargo.toml'), 'utf8')
        .replace('name = "oauth"', `name = "${name}"`)
        .replace('oauth.rs', `${name}.rs`);
      writeFileSync(join(folder, 'Cargo.toml'), manifest);
      copyFileSync(join(rust, 'Cargo.lock'), join(folder, 'Cargo.lock'));
      run(folder, 'cargo', 'build', '--quiet', '--locked');
    },
    run: (name) => [join(rust, 'target/debug', name)],
  },
  TypeScript: {
    word: 'ts',
    hasTool: () => true,
    ending: '.mts',
    build: installClient,
    run: (name) => [process.execPath, `${name}.mts`],
  },
};

/** Writes a program of a guide into a folder, and builds it. Returns the command that runs it. */
function programOf(
  guide: string,
  { word, ending, build, run }: Language,
  secret = '',
): { folder: string; command: ReturnType<Language['run']> } {
  const text = readFileSync(join(root, `infra/guides/${guide}.md`), 'utf8');
  const blocks = [...text.matchAll(new RegExp(`^\`\`\`${word}\\n(.*?)^\`\`\`$`, 'gms'))];
  const isOurs = /^\W+(src\/main|refresh|receiver)\./i;
  const [code = '', ...more] = blocks.flatMap(([, block = '']) =>
    isOurs.test(block) ? block : [],
  );
  expect(more).toEqual([]);
  const name = /^\W+(\w+)\.\w+: /.exec(code)?.[1] ?? (guide === 'oauth' ? 'refresh' : 'receiver');
  const folder = newFolder();
  const program = code
    .replaceAll('{{base_url}}', url)
    .replaceAll('whsec_…', secret)
    .replaceAll('8080', port);
  writeFileSync(join(folder, `${name}${ending}`), program);
  build(folder, name);
  return { folder, command: run(name) };
}

/** Describes tests of a language, which are left out where its tool is not here. */
function inLanguages(names: string[], of: (language: Language) => void): void {
  describe.each(names)('%s', (name) => {
    const language = languages[name] as Language;
    if (language.hasTool()) of(language);
    else test.skip(`${name} is not installed, so its program is not tried`, () => {});
  });
}

type Tokens = Record<'access_token' | 'refresh_token', string>;

describe('a program that refreshes', () => {
  inLanguages(['Go', 'Java', 'Rust'], (language) => {
    test('keeps the tokens that it gets, and says that access has ended', async () => {
      const redirect_uri = 'https://client.example/callback';
      const person = await makeUser({ display_name: 'Ann O’Reader' });
      const client = await makeClient(await makeUser(), redirect_uri);
      const { client_id, client_secret } = client;
      const post = async (path: string, form: Record<string, string>) => {
        const body = new URLSearchParams(
          formOf({ client_id, client_secret, redirect_uri, ...form }),
        );
        const response = await fetch(`${url}${path}`, { method: 'POST', body });
        return (await response.json()) as Tokens;
      };
      const code = await makeCode(client, person);
      const first = await post('/oauth/token', { grant_type: 'authorization_code', code });

      const { folder, command } = programOf('oauth', language);
      const file = join(folder, 'tokens.json');
      const runWith = async (tokens: Tokens) => {
        writeFileSync(file, JSON.stringify(tokens));
        const [program, ...args] = command;
        const env = { ...environment, BASE: url, CLIENT: client_id, CLIENT_SECRET: client_secret };
        // The service runs in this process, so nothing may block it.
        const running = spawn(program, args, { cwd: folder, env });
        const [stdout, stderr, [status]] = await Promise.all([
          readAll(running.stdout),
          readAll(running.stderr),
          once(running, 'exit'),
        ]);
        const stored: Tokens = JSON.parse(readFileSync(file, 'utf8'));
        return { status, stdout, stderr, stored };
      };
      const expired = (tokens: Tokens) => ({
        ...tokens,
        access_token: tokens.access_token.replace('rva_', 'rva_expired'),
      });

      let tokens = first;
      // The second run needs what the first has stored.
      for (const _ of [1, 2]) {
        const { status, stdout, stderr, stored } = await runWith(expired(tokens));
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        expect(JSON.parse(stdout)).toMatchObject({ user: { display_name: 'Ann O’Reader' } });
        expect(stored.access_token).toMatch(/^rva_/);
        expect(stored.refresh_token).not.toBe(tokens.refresh_token);
        tokens = stored;
      }
      await post('/oauth/revoke', { token: tokens.refresh_token });
      const { status, stdout, stderr } = await runWith(expired(tokens));
      expect(status).not.toBe(0);
      expect(stdout).not.toContain('Ann');
      expect(stderr).toMatch(/invalid_grant|access has been revoked/);
    });
  });
});

const key = createSecretKey(Buffer.alloc(32, 'webhook'));
const secretOf = (digit: string) => webhookSecret(digit.repeat(32), key);
const secret = secretOf('0');
const other = secretOf('1');
const body = '{"type":"webhook.test","data":{"challenge":"abc","text":"Schön ☕"}}';
const now = Math.floor(Date.now() / 1000);

const signed = (secrets: string[], age = 0): Record<string, string> => ({
  ...signatureHeaders({ id: 'rev_a_1', timestamp: now - age, body, secrets }),
});

/** A message of somebody who signs by an empty key, or by one of zeros. */
const forged = {
  'webhook-id': 'm1',
  'webhook-timestamp': `${now}`,
  'webhook-signature': ['', '\0']
    .map((each) => createHmac('sha256', each).update(`m1.${now}.${body}`).digest('base64'))
    .map((each) => `v1,${each}`)
    .join(' '),
};

const withoutVersion = () => {
  const headers = signed([secret]);
  return { ...headers, 'webhook-signature': `${headers['webhook-signature']}`.slice(3) };
};

/** A message, its headers, the status of the answer, and the body that comes. */
const messages: [string, Record<string, string>, number, string][] = [
  ['an honest message', signed([secret]), 200, body],
  ['a message of two secrets', signed([other, secret]), 200, body],
  ['a message of another secret', signed([other]), 401, body],
  ['an old message', signed([secret], 600), 401, body],
  ['a message of the future', signed([secret], -600), 401, body],
  ['a message with another body', signed([secret]), 401, body.replace('abc', 'abd')],
  ['a message with another id', { ...signed([secret]), 'webhook-id': 'rev_a_2' }, 401, body],
  [
    'a message with another time',
    { ...signed([secret]), 'webhook-timestamp': `${now + 1}` },
    401,
    body,
  ],
  ['a signature of no version', withoutVersion(), 401, body],
  ['a message without signature', signed([]), 401, body],
  ['a message without headers', {}, 401, body],
  ['a message signed by an empty key', forged, 401, body],
];

/** Starts a receiver. Returns a function that sends a message, or undefined if it has ended. */
async function startReceiver(language: Language, by: string) {
  const { folder, command } = programOf('webhooks', language, by);
  const [program, ...args] = command;
  const receiver = spawn(program, args, { cwd: folder, env: environment });
  const exited = new Promise<number | null>((resolve) => receiver.on('exit', resolve));
  const send = async (headers: Record<string, string>, text: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers,
      body: text,
    });
    return { status: response.status, answer: await response.text() };
  };
  receiver.stderr.resume();
  receiver.stdout.resume();
  while (receiver.exitCode === null && !(await send({}, body).catch(() => false))) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    send: receiver.exitCode === null ? send : undefined,
    stop: async () => {
      receiver.kill();
      await exited;
    },
  };
}

describe('a program that receives messages', () => {
  inLanguages(['Go', 'Java', 'Python', 'Rust', 'TypeScript'], (language) => {
    let receiver: Awaited<ReturnType<typeof startReceiver>>;
    beforeAll(async () => {
      receiver = await startReceiver(language, secret);
    }, 600_000);
    afterAll(() => receiver.stop());

    test.each(messages)('%s', async (_, headers, expected, text) => {
      const { status, answer } = (await receiver.send?.(headers, text)) ?? {};
      expect(status).toBe(expected);
      if (expected === 200) expect(answer).toBe('abc');
    });
  });

  inLanguages(['Go', 'Java', 'Python', 'Rust', 'TypeScript'], (language) => {
    test.each([
      ['a word', 'whsec_changeme!'],
      ['a short key', `whsec_${Buffer.alloc(23).toString('base64')}`],
      ['nothing', ''],
    ])('with %s for a secret takes no message', async (_, by) => {
      const { send, stop } = await startReceiver(language, by);
      // It has ended, or refuses all.
      const { status } = (await send?.(forged, body)) ?? { status: 500 };
      await stop();
      expect(status).toBe(500);
    });
  });
});
