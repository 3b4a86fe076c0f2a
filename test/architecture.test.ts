import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root } from './helpers/service.ts';

/** Floors of shared/, from the top down. A file imports from its own floor and those below. */
const floors = ['features', 'pages', 'core', 'base'];

/** Top folders, each with the top folders that it may import. */
const mayImport: Record<string, readonly string[]> = {
  bin: ['functions', 'infra', 'shared'],
  functions: ['shared'],
  infra: ['shared'],
  shared: ['shared'],
};

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root });
const isOfContract = (file: string) =>
  file.startsWith('test/contract/') && !/\.(test|slow)\.ts$/.test(file);
const sources = `${listed}`
  .split('\n')
  .filter(
    (file) => /^(bin|functions|infra|shared)\/.*\.[cm]?[jt]s$/.test(file) || isOfContract(file),
  )
  .filter((file) => existsSync(join(root, file)));

function importsOf(file: string) {
  const code = readFileSync(join(root, file), 'utf8');
  const found = code.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g);
  return [...found].map(([, path = '']) => normalize(join(dirname(file), path)));
}

const imports = sources.flatMap((from) => importsOf(from).map((to) => ({ from, to })));

/** Says why an import is wrong; returns an empty list if it is not. */
function faultsOf({ from, to }: { from: string; to: string }) {
  const [top = '', floor = ''] = from.split('/');
  const [other = '', otherFloor = ''] = to.split('/');
  const fault = (why: string) => [`${from} imports ${to}: ${why}`];
  if (isOfContract(from)) {
    return isOfContract(to) ? [] : fault('the contract knows nothing of the service');
  }
  if (top === 'functions' && other === top) return fault('no function imports another');
  if (top !== other && !mayImport[top]?.includes(other)) return fault(`${top}/ may not`);
  const isUp = top === 'shared' && floors.indexOf(floor) > floors.indexOf(otherFloor);
  if (isUp) return fault('that is up');
  const feature = featureOf(to);
  const isInside = feature !== undefined && !to.endsWith('/public.ts');
  return isInside && feature !== featureOf(from) ? fault('a feature has one door, public.ts') : [];
}

/** Returns the name of a feature for a file of it. */
const featureOf = (file: string) => /^shared\/features\/(\w+)\//.exec(file)?.[1];

/** Returns the folder of a file in shared/, such as `core/review`. Folders within it are part. */
const roomOf = (file: string) => /^shared\/(\w+(?:\/\w+(?=\/))?)/.exec(file)?.[1];

/** Returns rooms that import each other in a circle, and those between them, sorted. */
function circleIn(edges: readonly { from: string; to: string }[]) {
  const reached = new Map<string, Set<string>>();
  for (const { from, to } of edges) {
    const rooms = [roomOf(from), roomOf(to)];
    const [a, b] = rooms;
    if (a && b && a !== b) reached.set(a, (reached.get(a) ?? new Set()).add(b));
  }
  const allFrom = (room: string) => {
    const all = new Set(reached.get(room));
    for (const other of all) for (const next of reached.get(other) ?? []) all.add(next);
    return all;
  };
  return [...reached.keys()].filter((room) => allFrom(room).has(room)).sort();
}

test('every file of shared/ lies on a floor', () => {
  const files = sources.filter((file) => file.startsWith('shared/'));
  expect(files.filter((file) => !floors.includes(file.split('/')[1] ?? ''))).toEqual([]);
});

test('imports go down, and into features by their doors', () => {
  expect(imports.flatMap(faultsOf)).toEqual([]);
});

test('no rooms of shared/ import each other', () => {
  expect(circleIn(imports)).toEqual([]);
});

/** Exports that a feature hangs itself in by, and the file that gathers each. */
const gathered: Record<string, string> = {
  kinds: 'shared/features/kinds.ts',
  job: 'shared/features/background.ts',
  followed: 'shared/features/background.ts',
  ownLists: 'shared/features/account/export.ts',
  ownSchemas: 'shared/features/account/presented.ts',
};

test.each(Object.entries(gathered))('%s of each feature is gathered in %s', (name, list) => {
  const isExported = new RegExp(`^export \\{[^}]*\\b${name}\\b`, 'm');
  const doors = sources.filter(
    (file) =>
      file.endsWith('/public.ts') && isExported.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(doors).not.toEqual([]);
  expect(importsOf(list)).toEqual(expect.arrayContaining(doors));
});

test('the table of ARCHITECTURE has every room, and no other', () => {
  const [, table = ''] =
    /\| floor \| room[\s\S]*?\n([\s\S]*?)\n\n/.exec(
      readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'),
    ) ?? [];
  let floor = '';
  const told = table.split('\n').flatMap((row) => {
    floor = /^\| \[(\w+)\]/.exec(row)?.[1] ?? floor;
    return [...row.matchAll(/\| `(\w+)` \|/g)].map(([, room]) => `${floor}/${room}`);
  });
  const rooms = new Set(sources.flatMap((file) => /^shared\/(\w+\/\w+)\//.exec(file)?.[1] ?? []));
  expect(told.toSorted()).toEqual([...rooms].sort());
});

test.each([
  ['shared/base/list/cursor.ts', 'shared/core/review/review.ts', 'up'],
  ['shared/core/http/oauth-endpoint.ts', 'shared/pages/session/session.ts', 'up'],
  ['shared/pages/review/review-card.ts', 'shared/features/things/thing.ts', 'up'],
  ['shared/features/account/link.ts', 'shared/features/names/proposal.ts', 'door'],
  ['functions/pages/show-data.ts', 'shared/features/account/export.ts', 'door'],
  ['shared/base/errors.ts', 'functions/api/get-me.ts', 'may not'],
  ['functions/api/get-me.ts', 'functions/api/get-user.ts', 'no function'],
  ['infra/local/gateway/gateway.ts', 'functions/api/get-me.ts', 'may not'],
  ['test/contract/votes.ts', 'shared/base/routes.ts', 'knows nothing'],
  ['test/contract/command.ts', 'infra/local/storage/connect.ts', 'knows nothing'],
])('%s may not import %s', (from, to, fault) => {
  expect(faultsOf({ from, to })).toEqual([expect.stringContaining(fault)]);
});

test('a circle is found over other rooms, and a file beside them is a room', () => {
  const edge = (from: string, to: string) => ({ from: `shared/${from}`, to: `shared/${to}` });
  const line = [
    edge('core/a/x.ts', 'core/b/y.ts'),
    edge('core/b/deep/z.ts', 'core/c/x.ts'),
    edge('core/c/x.ts', 'base/errors.ts'),
  ];
  expect(circleIn(line)).toEqual([]);
  expect(circleIn([...line, edge('core/c/w.ts', 'core/a/x.ts')])).toEqual([
    'core/a',
    'core/b',
    'core/c',
  ]);
  expect(circleIn([...line, edge('base/time.ts', 'core/a/x.ts')])).toContain('base');
});

// Types of this service are read when their module is loaded, so settings come first.
test.each(['bin/start.ts', 'bin/admin.ts'])('%s reads settings before it loads types', (start) => {
  const loaded = new Set([start]);
  for (const file of loaded) {
    const code = readFileSync(join(root, file), 'utf8');
    const imports = code.matchAll(/^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm);
    for (const [, path = ''] of imports) loaded.add(normalize(join(dirname(file), path)));
  }
  expect(loaded.size).toBeGreaterThan(1);
  expect([...loaded]).not.toContain('shared/core/entity/entity-type.ts');
});

/** Returns imports and workers that may have a path, in which `#`, `%` and `?` mean themselves. */
function pathsAsUrls(code: string): string[] {
  const calls = [...code.matchAll(/\b(import|new Worker)\((?!\s*['"])\s*([^;]*)/g)];
  return calls.flatMap(([, call = '', argument = '']) => {
    const isUrl = /^(pathToFileURL\(.*\)\.href|new URL\(['"`][^)]*import\.meta\.url)/s;
    // A package has no path.
    const [name = ''] = /^\w+(?=\))/.exec(argument) ?? [];
    const isPackage = name !== '' && new RegExp(`const ${name} = '[^./]`).test(code);
    return isUrl.test(argument) || isPackage ? [] : [`${call}(${argument.split('\n')[0]}`];
  });
}

test.each([
  ["await import('./a.ts'); await import(pathToFileURL(file).href);", []],
  ["new Worker(new URL('./a.ts', import.meta.url), {});", []],
  ["const adapter = 'library/a.js'; await import(adapter);", []],
  ['await import(file);', ['import(file)']],
  ["const file = '/a.ts'; await import(file);", ['import(file)']],
  ["new Worker(join(folder, 'a.ts'));", ["new Worker(join(folder, 'a.ts'))"]],
  ['import(`$' + '{folder}/a.ts`);', ['import(`$' + '{folder}/a.ts`)']],
])('paths as addresses in %j: %j', (code, faults) => {
  expect(pathsAsUrls(code)).toEqual(faults);
});

test('what is imported or run by its path has an address made by pathToFileURL', () => {
  const programs = sources.filter((file) => !file.startsWith('test/architecture'));
  const faults = programs.flatMap((file) =>
    pathsAsUrls(readFileSync(join(root, file), 'utf8')).map((fault) => `${file}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

/** The 22 endpoints of the specification, the authorizer, its page and the daily job. */
const specified = `
  api/list-languages api/list-reviews api/create-review api/get-review api/update-review
  api/delete-review api/get-revision api/list-revisions api/report-review api/get-vote
  api/put-vote api/delete-vote api/batch-get-reviews api/list-my-applications api/list-my-reviews
  api/list-my-tokens api/get-me api/update-me api/delete-me api/list-users api/get-user
  api/create-token api/authorizer pages/request-authorization pages/answer-authorization
  background/expire-vote-counters`
  .trim()
  .split(/\s+/)
  .map((file) => `functions/${file}.ts`);

test('what the specification asks for needs no feature but the deletion of an account', () => {
  const reached = new Set(specified);
  const features = new Set<string>();
  for (const from of reached) {
    for (const to of importsOf(from)) {
      const feature = featureOf(to);
      if (feature) features.add(`${from}: ${feature}`);
      else reached.add(to);
    }
  }
  expect([...features]).toEqual(['functions/api/delete-me.ts: account']);
});
