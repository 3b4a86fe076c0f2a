import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { parseSync } from '@swc/core';
import { root } from './helpers/service.ts';

/** Folders of shared/, from the top floor down. A folder imports only from floors below its own. */
const floors = [
  ['account', 'audit', 'docs', 'health', 'notices', 'transfer'],
  ['pages'],
  ['webhooks'],
  ['aggregates', 'changes', 'moderation', 'summary', 'names', 'feed', 'http'],
  ['things'],
  ['site', 'vote'],
  ['review', 'oauth'],
  ['entity', 'user'],
  ['list'],
  ['background'],
  ['table'],
];

/** Folders of shared/pages/, from the top floor down. */
const floorsOfPages = [
  ['account'],
  ['application', 'moderation'],
  ['review'],
  ['entity'],
  ['form'],
  ['frame'],
  ['session'],
];

/** Top folders, each with the top folders that it may import. */
const mayImport: Record<string, readonly string[]> = {
  bin: ['functions', 'infra', 'shared'],
  functions: ['shared'],
  infra: ['shared'],
  shared: [],
};

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root });
const tracked = `${listed}`.split('\n').filter((file) => file && existsSync(join(root, file)));
const sources = tracked.filter((file) =>
  /^(bin|functions|infra|shared|test)\/.*\.[cm]?[jt]s$/.test(file),
);

function importsOf(file: string) {
  const code = readFileSync(join(root, file), 'utf8');
  const found = code.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g);
  return [...found].map(([, path = '']) => normalize(join(dirname(file), path)));
}

/**
 * Returns the floor of a file in shared/. The top floor is 0; files beside the folders are the
 * ground.
 */
function floorOf(file: string) {
  const [, folder = '', name] = file.split('/');
  return name === undefined
    ? floors.length
    : floors.findIndex((folders) => folders.includes(folder));
}

/** Returns the floor of a file in shared/pages/, where 0 is the top. */
const floorOfPage = (file: string) =>
  floorsOfPages.findIndex((folders) => folders.includes(file.split('/')[2] ?? ''));

/** Says why an import is wrong; returns an empty list if it goes down. */
function faultOf(from: string, to: string) {
  const [top = '', folder] = from.split('/');
  const [other = '', otherFolder] = to.split('/');
  if (top === 'test') return [];
  if (top !== other) {
    return mayImport[top]?.includes(other) ? [] : [`${from} imports ${to}: ${top}/ may not`];
  }
  if (top === 'functions') return [`${from} imports ${to}: no function imports another`];
  if (top !== 'shared' || floorOf(from) < floorOf(to)) return [];
  if (folder === 'pages' && otherFolder === 'pages') {
    const isSameFolder = dirname(from) === dirname(to);
    return isSameFolder || floorOfPage(from) < floorOfPage(to)
      ? []
      : [`${from} imports ${to}: that is up`];
  }
  const isSameRoom = folder === otherFolder || floorOf(to) === floors.length;
  return isSameRoom && floorOf(from) === floorOf(to) ? [] : [`${from} imports ${to}: that is up`];
}

test('every folder of shared/ has a floor', () => {
  const folders = sources.flatMap((file) => /^shared\/(.*?)\//.exec(file)?.[1] ?? []);
  expect(folders.filter((folder) => !floors.flat().includes(folder))).toEqual([]);
});

test('every file of shared/pages/ lies in a folder with a floor', () => {
  const files = sources.filter((file) => file.startsWith('shared/pages/'));
  expect(files.filter((file) => floorOfPage(file) < 0)).toEqual([]);
});

test('imports only go down', () => {
  const faults = sources.flatMap((file) => importsOf(file).flatMap((to) => faultOf(file, to)));
  expect(faults).toEqual([]);
});

test.each([
  ['shared/list/cursor.ts', 'shared/review/review.ts', 'up'],
  ['shared/list/cursor.ts', 'shared/http/request.ts', 'up'],
  ['shared/vote/vote.ts', 'shared/http/request.ts', 'up'],
  ['shared/http/oauth-endpoint.ts', 'shared/pages/session/session.ts', 'up'],
  ['shared/pages/frame/layout.ts', 'shared/pages/form/fields.ts', 'up'],
  ['shared/pages/session/session.ts', 'shared/pages/frame/notice.ts', 'up'],
  ['shared/pages/review/review-card.ts', 'shared/pages/moderation/moderation.ts', 'up'],
  ['shared/pages/moderation/moderation.ts', 'shared/pages/application/abilities.ts', 'up'],
  ['shared/table/keys.ts', 'shared/list/cursor.ts', 'up'],
  ['shared/errors.ts', 'shared/table/keys.ts', 'up'],
  ['shared/entity/metadata.ts', 'shared/summary/summary.ts', 'up'],
  ['shared/review/review.ts', 'shared/summary/presented.ts', 'up'],
  ['shared/review/review.ts', 'shared/moderation/case-repository.ts', 'up'],
  ['shared/feed/atom.ts', 'shared/summary/summary.ts', 'up'],
  ['shared/errors.ts', 'functions/api/get-me.ts', 'may not'],
  ['functions/api/get-me.ts', 'functions/api/get-user.ts', 'no function'],
  ['functions/pages/show-user.ts', 'functions/api/get-user.ts', 'no function'],
  ['infra/local/gateway.ts', 'functions/api/get-me.ts', 'may not'],
])('%s may not import %s', (from, to, fault) => {
  expect(faultOf(from, to)).toEqual([expect.stringContaining(fault)]);
});

/** Says why a file of the contract may not import another: it must know nothing of the service. */
const contractFault = (from: string, to: string) =>
  /^bin\/contract\b/.test(from) && !to.startsWith('bin/contract/')
    ? [`${from} imports ${to}: the contract knows nothing of the service`]
    : [];

test('the contract imports nothing of the service', () => {
  const faults = sources.flatMap((file) =>
    importsOf(file).flatMap((to) => contractFault(file, to)),
  );
  expect(faults).toEqual([]);
  for (const to of ['shared/routes.ts', 'functions/api/get-me.ts', 'infra/local/connect.ts']) {
    expect(contractFault('bin/contract/votes.ts', to)).toHaveLength(1);
    expect(contractFault('bin/contract.ts', to)).toHaveLength(1);
  }
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

/** Returns the files and everything that they import, types included. */
function closureOf(files: readonly string[]) {
  const closure = new Set(files);
  for (const file of closure) for (const to of importsOf(file)) closure.add(to);
  return [...closure];
}

const core = closureOf(specified);
const linesOf = (files: readonly string[]) =>
  files.reduce((sum, file) => sum + readFileSync(join(root, file), 'utf8').split('\n').length, 0);
const code = sources.filter((file) => !file.startsWith('test/'));

test(`the core has ${core.length} files and ${linesOf(core)} of ${linesOf(code)} lines`, () => {
  expect(linesOf(core)).toBeLessThan(linesOf(code) / 3);
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
  expect([...loaded]).not.toContain('shared/entity/entity-type.ts');
});

/** Returns the rooms in the row of the table about the core, those of pages with their folder. */
function roomsIn(row: string) {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const [, names = ''] = new RegExp(`^\\| ${row} \\|(.*)\\|$`, 'm').exec(page) ?? [];
  const [rooms = '', pages = ''] = names.split('pages');
  const namesIn = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, name]) => `${name}`);
  return [...namesIn(rooms), ...namesIn(pages).map((name) => `pages/${name}`)].sort();
}

const roomsOf = (files: readonly string[]) =>
  [
    ...new Set(files.flatMap((file) => /^shared\/((?:pages\/)?\w+)\//.exec(file)?.[1] ?? [])),
  ].sort();

test('the core has the rooms that the page names, and all others lie around it', () => {
  expect(roomsOf(core)).toEqual(roomsIn('the core'));
  const others = roomsOf(code).filter((room) => !roomsOf(core).includes(room));
  expect(roomsIn('around it')).toEqual(others);
});

test('comments and texts name only documents that a clone contains', () => {
  const held = new Set(tracked.map((file) => basename(file)));
  const texts = tracked.filter((file) => /\.([cm]?[jt]s|json|ya?ml|md)$/.test(file));
  const missing = texts.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const named = text.match(/\b[\w-]+\.md\b|\bspec section \d+/g) ?? [];
    return named.filter((name) => !held.has(name)).map((name) => `${file}: ${name}`);
  });
  expect(missing.filter((fault) => !fault.startsWith('test/architecture.test.ts'))).toEqual([]);
});

interface SyntaxNode {
  type?: string;
  /** In bytes; the first is 1. */
  span?: { start: number };
  [field: string]: unknown;
}

/** Returns the expression without parentheses and types around it. */
function bare(node: SyntaxNode): SyntaxNode {
  const isWrapper = /^(Parenthesis|TsAs|TsConst|TsSatisfies)/.test(node.type ?? '');
  return isWrapper ? bare(node.expression as SyntaxNode) : node;
}

const isLiteral = (node: SyntaxNode) => /^(Array|Object)Expression$/.test(bare(node).type ?? '');

/** Returns the elements of `[a, b]` as text, sorted. Equal code gives equal text. */
function sortedElements({ elements }: SyntaxNode) {
  const texts = (elements as (SyntaxNode | null)[]).map((element) =>
    JSON.stringify(element?.expression ?? element, (key, value) =>
      ['span', 'ctxt', 'optional', 'typeAnnotation'].includes(key) ? undefined : value,
    ),
  );
  return texts.sort().join();
}

function isTupleAssignment(left: unknown, right: unknown): boolean {
  const pattern = left as SyntaxNode;
  if (pattern.type !== 'ArrayPattern' || !right) return false;
  const tuple = bare(right as SyntaxNode);
  return tuple.type === 'ArrayExpression' && sortedElements(pattern) !== sortedElements(tuple);
}

/** Names the fault of a syntax node, if it has one of the two. */
function syntaxFault(node: SyntaxNode): string | undefined {
  const isSpread = node.type === 'SpreadElement' || Boolean(node.spread);
  const spread = (node.arguments ?? node.expression) as SyntaxNode;
  if (isSpread && isLiteral(spread)) return 'a spread literal';
  const isTuple =
    (node.type === 'AssignmentExpression' && isTupleAssignment(node.left, node.right)) ||
    (node.type === 'VariableDeclarator' && isTupleAssignment(node.id, node.init));
  return isTuple ? 'a tuple assignment' : undefined;
}

/** Returns the literals that are spread, and the tuple assignments, with their lines. */
function syntaxFaults(code: string): string[] {
  // Only files that may have a fault are parsed.
  if (!/\.\.\.\s*\(*\s*[[{]|\]\s*(:[^=]*)?=\s*\(*\s*\[/.test(code)) return [];
  const bytes = Buffer.from(code);
  const faults: string[] = [];
  const visit = (node: SyntaxNode, start: number): void => {
    const begin = node.span?.start ?? (node.spread as SyntaxNode['span'])?.start ?? start;
    const fault = syntaxFault(node);
    if (fault) faults.push(`${`${bytes.subarray(0, begin - 1)}`.split('\n').length}: ${fault}`);
    for (const child of Object.values(node)) {
      if (typeof child === 'object' && child !== null) visit(child as SyntaxNode, begin);
    }
  };
  visit(parseSync(code, { syntax: 'typescript', target: 'es2024' }) as never, 1);
  return faults;
}

test.each([
  ['const a = { ...{ b: 1 }, c: 2 };', ['1: a spread literal']],
  ['const a = [\n  1,\n  ...[2, 3],\n];', ['3: a spread literal']],
  ["f(...['a', 'b']);", ['1: a spread literal']],
  ["const a = [...(['b'] as const)];", ['1: a spread literal']],
  ['let a = 1, b = 2;\n[a, b] = [b, a + b];', ['2: a tuple assignment']],
  ['const [a, b] = [1, 2];', ['1: a tuple assignment']],
  ['const [a, b]: number[] = [1, 2];', ['1: a tuple assignment']],
  ['[a[0], a[1]] = [a[1], a[0]];', []],
  ['const [a, b] = f(), c = { ...a, ...(b && { d: 1 }) };', []],
  ['const a = [...[1, 2].map(f), ...b];', []],
])('%j: %j', (code, faults) => {
  expect(syntaxFaults(code)).toEqual(faults);
});

test('no literal is spread, and no tuple assigned but to swap', () => {
  const faults = sources.flatMap((file) =>
    syntaxFaults(readFileSync(join(root, file), 'utf8')).map((fault) => `${file}:${fault}`),
  );
  expect(faults).toEqual([]);
});
