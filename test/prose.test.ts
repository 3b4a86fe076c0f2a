import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

/** Words of an earlier dialect, each with the field's word for it. */
const privateWords: readonly [RegExp, string][] = [
  [/\bone's\b|\bone’s\b/i, 'your, their'],
  [/\bwho(so)?ever\b/i, 'anyone who, the person who'],
  [/\b(is|are|was) let in\b|\blets? in\b/i, 'grants access'],
  [/\b(is|are) good (no more|for|until|once)\b/i, 'expired, valid'],
  [/\banother look\b|\blook-asked\b/i, 'appeal'],
  [/\bstretch(es)?\b/i, 'key range'],
  [/\bno more\b(?! than)/i, 'no longer'],
  [/\bat fault\b/i, 'invalid'],
  [/\bthose of (which|whom|these|those)\b|\bof whom\b/i, 'name the thing again'],
  [/\bto announce\b|\bannounces?\b/i, 'register'],
  [/\btakes? along\b|\btake one/i, 'export'],
  [/\bis ahead of\b|\bcomes? (once more|anew)\b/i, 'newer than, repeated'],
  [/\bbesides\b[.,]/i, 'also'],
];

const documents = globSync(['*.md', '.github/**/*.md', 'infra/**/*.md', 'shared/**/*.md']).sort();
const sources = globSync('{bin,functions,infra,shared,test}/**/*.ts', {
  exclude: ['**/node_modules/**'],
}).sort();

/** A paragraph, or a comment, and where it stands. */
interface Passage {
  at: string;
  text: string;
}

const read = (file: string) => readFileSync(file, 'utf8');

/** Markdown without its blocks of code and its front matter, their lines left empty. */
function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^( *)```.*?^\1```$|^---\n.*?^---$/gms, (block) =>
    block.replaceAll(/.+/g, ''),
  );
}

/** Paragraphs, headings, items of lists and cells of tables. */
function paragraphsOf(file: string): Passage[] {
  const parts = withoutCode(read(file)).split(/\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.)\s)|(?<!\\)\|/);
  return parts.map((part) => ({ at: file, text: part.replace(/^\s*(?:[-*#]+|\d+\.)\s/, '') }));
}

function docstringsOf(file: string): Passage[] {
  return [...read(file).matchAll(/^ *\/\*\*(.*?)\*\//gms)].map(([, text = '']) => ({
    at: file,
    text: text
      .replaceAll(/^ *\* ?/gm, '')
      .replaceAll(/^\|.*$/gm, '')
      .replace(/@example.*/s, '')
      .trim(),
  }));
}

function commentsOf(file: string): Passage[] {
  const runs = [...read(file).matchAll(/(?:^ *\/\/ .*\n?)+/gm)];
  return runs.map(([run]) => ({ at: file, text: run.replaceAll(/^ *\/\/ /gm, '') }));
}

const inSentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const inWords = new Intl.Segmenter('en', { granularity: 'word' });

/** Sentences of a passage; a piece of code and the target of a link count as one word. */
function sentencesOf({ text }: Passage): string[] {
  const plain = text
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/\]\([^)]*\)|[*[\]]/g, '')
    .replaceAll(/\b(e\.g|i\.e|etc|vs)\./g, '$1')
    .replaceAll(/\s+/g, ' ');
  return [...inSentences.segment(plain)].map(({ segment }) => segment.trim());
}

function wordsIn(sentence: string): number {
  return [...inWords.segment(sentence)].filter(({ isWordLike }) => isWordLike).length;
}

const passages = [
  ...documents.flatMap(paragraphsOf),
  ...sources.flatMap((file) => [...docstringsOf(file), ...commentsOf(file)]),
];

test('documents and comments are at most 100 columns wide', () => {
  const wide = [
    ...documents.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => !line.startsWith('|') && !/^\S*\[[^\]]*\]\(\S+\)\S*$/.test(line))
        .map((line) => [file, line] as const),
    ),
    ...sources.flatMap((file) =>
      (read(file).match(/^ *(\/\/|\/?\*(?! \|)).*/gm) ?? []).map((line) => [file, line] as const),
    ),
  ].filter(([, line]) => line.length > 100 && !/https?:\S{60}/.test(line));
  expect(wide).toEqual([]);
});

test('a docstring or a paragraph begins with its subject', () => {
  const riddles = [...sources.flatMap(docstringsOf), ...documents.flatMap(paragraphsOf)].filter(
    ({ text }) => /^\W*(What|How|Whether|Who|Whom|Whose|Where|That)\b/.test(text),
  );
  expect(riddles).toEqual([]);
});

/** Texts of the API's description, each with its place. */
function descriptionsIn(part: unknown, at = ''): Passage[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([name, value]) => {
    const isText = typeof value === 'string' && ['summary', 'description'].includes(name);
    return isText ? [{ at, text: value }] : descriptionsIn(value, `${at}/${name}`);
  });
}

test('a text of the API’s description begins with its subject', () => {
  const texts = descriptionsIn(JSON.parse(read('shared/docs/openapi.json')));
  const riddles = texts.filter(({ text }) =>
    /^\W*(What|How|Why|Whether|Who|Whom|Whose|Where|That)\b/.test(text),
  );
  expect(riddles).toEqual([]);
  expect(texts.length).toBeGreaterThan(500);
});

test('an exported function of shared/ has a docstring', () => {
  const bare = sources
    .filter((file) => file.startsWith('shared/'))
    .flatMap((file) => read(file).match(/(?<!\*\/\n)^export (async )?function\*? \w+/gm) ?? []);
  expect(bare).toEqual([]);
});

test('no sentence has more than 30 words', () => {
  const long = passages.flatMap((passage) =>
    sentencesOf(passage)
      .filter((sentence) => wordsIn(sentence) > 30)
      .map((sentence) => `${passage.at}: ${sentence}`),
  );
  expect(long).toEqual([]);
});

test('words are those of the field', () => {
  const found = passages.flatMap(({ at, text }) =>
    privateWords
      .filter(([word]) => word.test(text))
      .map(([word, better]) => `${at}: ${word.exec(text)?.[0]} (${better}): ${text.slice(0, 80)}`),
  );
  expect(found).toEqual([]);
});
