import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './helpers/service.ts';

// The list of numbers in the README and the guides to the hosts, and where each comes from.

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Returns the text of a document, a line for each paragraph, list or table. */
function textOf(path: string) {
  return read(path)
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .replaceAll(/^ *\d\. /gm, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll('`', '')
    .split(/\n\s*\n/)
    .map((block) => block.replaceAll(/\s+/g, ' '))
    .join('\n');
}

/** Makes an expression of words. `…` stands for text without digits, or for cells of a table. */
function patternOf(words: string) {
  const parts = words.split(' … ').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(parts.join('(?:\\D*?|.*?\\|.*?)'));
}

const [beginning = '', ...sections] = read('.github/docs/numbers.md').split(/^## /m);
const names = [...beginning.replaceAll('\n', ' ').matchAll(/`(.+?)`/g)].map(
  ([, name = '']) => name,
);
const lists = sections.map((section) => ({
  path: /^\[(.+?)\]/.exec(section)?.[1] ?? '',
  rows: [...section.matchAll(/^\| (.+) \| (.+) \|$/gm)]
    .slice(1)
    .map(([, says = '', from = '']) => ({
      phrases: says.replaceAll('`', '').split(' · '),
      from,
    })),
}));

/** Returns the parts of a text with numbers that no row and no name accounts for. */
function unlisted(text: string, phrases: readonly string[]) {
  const rest = phrases.reduce((left, words) => left.replace(patternOf(words), ' '), text);
  const numbers = names.reduce((left, name) => left.replaceAll(name, ' '), rest);
  return numbers.match(/.{0,40}\d.{0,20}/g) ?? [];
}

test('the list is of the README and of the guides to both hosts', () => {
  expect(lists.map(({ path }) => path)).toEqual([
    'README.md',
    'infra/local/README.md',
    'infra/aws/README.md',
    'infra/aws/carries.md',
    'infra/aws/first-deployment.md',
  ]);
});

test.each(names)('“%s” is in some of the documents', (name) => {
  expect(lists.map(({ path }) => textOf(path)).join('\n')).toContain(name);
});

describe.each(lists)('$path', ({ path, rows }) => {
  const text = textOf(path);

  test.each(rows)('says “$phrases”, from $from', ({ phrases, from }) => {
    for (const words of phrases) expect(text).toMatch(patternOf(words));
    const [, place, link, signs] = /^\[(.+)\]\((.+)\) `(.+)`$/.exec(from) ?? [];
    if (place === undefined || signs === undefined) {
      expect(from).toMatch(
        /^(measured on \d+ \w+ 20\d\d( by `.+`)?|computed from .+|the .+ of .+)$/,
      );
      return;
    }
    expect(link).toBe(`../../${place}`);
    expect(existsSync(join(root, place))).toBe(true);
    for (const sign of signs.split('`, `')) expect(read(place)).toContain(sign);
  });

  test('has no other number', () => {
    expect(
      unlisted(
        text,
        rows.flatMap(({ phrases }) => phrases),
      ),
    ).toEqual([]);
  });
});

test('a number more in a sentence is found, and a cell more in a measured table is not', () => {
  expect(unlisted('Takes 5 s and then 7 s', ['Takes 5 s … 7 s'])).toEqual([]);
  expect(unlisted('Takes 5 s and 6 s, then 7 s', ['Takes 5 s … 7 s'])).not.toEqual([]);
  expect(unlisted('| 5 s | 6 s | 7 s |', ['5 s … 7 s'])).toEqual([]);
});
