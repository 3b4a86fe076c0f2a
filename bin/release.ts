import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { files } from './generated.cjs';
import { partOf, tasksHeading, unreleasedPart, withRelease } from './release/changelog.ts';
import { missingIn } from './release/check.ts';

const root = new URL('..', import.meta.url);
const changelogFile = 'CHANGELOG.md';
const descriptionFile = 'shared/features/docs/openapi.json';
/** Packages beside the service, which have its version. */
const clientFile = 'infra/client/package.json';
const guides = ['infra/local/README.md', 'infra/aws/README.md'];

/** Parts that operators need. An `.npmrc` beside them leaves out packages for development. */
const archived = [
  'bin',
  'functions',
  'infra',
  'shared',
  // For `npm run contract` and `npm run smoke`.
  'test/contract',
  'package-lock.json',
  'cdk.json',
  'tsconfig.json',
  'README.md',
  'ARCHITECTURE.md',
  changelogFile,
  'LICENSE',
  '.github/docs',
];

/** Scripts of package.json whose tools and files an archive does not have. */
const forDevelopment = ['precheck', 'check', 'fix', 'jest', 'test', 'test:quick', 'e2e'];

const command = new Command('npm run release --')
  .description('Says what the release of this commit lacks, or makes a part of it.')
  .argument('[version]', 'write this version into every file that names it')
  .option('--check', 'say what is missing; the default')
  .option('--notes', 'print the part of the changelog')
  .option('--archive <file>', 'write the archive for operators, such as service.tar.gz')
  .parse();
const [next] = command.args;
const { notes, archive } = command.opts();
const { version } = json('package.json');

if (next !== undefined) prepare(next);
else if (notes) console.log(partOf(read(changelogFile), `## ${version}`) ?? '');
else if (archive) writeArchive(archive);
else check();

/** Writes a version everywhere. The changelog's unreleased entries become its part. */
function prepare(next: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(next)) fail(`${next} is no version: write one such as 1.2.0`);
  const day = new Date().toISOString().slice(0, 10);
  const changelog = read(changelogFile);
  if (partOf(changelog, `## ${next}`) === undefined) {
    if (!unreleasedPart(changelog).includes(tasksHeading)) {
      fail(
        `${changelogFile}: write “${tasksHeading}” under “Unreleased” first, if only “Nothing.”`,
      );
    }
    write(changelogFile, withRelease(changelog, next, day));
  }
  for (const guide of guides) write(guide, read(guide).replaceAll(`v${version}`, `v${next}`));
  for (const guide of guides) {
    write(guide, read(guide).replaceAll(`service-${version}`, `service-${next}`));
  }
  run('npm', ['version', next, '--no-git-tag-version', '--allow-same-version']);
  if (existsSync(new URL(clientFile, root))) {
    write(clientFile, read(clientFile).replace(/"version": ".*?"/, `"version": "${next}"`));
    run('npm', ['install', '--package-lock-only', '--ignore-scripts']);
  }
  run('npm', ['run', 'generate']);
  console.log(`Version ${next} is written. Look at it, commit it, and type: npm run release`);
}

function check(): void {
  const released = git('tag', '--list', 'v*', '--sort=-version:refname').map((tag) => tag.slice(1));
  const [last] = released;
  const missing = missingIn({
    version,
    copies: {
      'package-lock.json': json('package-lock.json').version,
      [descriptionFile]: json(descriptionFile).info.version,
      [clientFile]: json(clientFile).version,
    },
    changelog: read(changelogFile),
    guides: Object.fromEntries(guides.map((file) => [file, read(file)])),
    released,
    format: {
      now: formatIn() ?? 0,
      before: last === undefined ? undefined : formatIn(`v${last}`),
    },
    uncommitted: git('status', '--porcelain').map((line) => line.slice(3)),
  });
  if (missing.length > 0) fail(`this is no release yet:\n- ${missing.join('\n- ')}`);
  console.log(`Version ${version} can be released: push it to main.`);
}

/**
 * Returns the highest number of the format of the data, and of the data folder of a server.
 * Undefined in a release that had none. Without a tag, reads the working tree.
 */
function formatIn(tag?: string): number | undefined {
  const files = ['--', '*/format.ts', '*/data-folder.ts'];
  const words = ['grep', '-hoE', '(data|folder)Format = [0-9]+', ...(tag ? [tag] : []), ...files];
  const { stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  const numbers = stdout.match(/\d+/g);
  return numbers ? Math.max(...numbers.map(Number)) : undefined;
}

function writeArchive(file: string): void {
  const folder = `review-service-${version}/`;
  const { scripts, ...others } = json('package.json');
  for (const name of forDevelopment) delete scripts[name];
  const description = JSON.stringify({ ...others, scripts }, null, 2);
  const npmrc = `omit[]=dev\nomit[]=optional\n${read('.npmrc')}`;
  const settings = [
    `--add-virtual-file=${folder}.npmrc:${npmrc}`,
    `--add-virtual-file=${folder}package.json:${description}`,
  ];
  const parts = archived.filter((name) => existsSync(new URL(name, root)));
  const made = files.flatMap((path) => [
    `--prefix=${folder}${dirname(relative(fileURLToPath(root), path))}/`,
    `--add-file=${path}`,
  ]);
  const inFolder = `--prefix=${folder}`;
  run('git', ['archive', ...made, inFolder, ...settings, '--output', file, 'HEAD', ...parts]);
}

function git(...words: string[]): string[] {
  return run('git', words).split('\n').filter(Boolean);
}

function run(program: string, words: readonly string[]): string {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  return execFileSync(program, words, { cwd: root, encoding: 'utf8', stdio: [...stdio] });
}

function read(file: string): string {
  return readFileSync(new URL(file, root), 'utf8');
}

function json(file: string) {
  return JSON.parse(read(file));
}

function write(file: string, text: string): void {
  writeFileSync(new URL(file, root), text);
}

function fail(reason: string): never {
  console.error(`Error: ${reason}`);
  process.exit(1);
}
