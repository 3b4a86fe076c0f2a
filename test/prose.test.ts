import { globSync, readFileSync } from 'node:fs';

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
  exclude: ['**/node_modules/**', '**/dist/**', '**/*.d.ts'],
}).sort();

/** A paragraph, or a comment, and where it stands. */
interface Passage {
  at: string;
  text: string;
}

const read = (file: string) => readFileSync(file, 'utf8');

/** Markdown without its blocks of code and its front matter, their lines left empty. */
function withoutCode(markdown: string) {
  return markdown.replaceAll(/^( *)```.*?^\1```$|^---\n.*?^---$/gms, (block) =>
    block.replaceAll(/.+/g, ''),
  );
}

/** Paragraphs, headings, items of lists and cells of tables. */
function paragraphsOf(file: string) {
  const parts = withoutCode(read(file)).split(/\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.)\s)|(?<!\\)\|/);
  return parts.map((part) => ({ at: file, text: part.replace(/^\s*(?:[-*#]+|\d+\.)\s/, '') }));
}

function docstringsOf(file: string) {
  return [...read(file).matchAll(/^ *\/\*\*(.*?)\*\//gms)].map(([, text = '']) => ({
    at: file,
    text: text
      .replaceAll(/^ *\* ?/gm, '')
      .replaceAll(/^\|.*$/gm, '')
      .replace(/@example.*/s, '')
      .trim(),
  }));
}

function commentsOf(file: string) {
  const runs = [...read(file).matchAll(/(?:^ *\/\/ .*\n?)+/gm)];
  return runs.map(([run]) => ({ at: file, text: run.replaceAll(/^ *\/\/ /gm, '') }));
}

const inSentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const inWords = new Intl.Segmenter('en', { granularity: 'word' });

/** Sentences of a passage; a piece of code and the target of a link count as one word. */
function sentencesOf({ text }: Passage) {
  const plain = text
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/\]\([^)]*\)|[*[\]]/g, '')
    .replaceAll(/\b(e\.g|i\.e|etc|vs)\./g, '$1')
    .replaceAll(/\s+/g, ' ');
  return [...inSentences.segment(plain)].map(({ segment }) => segment.trim());
}

function wordsIn(sentence: string) {
  return [...inWords.segment(sentence)].filter(({ isWordLike }) => isWordLike).length;
}

test('documents and comments are at most 100 columns wide', () => {
  const wide = [
    ...documents.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => !line.startsWith('|') && !/^\S*\[[^\]]*\]\(\S+\)\S*$/.test(line))
        .map((line) => [file, line]),
    ),
    ...sources.flatMap((file) =>
      (read(file).match(/^ *(\/\/|\/?\*(?! \|)).*/gm) ?? []).map((line) => [file, line] as const),
    ),
  ].filter(([, line]) => line.length > 100 && !/https?:\S{60}|^\{"kind":/.test(line));
  expect(wide).toEqual([]);
});

/** Rules of style: each returns the faults of a passage. */
const rules = {
  'begins with its subject': ({ text }: Passage) =>
    /^\W*(What|How|Whether|Who|Whom|Whose|Where|That)\b/.test(text) ? [text] : [],
  'has sentences of at most 30 words': (passage: Passage) =>
    sentencesOf(passage).filter((sentence) => wordsIn(sentence) > 30),
  'has words of the field': ({ text }: Passage) =>
    privateWords
      .filter(([word]) => word.test(text))
      .map(([word, better]) => `${word.exec(text)?.[0]} (${better}): ${text.slice(0, 80)}`),
};

describe.each(Object.entries(rules))('a passage %s', (name, faultsOf) => {
  const faultsIn = (passages: readonly Passage[]) =>
    passages.flatMap((passage) => faultsOf(passage).map((fault) => `${passage.at}: ${fault}`));

  test('in documents', () => {
    expect(faultsIn(documents.flatMap(paragraphsOf))).toEqual([]);
    // In code it is a warning, so that nobody who changes code fails for a sentence.
    const isOfDocstrings = name === 'begins with its subject';
    const comments = isOfDocstrings ? [] : sources.flatMap(commentsOf);
    const faults = faultsIn([...sources.flatMap(docstringsOf), ...comments]);
    if (faults.length > 0) console.warn(`Style of comments: ${name}\n${faults.join('\n')}`);
  });
});

test.each<[keyof typeof rules, string]>([
  ['begins with its subject', 'What is read.'],
  ['has sentences of at most 30 words', `${'word '.repeat(31)}.`],
  ['has words of the field', 'It is needed no more.'],
])('a passage that breaks a rule is found: it %s', (name, text) => {
  expect(rules[name]({ at: '', text })).toHaveLength(1);
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
  const texts = descriptionsIn(JSON.parse(read('shared/features/docs/openapi.json')));
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
