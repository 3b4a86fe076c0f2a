import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, jest, test } from '@jest/globals';
import { startStack } from '../infra/local/stack.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = [
  'README.md',
  'ARCHITECTURE.md',
  '.github/CONTRIBUTING.md',
  ...readdirSync(join(root, '.github/docs')).map((file) => `.github/docs/${file}`),
];

/** The shell blocks of a document, or of one of its sections. */
function shellBlocks(file: string, section = ''): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const start = section ? text.indexOf(`\n## ${section}\n`) : 0;
  if (start < 0) throw new Error(`${file} has no section ${section}`);
  const end = section ? text.indexOf('\n## ', start + 1) : text.length;
  return [...text.slice(start, end).matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = '']) => block,
  );
}

/** What in a block a shell takes otherwise than its reader, when it is pasted: in zsh a comment is a command. */
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
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
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

jest.spyOn(console, 'info').mockImplementation(() => {});
const dataDir = mkdtempSync(join(tmpdir(), 'readme-'));
const { url, stop } = await startStack({ port: 0, dataDir, memory: true });
afterAll(async () => {
  await stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Interactive, as they are when somebody pastes; without the settings of whoever runs the tests. */
const shells = [
  ['bash', '--norc', '--noprofile', '-i'],
  ['zsh', '-f', '-i'],
].filter(([name = '']) => spawnSync(name, ['--version']).status === 0);

test.each(shells)('%s does what “Try it” says', async (name, ...args) => {
  const [publish, account, ...more] = shellBlocks('README.md', 'Try it');
  expect(more).toEqual([]);
  const shell = spawn(name, args, {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      HOME: dataDir,
      PORT: new URL(url).port,
      DATA_DIR: dataDir,
      // The tests bring a key; without it a stack has its own, in the data folder.
      SIGNING_KEYS: process.env.SIGNING_KEYS,
    },
    // In a session of its own it reaches for no terminal.
    detached: true,
  });
  shell.stdin.end(`${account}${publish}`);
  const [stdout, stderr] = await Promise.all([
    readAll(shell.stdout),
    readAll(shell.stderr),
    once(shell, 'close'),
  ]);
  const documents = stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []));
  expect({ stderr, documents }).toEqual({
    stderr,
    documents: [
      { message: 'Request processed successfully', id: expect.any(String) },
      expect.objectContaining({ reviews: expect.any(Array) }),
      {
        entity: expect.objectContaining({ review_count: 1 }),
        latest: expect.any(Array),
        popular: expect.any(Array),
      },
    ],
  });
  const [published, read] = documents;
  expect(read.reviews[0]).toMatchObject({
    id: published.id,
    text: expect.stringContaining('Forty minutes'),
    user: { display_name: 'Ann' },
  });
});
