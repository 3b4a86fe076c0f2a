import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openBrowser } from './helpers/browser.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = [
  'README.md',
  'ARCHITECTURE.md',
  '.github/CONTRIBUTING.md',
  ...readdirSync(join(root, '.github/docs')).map((file) => `.github/docs/${file}`),
];

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function shellBlocks(file: string): string[] {
  return [...read(file).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

/**
 * Text in a block that a shell takes otherwise than its reader, when it is pasted: in zsh a comment
 * is a command.
 */
function traps(block: string): string[] {
  return block.match(/(^|\s)#.*|<\w[^>]*>|^\s*\w+\(\).*|\s(https?:|\$\w)\S*[?&].*/gm) ?? [];
}

test('what documents give to be pasted means the same to every shell', () => {
  const found = documents.flatMap((file) => shellBlocks(file).flatMap(traps));
  expect(found).toEqual([]);
  expect(traps('npm ci   # all\n')).toHaveLength(1);
  expect(traps('X=1\n# all\n')).toHaveLength(1);
  expect(traps('id() { true; }\n')).toHaveLength(1);
  expect(traps('npm run smoke -- https://<id>.example/ws/1\n')).toHaveLength(1);
  expect(traps('curl http://localhost:3000/ws/1/review?limit=1\n')).toHaveLength(1);
  expect(traps('curl $BASE/review/?limit=1\n')).toHaveLength(1);
  expect(traps('curl "$BASE/review/?limit=1"\n')).toEqual([]);
});

test('links lead to files and headings that are there', () => {
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-');
  const dead = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? file : join(dirname(file), path);
        if (!existsSync(join(root, target))) return true;
        if (anchor === undefined) return false;
        const headings = [...read(target).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
          slug(text),
        );
        return !headings.includes(anchor);
      })
      .map(([link]) => `${file}: ${link}`),
  );
  expect(dead).toEqual([]);
});

/** Free at this moment. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `${port}`;
}

const [port, callbackPort] = [await freePort(), await freePort()];
const home = mkdtempSync(join(tmpdir(), 'readme-'));
const demo = join(home, 'review-demo');
// A terminal that has just been opened.
const env = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  HOME: home,
  PORT: port,
  DATA_DIR: join(home, 'data'),
};
const service = spawn('npm', ['start', '--', '--memory'], { cwd: root, env, detached: true });
afterAll(async () => {
  process.kill(-(service.pid ?? 0), 'SIGTERM');
  await once(service, 'exit');
  rmSync(home, { recursive: true, force: true });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    service.stdout.on('data', (chunk) => `${chunk}`.includes('runs at') && resolve());
  });
  // What npm would bring.
  mkdirSync(join(demo, 'node_modules/.bin'), { recursive: true });
  const link = (from: string, to: string) =>
    symlinkSync(join(root, from), join(demo, 'node_modules', to));
  link('node_modules/openapi-fetch', 'openapi-fetch');
  link('test/client/node_modules/openapi-typescript', 'openapi-typescript');
  link('test/client/node_modules/.bin/openapi-typescript', '.bin/openapi-typescript');
});

const { error, stderr: fault } = spawnSync('python3', ['-c', 'import requests_oauthlib']);
const whyNoPython = error?.message ?? `${fault}`.trim().split('\n').at(-1);
if (whyNoPython) test.skip(`“From Python” is not run: ${whyNoPython}`, () => {});
const programs = ['node reviews.mts', ...(whyNoPython ? [] : ['.venv/bin/python reviews.py'])];

/**
 * The README behind its installation as a shell takes it. Each program is saved and run as its
 * first line says. Left out are the deployment, and what would come from a registry.
 */
function script(): string {
  const [, text = ''] = read('README.md').split(/^(?=## Try it\n)/m);
  const [untilDeployment = ''] = text.split(/^## Deploy\n/m);
  const sections = untilDeployment.split(/^(?=## )/m);
  const runnable = sections.filter((each) => !(whyNoPython && each.startsWith('## From Python')));
  const blocks = runnable.join('').matchAll(/^```(sh|ts|python)\n(.*?)^```$/gms);
  const lines = [...blocks].map(([, language, block = '']) => {
    if (language === 'sh') return block;
    const [, file, command] = /^\W+([\w.]+): (.*)\n/.exec(block) ?? [];
    return `cat > ${file} <<'END'\n${block}END\n${command}\n`;
  });
  return lines
    .join('')
    .replaceAll(/^\S*(npm|pip) install .*\n/gm, '')
    .replace('-m venv', '-m venv --without-pip --system-site-packages')
    .replaceAll('localhost:8080', `localhost:${callbackPort}`);
}

/**
 * Interactive, as they are when somebody pastes; without the settings of whoever runs the tests.
 */
const shells = [
  ['bash', '--norc', '--noprofile', '-i'],
  ['zsh', '-f', '-i'],
].filter(([name = '']) => spawnSync(name, ['--version']).status === 0);

test.each(shells)('%s runs the README from top to bottom, twice', async (name, ...args) => {
  // In a session of its own it reaches for no terminal.
  const shell = spawn(name, args, { cwd: root, env, detached: true });
  const onePass = `cd ${root}\n${script()}`;
  shell.stdin.end(`set -e\n${onePass}${onePass}node -p 'JSON.stringify(process.env)'\n`);
  const browser = openBrowser(`http://localhost:${port}/ws`);
  await browser.signIn('Ann');
  let stderr = '';
  shell.stderr.on('data', async (chunk) => {
    stderr += chunk;
    const [page] = /http.*\/oauth\/authorize\S*/.exec(`${chunk}`) ?? [];
    if (page)
      await fetch(
        (await browser.submit(await browser.visit(page), 'Allow', { decision: 'approve' })).url,
      );
  });
  const [stdout] = await Promise.all([readAll(shell.stdout), once(shell, 'close')]);
  const answers = stdout.match(/^\{".*/gm) ?? [];
  const written = JSON.parse(answers.pop() ?? '{}');
  const pass = [
    { message: 'Request processed successfully', id: expect.any(String) },
    expect.objectContaining({
      count: 1,
      reviews: [
        expect.objectContaining({
          text: expect.stringContaining('Forty minutes'),
          user: expect.objectContaining({ display_name: 'Ann' }),
        }),
      ],
    }),
    expect.objectContaining({ entity: expect.objectContaining({ review_count: 1 }) }),
  ];
  expect({ stderr, answers: answers.map((line) => JSON.parse(line)) }).toEqual({
    stderr,
    answers: [...pass, ...pass],
  });

  const users = await fetch(`http://localhost:${port}/ws/1/user/`);
  expect(await users.json()).toMatchObject({ count: 1, users: [{ display_name: 'Ann' }] });
  const published = stdout.match(/^published +[\da-f-]{36}$/gm);
  expect(published).toHaveLength(2 * programs.length);
  await runAgain({ ...env, ...written });
});

/**
 * The programs, when the access token has expired. Each uses the refresh token that the one before
 * it has kept, and no older one.
 */
async function runAgain(env: NodeJS.ProcessEnv): Promise<void> {
  const file = join(demo, 'tokens.json');
  for (const program of [...programs, ...programs]) {
    const { refresh_token, login } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ access_token: 'expired', refresh_token, login }));
    const { status, stdout, stderr } = spawnSync('sh', ['-c', program], {
      cwd: demo,
      env,
      encoding: 'utf8',
    });
    expect({ program, status, stdout, stderr }).toEqual({
      program,
      status: 0,
      stdout: expect.stringMatching(/^published [\da-f-]{36}\n([\da-f-]{36} by Ann.*\n){3,}$/),
      stderr: '',
    });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      refresh_token: expect.not.stringMatching(refresh_token),
      login,
    });
  }
  for (const program of programs) {
    const REFRESH_TOKEN = 'rvr_wrong';
    const { stderr } = spawnSync('sh', ['-c', program], {
      cwd: demo,
      env: { ...env, REFRESH_TOKEN },
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/invalid_grant\W+refresh_token is not valid/);
  }
}

test('the program in TypeScript fits the types that are made for it', () => {
  const options =
    '--noEmit --strict --module nodenext --target es2024 --lib es2024,dom,dom.iterable --types node --skipLibCheck --allowImportingTsExtensions';
  const typeRoots = join(root, 'node_modules/@types');
  const { stdout } = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    [...options.split(' '), '--typeRoots', typeRoots, 'reviews.mts'],
    { cwd: demo, encoding: 'utf8' },
  );
  expect(stdout).toBe('');
});
