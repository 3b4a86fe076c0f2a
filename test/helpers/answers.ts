/** An answer that a guide shows: its language, and its text as it stands there. */
export interface Shown {
  language: string;
  text: string;
}

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/.source;

/** Differences in shape between an answer that a guide shows and what a command printed. */
export function differencesOf({ language, text }: Shown, output: string): string[] {
  if (language !== 'json') return linesMissing(text, output, language === 'http');
  const json = output.slice(Math.max(0, output.search(/^[[{]/m)));
  try {
    return compare(readShown(text), JSON.parse(json), '$');
  } catch (error) {
    return [`${error}: ${json || 'nothing was printed'}`];
  }
}

/**
 * Lines that are not in an output. Ids and numbers may be others, and `…` stands for anything. Of
 * HTTP, the status is exact, and names of headers may be written otherwise.
 */
function linesMissing(text: string, output: string, isHttp: boolean): string[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => {
      const [, status] = /^HTTP\/\S+ (\d+)/.exec(line) ?? [];
      const pattern = status ? `HTTP/\\S+ ${status}\\b.*` : patternOf(line);
      return !new RegExp(`^${pattern}\\r?$`, isHttp ? 'im' : 'm').test(output);
    })
    .map((line) => `${line} is not in ${output}`);
}

function patternOf(line: string): string {
  const parts = new RegExp(`${uuid}|\\d+|…|[^\\w\\s]`, 'g');
  return line.replaceAll(parts, (part) => {
    if (part === '…') return '.*';
    if (/^\d+$/.test(part)) return '\\d+';
    return part.length > 1 ? uuid : `\\${part}`;
  });
}

/** Marks where more may stand than is shown. */
const more = '…';

/** Parses JSON in which `…` stands for more fields or items. */
function readShown(text: string): unknown {
  const open: string[] = [];
  const marked = text.replaceAll(/"(?:[^"\\]|\\.)*"|[[{\]}]|…/g, (part) => {
    if ('[{'.includes(part)) open.push(part);
    else if (']}'.includes(part)) open.pop();
    else if (part === more) return open.at(-1) === '{' ? `"${more}": 0` : `"${more}"`;
    return part;
  });
  return JSON.parse(marked);
}

function compare(shown: unknown, real: unknown, at: string): string[] {
  if (Array.isArray(shown) && Array.isArray(real)) {
    const items = shown.filter((item) => item !== more);
    const isWhole = items.length === shown.length;
    if (isWhole ? items.length !== real.length : items.length > real.length) {
      return [`${at} has ${real.length} items`];
    }
    return items.flatMap((item, i) => compare(item, real[i], `${at}[${i}]`));
  }
  if (isObject(shown) && isObject(real)) {
    const { [more]: isOpen, ...fields } = shown;
    const missing = Object.keys(fields).filter((name) => !(name in real));
    const extra = Object.keys(real).filter((name) => !(name in fields) && isOpen === undefined);
    return [
      ...missing.map((name) => `${at}.${name} is not there`),
      ...extra.map((name) => `${at}.${name} is not shown`),
      ...Object.keys(fields)
        .filter((name) => name in real)
        .flatMap((name) => compare(fields[name], real[name], `${at}.${name}`)),
    ];
  }
  // The code and the words of an error are exact, and so is null.
  const isExact = /\.(error|(error_)?description)$/.test(at);
  const isSame = isExact ? shown === real : kindOf(shown) === kindOf(real);
  return isSame ? [] : [`${at} is ${JSON.stringify(real)}`];
}

const kindOf = (value: unknown) => (value === null ? 'null' : typeof value);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
