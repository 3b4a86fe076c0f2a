import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';

/** Characters of a text that a list has room for; what stands alone may be a token, and is shown whole. */
const widest = 60;

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

/** Prints a table of what is no list, and one of each list under its name. */
export async function printTables(value: object, write: Write): Promise<void> {
  const fields: Record<string, object> = {};
  const texts: string[] = [];
  for (const [name, content] of Object.entries(await gathered(value))) {
    if (!Array.isArray(content)) fields[name] = { value: content };
    else if (content.length === 0) texts.push(`no ${name}\n`);
    else texts.push(`${name}\n${tableOf(Object.fromEntries(content.entries()), widest)}`);
  }
  if (Object.keys(fields).length > 0) texts.unshift(tableOf(fields));
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

/** A table of rows by their names; a column that has nothing in any row is left out. */
function tableOf(rows: Record<string, object>, most = Number.POSITIVE_INFINITY): string {
  let text = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  const shown = Object.entries(rows).map(([name, row]) => {
    const filled = Object.entries(row).filter(([, value]) => value !== null && value !== '');
    return [name, Object.fromEntries(filled.map(([field, value]) => [field, cell(value, most)]))];
  });
  new Console({ stdout, colorMode: false }).table(Object.fromEntries(shown));
  return text;
}

/** A text without the quotes that console.table puts around it; what would move the cursor of a terminal stays escaped. */
function cell(value: unknown, most: number): unknown {
  if (typeof value !== 'string') return value;
  const characters = [...value];
  const shown = characters.length > most ? `${characters.slice(0, most).join('')}…` : value;
  const text = inspect(shown, { breakLength: Number.POSITIVE_INFINITY }).slice(1, -1);
  return { [inspect.custom]: () => text };
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
