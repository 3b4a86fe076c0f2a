import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from './helpers/service.ts';

/** Folders of shared/, from the top floor down. A folder imports only from floors below its own. */
const floors = [
  ['account', 'audit', 'docs', 'health', 'transfer'],
  ['pages'],
  ['aggregates', 'changes', 'vote', 'moderation', 'summary', 'feed', 'http'],
  ['review', 'oauth'],
  ['entity', 'user'],
  ['list'],
  ['table', 'background'],
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

function importsOf(file: string): string[] {
  const code = readFileSync(join(root, file), 'utf8');
  const found = code.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g);
  return [...found].map(([, path = '']) => normalize(join(dirname(file), path)));
}

/**
 * Returns the floor of a file in shared/. The top floor is 0; files beside the folders are the
 * ground.
 */
function floorOf(file: string): number {
  const [, folder = '', name] = file.split('/');
  return name === undefined
    ? floors.length
    : floors.findIndex((folders) => folders.includes(folder));
}

/** Says why an import is wrong; returns an empty list if it goes down. */
function faultOf(from: string, to: string): string[] {
  const [top = '', folder] = from.split('/');
  const [other = '', otherFolder] = to.split('/');
  if (top === 'test') return [];
  if (top !== other) {
    return mayImport[top]?.includes(other) ? [] : [`${from} imports ${to}: ${top}/ may not`];
  }
  if (top === 'functions') return [`${from} imports ${to}: no function imports another`];
  if (top !== 'shared' || floorOf(from) < floorOf(to)) return [];
  const isSameRoom = folder === otherFolder || floorOf(to) === floors.length;
  return isSameRoom && floorOf(from) === floorOf(to) ? [] : [`${from} imports ${to}: that is up`];
}

test('every folder of shared/ has a floor', () => {
  const folders = sources.flatMap((file) => /^shared\/(.*?)\//.exec(file)?.[1] ?? []);
  expect(folders.filter((folder) => !floors.flat().includes(folder))).toEqual([]);
});

test('imports only go down', () => {
  const faults = sources.flatMap((file) => importsOf(file).flatMap((to) => faultOf(file, to)));
  expect(faults).toEqual([]);
});

test.each([
  ['shared/list/cursor.ts', 'shared/review/review.ts', 'up'],
  ['shared/list/cursor.ts', 'shared/http/request.ts', 'up'],
  ['shared/vote/vote.ts', 'shared/http/request.ts', 'up'],
  ['shared/http/oauth-endpoint.ts', 'shared/pages/session.ts', 'up'],
  ['shared/table/keys.ts', 'shared/list/cursor.ts', 'up'],
  ['shared/errors.ts', 'shared/table/keys.ts', 'up'],
  ['shared/entity/metadata.ts', 'shared/summary/summary.ts', 'up'],
  ['shared/review/review.ts', 'shared/summary/presented.ts', 'up'],
  ['shared/review/review.ts', 'shared/moderation/case-repository.ts', 'up'],
  ['shared/feed/atom.ts', 'shared/summary/summary.ts', 'up'],
  ['shared/errors.ts', 'functions/get-me.ts', 'may not'],
  ['functions/get-me.ts', 'functions/get-user.ts', 'no function'],
  ['infra/local/gateway.ts', 'functions/get-me.ts', 'may not'],
])('%s may not import %s', (from, to, fault) => {
  expect(faultOf(from, to)).toEqual([expect.stringContaining(fault)]);
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
