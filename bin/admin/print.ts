import { inspect } from 'node:util';

/** Most characters of a text in a table. A field outside a table is shown whole, as tokens are. */
const widest = 40;

type Write = (text: string) => void;

const lengthOf = (text = '') => [...text].length;
const indented = (value: unknown, by: number) =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(by)}`);
const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
const gathered = (field: unknown) => (isStream(field) ? Array.fromAsync(field) : field);

/** Prints JSON. A list may be an async iterable. An error before its first item prints nothing. */
export async function printJson(value: object, write: Write): Promise<void> {
  let before = '{';
  for (const [name, content] of Object.entries(value)) {
    if (content === undefined) continue;
    before += `\n  ${JSON.stringify(name)}: `;
    if (isStream(content)) {
      let isEmpty = true;
      for await (const item of content) {
        write(`${before}${isEmpty ? '[' : ','}\n    ${indented(item, 4)}`);
        before = '';
        isEmpty = false;
      }
      before += isEmpty ? '[]' : '\n  ]';
    } else {
      before += indented(content, 2);
    }
    before += ',';
  }
  write(`${before.slice(0, -1)}\n}\n`);
}

/** Prints one field, for a shell variable: a string as it is, any other value as JSON. */
export async function printField(value: object, name: string, write: Write): Promise<void> {
  const fields = new Map(Object.entries(value));
  if (fields.get(name) === undefined) {
    throw new Error(
      `the answer has no field ${name}; its fields are ${[...fields.keys()].join(', ')}`,
    );
  }
  const field = await gathered(fields.get(name));
  write(`${typeof field === 'string' ? field : JSON.stringify(field)}\n`);
}

/** Prints single fields line by line, then a table for each list under its name. */
export async function printTables(value: object, write: Write): Promise<void> {
  const fields: unknown[][] = [];
  const texts: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    const content = await gathered(field);
    if (!Array.isArray(content)) {
      fields.push([name, content]);
    } else if (content.length === 0) {
      texts.push(`no ${name}\n`);
    } else {
      texts.push(`${name}\n${listTable(content)}`);
    }
  }
  if (fields.length > 0) texts.unshift(aligned(fields));
  write(texts.join('\n'));
}

/** Returns a table with a row for each item. A column without any value is left out. */
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

/** Returns one line of text. Control characters of a terminal are escaped. */
function cell(value: unknown, most: number): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value);
  const shown = lengthOf(value) > most ? `${[...value].slice(0, most).join('')}…` : value;
  return inspect(shown, { breakLength: Number.POSITIVE_INFINITY }).slice(1, -1);
}
