// Names without case and accents, for the search by name.

/** Letters that have no accent in Unicode, but look so to people. */
const plain: Readonly<Record<string, string>> = {
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŋ: 'n',
  œ: 'oe',
  ø: 'o',
  þ: 'th',
};

/** Marks of Hebrew, and accents of all scripts. Vowel signs of other scripts stay. */
const accents = /[\p{M}&&[\p{Script=Inherited}\p{Script=Hebrew}]]/gv;

/** A character of a script that puts no spaces between words. */
const unspaced =
  /[[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]&&\p{L}]/v;

/**
 * Returns the words of a text as a search compares them, each separated by a space: in lower case,
 * without accents and punctuation. A text of symbols alone stays as it is.
 */
export function folded(text: string): string {
  // Upper case first, because `ß` and `ς` have no other folding.
  const letters = text.normalize('NFKD').toUpperCase().toLowerCase().normalize('NFKD');
  const words = letters
    .replaceAll(accents, '')
    .replaceAll(/['’ʼ`´]/g, '')
    .replaceAll(/[æđðħıłŋœøþ]/g, (letter) => plain[letter] ?? letter)
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
  return words === '' ? letters.replaceAll(/\s+/g, ' ').trim() : words;
}

/**
 * Returns the places in a folded text where a word begins. Without spaces between words, any
 * character begins one.
 */
export function wordStarts(words: string): number[] {
  const starts: number[] = [];
  let previous = ' ';
  let start = 0;
  for (const character of words) {
    if (previous === ' ' || unspaced.test(character)) starts.push(start);
    previous = character;
    start += character.length;
  }
  return starts;
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
