import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseSync } from '@swc/core';
import { root } from './helpers/service.ts';

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root });
const tracked = `${listed}`.split('\n').filter((file) => file && existsSync(join(root, file)));
const sources = tracked.filter((file) =>
  /^(bin|functions|infra|shared|test)\/.*\.[cm]?[jt]s$/.test(file),
);

test('comments and texts name only documents that a clone contains', () => {
  const held = new Set(tracked.map((file) => basename(file)));
  const texts = tracked.filter((file) => /\.([cm]?[jt]s|json|ya?ml|md)$/.test(file));
  const missing = texts.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const named = text.match(/\b[\w-]+\.md\b|\bspec section \d+/g) ?? [];
    return named.filter((name) => !held.has(name)).map((name) => `${file}: ${name}`);
  });
  expect(missing.filter((fault) => !fault.startsWith('test/syntax.test.ts'))).toEqual([]);
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
