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
 * Returns a folded text from each of its first words on, followed by the words before. Without
 * spaces between words, any character begins one.
 */
export function fromEachWord(words: string, most: number): string[] {
  const texts = new Set<string>();
  let previous = ' ';
  let start = 0;
  for (const character of words) {
    if (previous === ' ' || unspaced.test(character)) {
      texts.add([words.slice(start), words.slice(0, start).trim()].join(' ').trim());
      if (texts.size === most) break;
    }
    previous = character;
    start += character.length;
  }
  return [...texts];
}

/** Returns true if some word begins so, or if it stands somewhere in a script without spaces. */
export function hasWord(words: string, beginning: string): boolean {
  return unspaced.test(beginning)
    ? words.includes(beginning)
    : ` ${words}`.includes(` ${beginning}`);
}
