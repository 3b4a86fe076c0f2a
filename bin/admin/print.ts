import { inspect } from 'node:util';

/**
 * Characters of a text that a list has room for: a UUID fits. What stands alone may be a token, and
 * is shown whole.
 */
const widest = 40;

/** Takes text to stdout. */
type Write = (text: string) => void;

/**
 * Prints one JSON document, as JSON.stringify would. A list in it may be an async iterable, and is printed as it comes: the longest needs no
 * memory, and what fails before its first item leaves nothing behind.
 */
export async function printJson(value: object, write: Write): Promise<void> {
  let before = '{';
  for (const [name, content] of Object.entries(value)) {
    before += `\n  ${JSON.stringify(name)}: `;
    if (isStream(content)) {
      let isEmpty = true;
      for await (const item of content) {
        write(`${before}${isEmpty ? '[' : ','}\n    ${indented(item, 4)}`);
        [before, isEmpty] = ['', false];
      }
      before += isEmpty ? '[]' : '\n  ]';
    } else {
      before += indented(content, 2);
    }
    before += ',';
  }
  write(`${before.slice(0, -1)}\n}\n`);
}

/** Prints one field, for a shell that puts it into a variable: a text as it is, anything else as JSON. */
export async function printField(value: object, name: string, write: Write): Promise<void> {
  const { [name]: field } = await gathered(value);
  if (field === undefined) {
    throw new Error(`the answer has no ${name}, but ${Object.keys(value).join(', ')}`);
  }
  write(`${typeof field === 'string' ? field : JSON.stringify(field)}\n`);
}

/** Prints what is no list line by line, and a table of each list under its name. */
export async function printTables(value: object, write: Write): Promise<void> {
  const fields: unknown[][] = [];
  const texts: string[] = [];
  for (const [name, content] of Object.entries(await gathered(value))) {
    if (!Array.isArray(content)) fields.push([name, content]);
    else if (content.length === 0) texts.push(`no ${name}\n`);
    else texts.push(`${name}\n${listTable(content)}`);
  }
  if (fields.length > 0) texts.unshift(aligned(fields));
  write(texts.join('\n'));
}

function indented(value: unknown, by: number): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(by)}`);
}

async function gathered(value: object): Promise<Record<string, unknown>> {
  const all: Record<string, unknown> = {};
  for (const [name, list] of Object.entries(value)) {
    if (!isStream(list)) {
      all[name] = list;
      continue;
    }
    const items: unknown[] = [];
    for await (const item of list) items.push(item);
    all[name] = items;
  }
  return all;
}

/** A row each, under the names of the columns; a column that has nothing in any row is left out. */
function listTable(rows: readonly Record<string, unknown>[]): string {
  const isShown = (name: string) =>
    rows.some((row) => ![undefined, null, '', false].includes(row[name] as null));
  const columns = [...new Set(rows.flatMap(Object.keys))].filter(isShown);
  return aligned([columns, ...rows.map((row) => columns.map((name) => row[name]))], widest);
}

function aligned(rows: readonly unknown[][], most = Number.POSITIVE_INFINITY): string {
  const cells = rows.map((row) => row.map((value) => cell(value, most)));
  const widths = cells[0]?.map((_, i) => Math.max(...cells.map((row) => lengthOf(row[i])))) ?? [];
  const lines = cells.map((row) =>
    row.map((text, i) => text + ' '.repeat((widths[i] ?? 0) - lengthOf(text))).join('  '),
  );
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function lengthOf(text = ''): number {
  return [...text].length;
}

/** One line of text; what would move the cursor of a terminal is escaped. */
function cell(value: unknown, most: number): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  const characters = [...value];
  const shown = characters.length > most ? `${characters.slice(0, most).join('')}…` : value;
  return inspect(shown, { breakLength: Number.POSITIVE_INFINITY }).slice(1, -1);
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
