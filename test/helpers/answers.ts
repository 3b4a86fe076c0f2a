/** An answer as a guide shows it, with its language. */
export interface Shown {
  language: string;
  text: string;
}

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/.source;

/** Lists differences in shape between an answer in a guide and the output of a command. */
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
 * Lists lines that are missing from an output. Ids and numbers may differ, and `…` matches
 * anything. In HTTP the status is exact, and header names match in any case.
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

/** Stands for more than the guide shows. */
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
