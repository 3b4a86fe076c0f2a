import * as v from 'valibot';

// Schemas and checks of values that requests and stored items share.

/**
 * Text of `min` to `max` code points, stored verbatim. Refuses lone surrogates, which UTF-8 cannot
 * store, and U+0000, which ends a text in many programs.
 */
export function Text(min: number, max: number) {
  const isWithin = (length: number) => min <= length && length <= max;
  return v.pipe(
    v.string('must be a string'),
    // For the API's description. JSON Schema counts code points, and no valibot check does.
    v.metadata({ minLength: min, maxLength: max }),
    v.check((text) => text.isWellFormed(), 'must be well-formed Unicode, without lone surrogates'),
    v.check((text) => !text.includes('\0'), 'must not contain U+0000'),
    v.check(
      // A code point takes one or two UTF-16 units, so more than 2 × max units are too long.
      (text) => text.length <= 2 * max && isWithin([...text].length),
      `must have ${min} to ${max} characters`,
    ),
  );
}

/** A text in the form of a pattern. */
export function Matching(pattern: RegExp, message?: string) {
  return v.pipe(v.string(), v.regex(pattern, message));
}

/** Returns true for more than spaces, controls, fillers, combining marks and blank Braille. */
export function isVisible(text: string): boolean {
  return /[^\p{Z}\p{Cc}\p{Cf}\p{M}\p{DI}\p{NChar}\u2800]/v.test(text);
}

/**
 * No control character (category Cc). Written without a property, because validators of JSON Schema
 * in other languages do not know them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it refuses them.
const noControls = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** A name of at most `max` code points, without invisible or direction-changing characters. */
export function Name(max: number) {
  return v.pipe(
    Text(1, max),
    v.regex(noControls, 'must not contain control characters'),
    v.check(isVisible, 'must have some visible character'),
    v.check(
      (name) => !hidden.test(name.replaceAll(joined, '').replaceAll(subdivisionFlag, '')),
      'must not contain invisible characters or controls of the direction of text',
    ),
  );
}

/** Invisible characters, except variation selectors, which change the character before them. */
const hidden = /[[\p{Cf}\p{Zl}\p{Zp}\p{DI}\p{NChar}\u2800]--\p{VS}]/v;

/** Joiners that scripts and emoji need: between characters, and after a mark at a word's end. */
const joined =
  /(?<=\p{M})[\u200c\u200d]|(?<=[\p{L}\p{N}\p{P}\p{S}])[\u200c\u200d](?=[\p{L}\p{M}\p{N}\p{P}\p{S}])/gu;

/** The flag of a part of a country: a black flag and tag characters (Unicode TS 51). */
const subdivisionFlag = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f}/gu;

/** Returns true for a text with an address of a page, which would advertise on every list. */
export function hasLink(text: string): boolean {
  return /:\/\/|\bwww\.|\b[\w-]+\.[a-z]{2,}\/\S/i.test(text);
}

/**
 * Top-level domains of three or more letters that strangers advertise on. Each of two letters,
 * which are countries, counts as well. Others are too much like names: `ann.smith` is no host.
 */
const generic =
  'com|net|org|info|biz|xyz|top|app|dev|site|online|shop|store|club|live|link|click|page|pages|blog|cloud|tech|space|website|world|today|news|help|support|email|chat|team|social|media|video|games|casino|bet|win|loan|money|bank|pay|cash|vip|fun|icu|buzz|pro|name|mobi|edu|gov|int|mil|onion|local';

/**
 * The name of a host, an address of mail at any domain, or an IPv4 address, also where other dots
 * are used.
 */
const host = new RegExp(
  [
    `[\\p{L}\\p{N}]\\.(\\p{L}{2}|${generic}|xn--[a-z0-9-]+)(?![\\p{L}\\p{N}\\p{M}_-])`,
    '\\S@[\\p{L}\\p{N}.-]+\\.[\\p{L}\\p{N}]{2}',
    '\\d(\\.\\d{1,3}){3}',
  ].join('|'),
  'iu',
);

/** Returns true for a text with a link, or with the name of a host, which mail programs link. */
export function namesHost(text: string): boolean {
  const plain = text.normalize('NFKC').replaceAll('\u3002', '.');
  return hasLink(plain) || host.test(plain);
}

/** One of these texts; the message names them all. */
export function oneOf<const T extends readonly string[]>(options: T) {
  return v.picklist(options, `must be one of ${options.join(', ')}`);
}

/** A field of a form, which sends an empty text where nothing is filled in. */
export function Filled<T extends v.GenericSchema<string>>(schema: T) {
  return v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text || undefined),
      v.optional(schema),
    ),
  );
}

/** One of these texts, or an older name of one. Descriptions and messages leave older names out. */
export function oneOfNamed<T extends string>(
  options: readonly T[],
  older: Readonly<Record<string, T>>,
  beside = '',
) {
  return v.pipe(
    v.picklist(
      [...options, ...Object.keys(older)],
      `must be one of ${options.join(', ')}${beside}`,
    ),
    // For the API's description, which has one name for each.
    v.metadata({ enum: options }),
    v.transform((name) => older[name] ?? (name as T)),
  );
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

/** A UUID in any case, converted to lower case. */
export const Uuid = v.pipe(
  v.string('must be a UUID'),
  v.uuid('must be a UUID'),
  v.transform((uuid) => uuid.toLowerCase()),
);

/** A UUID as it is stored: in lower case. */
export const StoredId = v.pipe(
  v.string('must be a UUID'),
  v.uuid('must be a UUID'),
  v.regex(/^[^A-Z]*$/, 'must be a UUID in lower case'),
);

/** A time as it is stored: ISO 8601 in UTC, with milliseconds. */
export const StoredTime = v.pipe(
  v.string('must be a time'),
  v.regex(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    'must be a time in ISO 8601, as 2026-01-31T12:00:00.000Z',
  ),
  v.check((time) => !Number.isNaN(Date.parse(time)), 'must be a time that exists'),
);

const formOfTime = 'must be a time in ISO 8601 with its zone, such as 2019-05-01T00:00:00Z';

/**
 * A time of ISO 8601 that names its zone, converted to a stored one. Seconds and their fractions
 * may be missing. A day that the calendar lacks, such as 30 February, is refused.
 */
export const AnyTime = v.pipe(
  v.string(formOfTime),
  v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/, formOfTime),
  v.check(isReal, 'must be a time that exists'),
  v.transform((time) => new Date(time).toISOString()),
);

function isReal(time: string): boolean {
  const day = time.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  return isDay && !Number.isNaN(Date.parse(time));
}

/**
 * Returns a UUID in lower case with hyphens, or undefined. Accepts any case, hyphens anywhere or
 * nowhere, `urn:uuid:` and braces (spec, endpoint 13).
 */
export function canonicalUuid(text: string): string | undefined {
  const hex = text
    .toLowerCase()
    .replace(/^urn:uuid:/, '')
    .replace(/^\{(.*)\}$/, '$1')
    .replaceAll('-', '');
  if (!/^[\da-f]{32}$/.test(hex)) return undefined;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Returns true if a URL is on this machine (RFC 8252 section 7.3). */
export function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/**
 * Parses an http or https URL in ASCII of at most 2,000 characters. Returns null for spaces,
 * controls, backslashes, more slashes and user names, which URL.parse accepts.
 */
export function parseWebUrl(text: string): URL | null {
  const plain = /^https?:\/\/[a-z0-9._\-[\]:]+([/?#][\x21-\x5b\x5d-\x7e]*)?$/i;
  return text.length <= 2000 && plain.test(text) ? URL.parse(text) : null;
}
