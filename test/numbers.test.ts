import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from './helpers/service.ts';

// The list of numbers in the README and where each comes from.

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** The README as one line, without its blocks of code. */
const readme = read('README.md')
  .replaceAll(/^```.*?^```$/gms, '')
  .replaceAll(/\s+/g, ' ');

const rows = read('.github/docs/numbers.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.slice(2, -2).split(' | '));

test.each(rows)('the README says “%s”', (words = '', from = '') => {
  expect(readme).toContain(words);
  const [, path, sign] = /^\[(.+)\]\(.+\) `(.+)`$/.exec(from) ?? [];
  if (path === undefined) {
    expect(from).toMatch(/^(measured on \d+ \w+ \d{4}|the (name|date|release)s? .+)$/);
  } else expect(read(path)).toContain(sign);
});

test('no other number stands in the README', () => {
  const rest = rows.reduce((text, [words = '']) => text.replace(words, ''), readme);
  expect(rest.match(/.{0,40}\d.{0,20}/g) ?? []).toEqual([]);
});
