import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openBrowser } from './helpers/browser.ts';
import { root } from './helpers/service.ts';
import { paste, shells, startAsReader } from './helpers/terminal.ts';

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  ...globSync(['.github/**/*.md', 'infra/guides/*.md'], { cwd: root }),
];

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const shellBlocks = (text: string) =>
  [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);

/**
 * Text in a block that a shell takes otherwise than its reader, when it is pasted: in zsh a comment
 * is a command.
 */
function traps(block: string) {
  return block.match(/(^|\s)#.*|<\w[^>]*>|^\s*\w+\(\).*|\s(https?:|\$\w)\S*[?&].*/gm) ?? [];
}

test('what documents give to be pasted means the same to every shell', () => {
  const found = documents.flatMap((file) => shellBlocks(read(file)).flatMap(traps));
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
  const anchorOf = ([, heading = '']: string[]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-');
  const guides = ['CHANGELOG.md', ...globSync('infra/{aws,client,local}/*.md', { cwd: root })];
  const dead = [...documents, ...guides].flatMap((file) => {
    const links = [...read(file).matchAll(/\]\((?!https?:|\{\{)([^)#]*)(?:#([^)]*))?\)/g)];
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? file : join(dirname(file), path);
      if (!existsSync(join(root, target))) return true;
      if (anchor === undefined) return false;
      return ![...read(target).matchAll(/^#+ (.*)$/gm)].map(anchorOf).includes(anchor);
    });
    return broken.map(([link]) => `${file}: ${link}`);
  });
  expect(dead).toEqual([]);
});

const { env, authUrl } = await startAsReader();

/** The README after its installation as a shell takes it, up to the deployment. */
function script() {
  const [, text = ''] = read('README.md').split(/^(?=## Read and publish\n)/m);
  const [untilDeployment = ''] = text.split(/^## Deploy\n/m);
  return shellBlocks(untilDeployment).join('');
}

test.each(shells)('%s runs the README from top to bottom, twice', async (...shell) => {
  const twice = `${script()}${script()}node -p 'JSON.stringify(process.env)'\n`;
  const { stdout, stderr } = await paste(twice, shell, env, openBrowser(authUrl));
  const answers = (stdout.match(/^\{".*/gm) ?? []).map((line) => JSON.parse(line));
  const pass = [
    expect.objectContaining({ count: expect.any(Number), limit: 1, offset: 0 }),
    { message: 'Request processed successfully', id: expect.any(String) },
    expect.objectContaining({
      entity: expect.objectContaining({ review_count: 1, average_rating: { rating: 5, count: 1 } }),
      latest: [expect.objectContaining({ user: expect.objectContaining({ display_name: 'Ann' }) })],
    }),
  ];
  expect({ stderr, answers }).toEqual({
    stderr,
    answers: [...pass, ...pass, expect.objectContaining({ BASE: `${authUrl}/1` })],
  });
  const users = await fetch(`${authUrl}/1/user/`);
  expect(await users.json()).toMatchObject({ count: 1, users: [{ display_name: 'Ann' }] });

  const client = join(env.HOME, 'reviews.mts');
  writeFileSync(client, /^```ts\n(.*?)^```$/ms.exec(read('README.md'))?.[1] ?? '');
  const walk = spawnSync(process.execPath, [client], { env: { ...env, BASE: `${authUrl}/1` } });
  expect(`${walk.stdout}`).toMatch(/^(5 Ann\n)+$/);
});
