// Reads a table as CSV: what it says, line by line. It finds nothing and writes nothing.
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';
import * as v from 'valibot';
import { SentWritten } from '../../core/review/written.ts';
import { longestNaming } from '../names/public.ts';
import { nameOf, type Row } from './brought-file.ts';
import { plainText } from './plain-text.ts';
import { columnsOf, type SiteName, siteOf } from './sites.ts';

/** Most rows of a file. */
export const mostRows = 5_000;

/** A table that no site of ours has exported. */
export class UnknownTable extends Error {
  readonly header: readonly string[];

  constructor(header: readonly string[]) {
    super('unknown table');
    this.header = header;
  }
}

/** A table with more than `mostRows`. */
export class TooManyRows extends Error {
  constructor() {
    super('too many rows');
  }
}

/** A row as it is read, before anything is looked up. */
type ReadRow = Omit<Row, 'state'> & { state?: 'bad' | 'have' };

interface Table {
  site: SiteName;
  rows: ReadRow[];
  /** Rows without stars and text: a shelf of what is to be read. */
  empty: number;
}

/** Spaces and line breaks in a field of one line. */
const oneLine = (text: string) => text.replaceAll(/\s+/gu, ' ').trim();

/** Characters that are read at once. Others are served in between. */
const chunkLength = 32 * 1024;

/** A record, and the line where it begins, from 1. */
interface TableRecord {
  line: number;
  cells: string[];
}

/** Yields the records of a table, the header first. Throws `CsvError` at a quote without an end. */
async function* recordsOf(text: string): AsyncGenerator<TableRecord> {
  // The parser counts CRLF in a quotation as two lines.
  const lines = text.replaceAll('\r\n', '\n');
  const source = Readable.from(chunksOf(lines));
  const parser = parse({
    bom: true,
    info: true,
    // Goodreads has written ="0439023483" for a number.
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  source.on('error', (error) => parser.destroy(error));
  for await (const { info, record } of source.pipe(parser)) {
    const cells = record as string[];
    yield { line: info.lines - cells.join('').split('\n').length + 1, cells };
  }
}

async function* chunksOf(text: string) {
  for (let start = 0; start < text.length; start += chunkLength) {
    yield text.slice(start, start + chunkLength);
    await setImmediate();
  }
}

/**
 * Reads the table of a site. A row that cannot be read is `bad`, with the reason; all others stay.
 * Of several rows about one thing one counts. Throws `UnknownTable`, and `TooManyRows`.
 */
export async function readTable(text: string): Promise<Table> {
  const rows: ReadRow[] = [];
  let header: { names: string[]; site: SiteName } | undefined;
  let empty = 0;
  let end = 1;
  try {
    for await (const { line, cells } of recordsOf(text)) {
      end = line + cells.join('').split('\n').length - 1;
      if (!header) {
        header = readHeader(cells);
        continue;
      }
      if (rows.length + empty === mostRows) throw new TooManyRows();
      const { names, site } = header;
      const row = readRow(site, new Map(names.map((name, i) => [name, cells[i] ?? ''])), line);
      if (cells.length !== names.length) {
        rows.push(bad(line, row?.title, `It has ${cells.length} columns, not ${names.length}`));
      } else if (row) rows.push(row);
      else empty++;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    rows.push(bad(end + 1, '', 'It has a quotation that never ends. Nothing after it was read'));
  }
  if (!header) throw new UnknownTable([]);
  return { site: header.site, rows: leaveRepeated(rows), empty };
}

function readHeader(cells: readonly string[]): { names: string[]; site: SiteName } {
  const names = cells.map(oneLine);
  const site = siteOf(names);
  if (!site) throw new UnknownTable(names);
  return { names, site };
}

function bad(line: number, title: string | undefined, why: string): ReadRow {
  return { line, title: [...(title ?? '')].slice(0, longestNaming).join(''), state: 'bad', why };
}

/** Returns undefined for a row without stars and text. */
function readRow(
  site: SiteName,
  cells: ReadonlyMap<string, string>,
  line: number,
): ReadRow | undefined {
  const columns = columnsOf(site);
  const first = (names: readonly string[] = []) =>
    names.map((name) => oneLine(cells.get(name) ?? '')).find((cell) => cell !== '');
  // Goodreads ends a title with its series: (The Hunger Games, #1).
  const title = (first([columns.title]) ?? '').replace(/ \([^()]*#[^()]*\)$/, '');
  const by = columns.by && first([columns.by])?.split(',')[0];
  const sent = first([columns.rating]);
  const rating = sent === undefined || Number(sent) === 0 ? undefined : Number(sent);
  const whole = plainText(cells.get(columns.text) ?? '');
  if (rating === undefined && whole === '') return undefined;
  if (title === '') return bad(line, title, 'It has no title');
  if ([...title].length > longestNaming) {
    return bad(line, title, `It has a title of more than ${longestNaming} characters`);
  }
  if (rating !== undefined && !(rating > 0 && rating <= 5 && Number.isInteger(rating * 4))) {
    return bad(line, title, `It has the rating “${sent}”, which is not a number of stars up to 5`);
  }
  const { text, fault } = readText(whole);
  if (fault && rating === undefined)
    return bad(line, title, `It has no stars, and its text ${fault}`);
  const why = fault && `Only the stars: the text ${fault}`;
  const [, year] = /^(\d{4})$/.exec(first(columns.year) ?? '') ?? [];
  const [, ...day] = /^(\d{4})[-/](\d\d)[-/](\d\d)$/.exec(first(columns.date) ?? '') ?? [];
  const date = day.length > 0 ? day.join('-') : undefined;
  return { line, title, by, year, rating, text, date, why };
}

/** Returns the text if people may write it here, or why not. */
function readText(text: string): { text?: string; fault?: string } {
  if (text === '') return {};
  const read = v.safeParse(SentWritten.entries.text, text);
  if (read.success) return { text };
  return { fault: `${read.issues[0].message}, not ${[...text].length}` };
}

/** Leaves out all rows about one thing but the last one that has a text, or else the last one. */
function leaveRepeated(rows: readonly ReadRow[]): ReadRow[] {
  const isGood = (row: ReadRow) => row.state === undefined;
  const about = Map.groupBy(rows.filter(isGood), nameOf);
  return rows.map((row) => {
    const all = isGood(row) ? (about.get(nameOf(row)) ?? []) : [];
    const counts = all.findLast(({ text }) => text !== undefined) ?? all.at(-1) ?? row;
    if (counts === row) return row;
    return { ...row, state: 'have', why: `Line ${counts.line} of the file is about the same` };
  });
}
