import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect } from 'node:util';

/** Characters of a text that a table has room for. */
const widest = 60;

/**
 * Prints an answer: as one JSON document, or as tables. A list in it may be an async iterable: in JSON it is printed as it comes, so that
 * the longest needs no memory.
 */
export async function print(
  value: object,
  { isTable, write }: { isTable: boolean; write: (text: string) => void },
): Promise<void> {
  if (isTable) write(tables(await gathered(value)));
  else for await (const piece of json(value)) write(piece);
}

/** The pieces of what JSON.stringify would make of the gathered document. What fails before the first item leaves nothing behind. */
async function* json(value: object): AsyncGenerator<string> {
  let before = '{';
  for (const [name, content] of Object.entries(value)) {
    before += `\n  ${JSON.stringify(name)}: `;
    if (isStream(content)) {
      let isEmpty = true;
      for await (const item of content) {
        yield `${before}${isEmpty ? '[' : ','}\n    ${indented(item, 4)}`;
        [before, isEmpty] = ['', false];
      }
      before += isEmpty ? '[]' : '\n  ]';
    } else {
      before += indented(content, 2);
    }
    before += ',';
  }
  yield `${before.slice(0, -1)}\n}\n`;
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

/** A table of what is no list, and one of each list under its name. */
function tables(value: Record<string, unknown>): string {
  const fields: Record<string, object> = {};
  const texts: string[] = [];
  for (const [name, content] of Object.entries(value)) {
    if (!Array.isArray(content)) fields[name] = { value: content };
    else if (content.length === 0) texts.push(`no ${name}\n`);
    else texts.push(`${name}\n${tableOf(Object.fromEntries(content.entries()))}`);
  }
  if (Object.keys(fields).length > 0) texts.unshift(tableOf(fields));
  return texts.join('\n');
}

/** A table of rows by their names; a column that has nothing in any row is left out. */
function tableOf(rows: Record<string, object>): string {
  let text = '';
  const stdout = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  const shown = Object.entries(rows).map(([name, row]) => {
    const filled = Object.entries(row).filter(([, value]) => value !== null && value !== '');
    return [name, Object.fromEntries(filled.map(([field, value]) => [field, cell(value)]))];
  });
  new Console({ stdout, colorMode: false }).table(Object.fromEntries(shown));
  return text;
}

/** A text without the quotes that console.table puts around it; what would move the cursor of a terminal stays escaped. */
function cell(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const characters = [...value];
  const shown = characters.length > widest ? `${characters.slice(0, widest).join('')}…` : value;
  const text = inspect(shown, { breakLength: Number.POSITIVE_INFINITY }).slice(1, -1);
  return { [inspect.custom]: () => text };
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
