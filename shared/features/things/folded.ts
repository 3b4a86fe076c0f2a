// Names without case and accents, for the search by name.

/**
 * Letters for which people type others, though Unicode decomposes none of them: with a stroke or a
 * hook, and the forms of Arabic, Persian and Urdu keyboards.
 */
const plain: Readonly<Record<string, string>> = {
  æ: 'ae',
  ɓ: 'b',
  đ: 'd',
  ð: 'd',
  ɖ: 'd',
  ɗ: 'd',
  ə: 'e',
  ɛ: 'e',
  ƒ: 'f',
  ǥ: 'g',
  ɣ: 'g',
  ħ: 'h',
  ı: 'i',
  ȷ: 'j',
  ƙ: 'k',
  ł: 'l',
  ŋ: 'n',
  œ: 'oe',
  ø: 'o',
  ɔ: 'o',
  ŧ: 't',
  þ: 'th',
  ƴ: 'y',
  ƶ: 'z',
  ς: 'σ',
  '\u0671': '\u0627',
  '\u0643': '\u06a9',
  '\u06aa': '\u06a9',
  '\u064a': '\u06cc',
  '\u0649': '\u06cc',
  '\u0629': '\u0647',
  '\u06be': '\u0647',
  '\u06c1': '\u0647',
  '\u06d5': '\u0647',
};
const plainLetters = new RegExp(`[${Object.keys(plain).join('')}]`, 'gu');

/** Marks of Hebrew, and accents of all scripts. Vowel signs of other scripts stay. */
const accents = /[\p{M}&&[\p{Script=Inherited}\p{Script=Hebrew}]]/gv;

/** Characters that are not seen, and the stroke of longer Arabic words. A joiner parts words. */
const unseen = /[[\p{DI}--\u200c]\u0640]/gv;

/**
 * Characters that divide words. Letters that are apostrophes, such as the ʻokina, do as other
 * apostrophes. The last is our own mark.
 */
const dividers = /[[^\p{L}\p{N}\p{M}\ue000][\u02b9-\u02ff\ua78b\ua78c]]+/gv;

/** A character of a script that puts no spaces between words. */
const unspaced =
  /[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]&&\p{L}]/v;

/** Stands where a word begins in a script without spaces. Names cannot have it. */
const mark = '\ue000';

/**
 * Returns the words of a text as a search compares them, each separated by a space: in lower case,
 * without accents and punctuation, with digits of ASCII and Hiragana for Katakana. A text of
 * symbols alone stays as it is.
 */
export function folded(text: string): string {
  return fold(text.replaceAll(mark, ' '));
}

function fold(text: string): string {
  // Lower case between, because `ẞ` has another upper case, and `ß` no other folding.
  const cased = text.normalize('NFKD').toLowerCase().toUpperCase().toLowerCase();
  const letters = cased.normalize('NFKD').replaceAll(unseen, '');
  const words = letters
    .replaceAll(accents, '')
    .replaceAll(plainLetters, (letter) => plain[letter] ?? letter)
    .replaceAll(/[\u30a1-\u30f6]/g, (kana) => String.fromCharCode(kana.charCodeAt(0) - 0x60))
    .replaceAll(/\p{Nd}/gu, digit)
    .replaceAll(dividers, ' ')
    .trim();
  return words === '' ? letters.replaceAll(/\s+/g, ' ').trim() : words;
}

/** Returns a decimal digit of any script in ASCII. Its zero is at the 1st or 7th of 16 places. */
function digit(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const row = code & ~15;
  const zero = /\p{Nd}/u.test(String.fromCodePoint(row)) ? row : row + 6;
  return `${code - zero}`;
}

/** A place in a folded text where a word begins, with the letters that are worth finding it by. */
interface WordStart {
  place: number;
  length: number;
}

/**
 * Returns the places in the folded form of a text where a word begins. Without spaces between
 * words, those of a dictionary come first, and any other character begins one as well. Another
 * release of Node.js may know other words: then an audit mends the entries.
 */
export function wordStarts(text: string): WordStart[] {
  const starts: WordStart[] = [];
  let place = 0;
  for (const word of fold(marked(text)).split(' ')) {
    const pieces = word.split(mark);
    const whole = pieces.join('').length;
    for (const [i, piece] of pieces.entries()) {
      let inner = 0;
      for (const character of piece) {
        if (inner === 0) starts.push({ place, length: i === 0 ? whole : lengthOf(piece) });
        else if (unspaced.test(character)) starts.push({ place, length: 0 });
        inner += character.length;
        place += character.length;
      }
    }
    place++;
  }
  return starts;
}

/** A single letter of Hiragana is a particle, by which nobody looks. */
function lengthOf(word: string): number {
  return /^\p{sc=Hiragana}$/u.test(word) ? 0 : word.length;
}

let segmenter: Intl.Segmenter | undefined;

/** Marks the words of scripts without spaces. */
function marked(text: string): string {
  const plainText = text.replaceAll(mark, ' ');
  if (!unspaced.test(plainText)) return plainText;
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' });
  let before = '';
  return [...segmenter.segment(plainText.normalize())]
    .map(({ segment }) => {
      const [first = ''] = segment;
      const isMarked = unspaced.test(first) && unspaced.test(before);
      before = segment;
      return isMarked ? mark + segment : segment;
    })
    .join('');
}

/** Returns a folded text from a place on, followed by the words before. */
export function fromPlace(words: string, start: number): string {
  return `${words.slice(start)} ${words.slice(0, start)}`.trim();
}

/**
 * Returns a folded text from each word on that punctuation alone divides, written as one: for AC/DC
 * Live it is `acdc live`.
 */
export function fromJoinedWords(text: string): string[] {
  const parts = text.split(/\s+/).map((part) => (/[\p{L}\p{N}]/u.test(part) ? folded(part) : ''));
  return parts.flatMap((part, i) => {
    const joined = part.replaceAll(' ', '');
    const others = [...parts.slice(i + 1), ...parts.slice(0, i)];
    return joined === part ? [] : [[joined, ...others].filter((each) => each !== '').join(' ')];
  });
}

/** Returns true if some word begins so, or if it stands somewhere in a script without spaces. */
export function hasWord(words: string, beginning: string): boolean {
  return unspaced.test(beginning)
    ? words.includes(beginning)
    : ` ${words}`.includes(` ${beginning}`);
}
