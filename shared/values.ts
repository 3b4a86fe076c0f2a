import * as v from 'valibot';

/**
 * Well-formed Unicode text of so many code points (not UTF-16 units), kept verbatim. A lone surrogate cannot be
 * stored as UTF-8 and would come back changed, so it is refused; U+0000 ends a text in too many other programs.
 */
export function Text(min: number, max: number) {
  const isWithin = (length: number) => min <= length && length <= max;
  return v.pipe(
    v.string('must be a string'),
    // For the API's description: no check of valibot counts code points, as JSON Schema does.
    v.metadata({ minLength: min, maxLength: max }),
    v.check((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates'),
    v.check((text) => !text.includes('\0'), 'must not contain U+0000'),
    v.check(
      // A code point is one or two UTF-16 units: a text of more than twice the maximum needs no counting.
      (text) => text.length <= 2 * max && isWithin([...text].length),
      `must have ${min} to ${max} characters`,
    ),
  );
}

/** Whether a text shows anything: not spaces, controls, fillers, combining marks or a blank Braille pattern alone. */
export function isVisible(text: string): boolean {
  return /[^\p{Z}\p{Cc}\p{Cf}\p{M}\p{DI}\p{NChar}\u2800]/v.test(text);
}

/** A name for people to read, of at most so many code points: what stands in it can be seen, and turns no text around. */
export function Name(max: number) {
  return v.pipe(
    Text(1, max),
    v.regex(/^\P{Cc}*$/u, 'must not contain control characters'),
    v.check(isVisible, 'must have some visible character'),
    v.check(
      (name) => !hidden.test(name.replaceAll(joined, '').replaceAll(subdivisionFlag, '')),
      'must not contain invisible characters or controls of the direction of text',
    ),
  );
}

/** What is never seen, but for the variation selectors, which choose how the character before them looks. */
const hidden = /[[\p{Cf}\p{Zl}\p{Zp}\p{DI}\p{NChar}\u2800]--\p{VS}]/v;

/** Joiners where several scripts and emoji need them: between characters, and after a mark also at the end of a word. */
const joined =
  /(?<=\p{M})[\u200c\u200d]|(?<=[\p{L}\p{N}\p{P}\p{S}])[\u200c\u200d](?=[\p{L}\p{M}\p{N}\p{P}\p{S}])/gu;

/** The flag of a part of a country, such as Scotland: a black flag with the code in tag characters (Unicode Technical Standard 51). */
const subdivisionFlag = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f}/gu;

/** One of these texts. */
export function oneOf<const T extends readonly string[]>(options: T) {
  return v.picklist(options, `must be one of ${options.join(', ')}`);
}

/** A list of some of these texts, separated by spaces or commas. */
export function listOf<const T extends readonly string[]>(options: T) {
  const one = `(${options.join('|')})`;
  return v.pipe(
    v.string(),
    v.regex(
      new RegExp(`^[ ,]*(${one}([ ,]+${one})*[ ,]*)?$`),
      `may hold ${options.join(', ')}, separated by commas or spaces`,
    ),
    v.transform((list) => list.split(/[ ,]+/).filter((item) => item !== '')),
    v.array(v.picklist(options)),
  );
}

/** A UUID in any case; gives it in lower case. */
export const Uuid = v.pipe(
  v.string('must be a UUID'),
  v.uuid('must be a UUID'),
  v.transform((uuid) => uuid.toLowerCase()),
);

/**
 * A UUID in one of the forms that the bulk lookup takes: any case, hyphens anywhere or nowhere, `urn:uuid:`, braces. Gives the
 * canonical form, lower-case and hyphenated, or undefined.
 */
export function canonicalUuid(sent: string): string | undefined {
  const hex = sent
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '');
  if (!/^[\da-f]{32}$/.test(hex)) return undefined;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Whether a URL stays on this machine (RFC 8252 section 7.3). */
export function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
