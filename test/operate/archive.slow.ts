import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../helpers/listen.ts';
import { fresh, root } from '../helpers/service.ts';

// The archive of a release, installed and started by the two commands of its README.

const parent = fresh('release');
// In an address, `#`, `%` and `é` mean something else than in a path.
const folder = join(parent, 'C# 100% é');

/** The variables of a new terminal, without those of npm and of tests. Node.js is 24. */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(HOME|https?_proxy|.*CA_CERTS)$/i.test(name)),
  ),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};

/** Returns the commands below “Start” of the README in the archive. */
function commands(): string[] {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  const [, block = ''] = /^## Start$.*?^```sh\n(.*?)^```$/ms.exec(readme) ?? [];
  return block.trim().split('\n');
}

beforeAll(() => {
  mkdirSync(folder, { recursive: true });
  const file = join(parent, 'service.tar.gz');
  const make = ['run', '-s', 'release', '--', '--archive', file];
  execFileSync('npm', make, { cwd: root });
  execFileSync('tar', ['xzf', file, '--strip-components', '1'], { cwd: folder });
});

test('the README has two commands', () => {
  expect(commands()).toEqual(['npm ci', 'npm start -- --demo']);
});

test('it has no script whose tools it lacks, and the scripts that guides for operators name', () => {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const tools = /\b(biome|jest|typescript|tsc|redocly)\b|npm run (-s )?jest/;
  expect(Object.entries(scripts).filter(([, script]) => tools.test(`${script}`))).toEqual([]);
  const named = ['start', 'admin', 'deploy', 'contract', 'smoke'];
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  const whole = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toEqual({
    ...whole,
    scripts,
  });
});

test('they install the archive in a folder of any name, start it, and it answers', async () => {
  const [install = '', start = ''] = commands();
  execFileSync(install, { shell: true, cwd: folder, env, stdio: 'pipe' });
  const port = await freePort();
  const service = spawn(start, {
    shell: true,
    cwd: folder,
    env: { ...env, PORT: port },
    detached: true,
  });
  const exited = once(service, 'exit');
  const faults: string[] = [];
  createInterface({ input: service.stderr }).on('line', (line) => faults.push(line));
  try {
    for await (const line of createInterface({ input: service.stdout })) {
      if (line.includes('The demo is complete')) break;
    }
    expect(faults).toEqual([]);
    const address = `http://localhost:${port}/ws`;
    const reviews = await fetch(`${address}/1/review/?limit=1`);
    expect(await reviews.json()).toMatchObject({
      count: 200,
      reviews: [{ id: expect.any(String) }],
    });
    for (const path of ['/', '/docs/quickstart', '/docs/api']) {
      expect(await fetch(`${address}${path}`)).toHaveStatus(200);
    }
  } finally {
    if (service.exitCode === null) process.kill(-(service.pid ?? 0), 'SIGTERM');
    await exited;
  }
}, 600_000);
