// Reads the archives of a CritiqueBrainz dump (tar, bzip2, PostgreSQL's COPY) into SQLite tables.
import type { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import unbzip2 from 'unbzip2-stream';
import { linesOf } from './record.ts';

/** SCHEMA_SEQUENCE of dumps whose tables have these columns. */
const knownSchema = '15';

/** Columns of the tables that are read, in the order of the dump. */
const tables = {
  user_sanitised: ['id', 'created', 'display_name', 'musicbrainz_id'],
  review: [
    'id',
    'entity_id',
    'entity_type',
    'user_id',
    'edits',
    'is_draft',
    'is_hidden',
    'license_id',
    'language',
    'published_on',
    'source',
    'source_url',
  ],
  revision: ['id', 'review_id', 'timestamp', 'text', 'rating'],
  vote: ['user_id', 'revision_id', 'vote', 'rated_at'],
} as const;
type Table = keyof typeof tables;
/** A row of a table; null for `\N`. */
export type Row<T extends Table> = Record<(typeof tables)[T][number], string | null>;

/** Notes why something was left out or changed. */
export type Note = (reason: string) => void;

/** Error messages of the libraries for a truncated archive: they read past its end. */
const isCut = /^Cannot read properties of undefined|ended prematurely|end of data|was destroyed/;

/**
 * Loads the archives of a dump into tables of the database, one archive after the other. Returns a
 * warning for each archive of another schema. Throws an Error with a sentence if an archive is
 * damaged, a table is missing from all of them, or no row of a table has the expected columns.
 */
export async function loadDump(
  database: DatabaseSync,
  archives: readonly { name: string; open: () => Readable }[],
  note: Note,
): Promise<string[]> {
  for (const [table, columns] of Object.entries(tables)) {
    // Rows of two archives with the same key are duplicates.
    const key = table === 'vote' ? 'user_id, revision_id' : 'id';
    database.exec(`CREATE TABLE ${table} (${columns.join()}, PRIMARY KEY (${key}))`);
  }
  const present = new Set<string>();
  const unreadable = new Set<string>();
  const warnings: string[] = [];
  for (const { name, open } of archives) {
    let files = 0;
    try {
      for await (const entry of unpacked(open())) {
        files++;
        const file = entry.header.name;
        const content = entry as AsyncIterable<Uint8Array>;
        const table = /(?:^|\/)cbdump\/(\w+)$/.exec(file)?.[1] ?? '';
        if (Object.hasOwn(tables, table)) {
          present.add(table);
          if (!(await loadTable(database, table as Table, content, note))) unreadable.add(table);
        } else if (/(?:^|\/)SCHEMA_SEQUENCE$/.test(file)) {
          const schema = (await readAll(content)).trim();
          if (schema !== knownSchema) {
            warnings.push(
              `${name} has SCHEMA_SEQUENCE ${schema}, but only ${knownSchema} is known`,
            );
          }
        } else {
          // The archive continues only after its entry has been read.
          for await (const _ of content);
        }
      }
    } catch (cause) {
      const { message } = cause as Error;
      const why = isCut.test(message) ? 'it ends too early' : message;
      throw new Error(`${name} cannot be read as a tar archive with bzip2: ${why}`, { cause });
    }
    if (files === 0) throw new Error(`${name} is empty`);
  }
  if (unreadable.size > 0) {
    const names = [...unreadable].map((table) => `cbdump/${table}`).join(' and ');
    throw new Error([`no row of ${names} has the expected columns`, ...warnings].join('; '));
  }
  const missing = Object.keys(tables).filter((table) => !present.has(table));
  if (missing.length > 0) {
    throw new Error(
      `no archive has cbdump/${missing.join(' or cbdump/')}: name both cbdump.tar.bz2 and one with reviews`,
    );
  }
  database.exec('CREATE INDEX by_review ON revision (review_id)');
  database.exec('CREATE INDEX by_revision ON vote (revision_id)');
  return warnings;
}

/** Reads a tar archive compressed with bzip2, of any number of bzip2 streams. */
function unpacked(bytes: Readable) {
  const archive = extract();
  const plain = unbzip2();
  bytes.on('error', (error) => archive.destroy(error));
  plain.on('error', (error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error(`${error}`));
  });
  return bytes.pipe(plain).pipe(archive);
}

/** Returns false if the table has rows, but none with the expected columns. */
async function loadTable(
  database: DatabaseSync,
  table: Table,
  content: AsyncIterable<Uint8Array>,
  note: Note,
): Promise<boolean> {
  const columns = tables[table];
  const values = columns.map(() => '?').join();
  const insert = database.prepare(`INSERT OR IGNORE INTO ${table} VALUES (${values})`);
  let good = 0;
  let bad = 0;
  database.exec('BEGIN');
  for await (const { text } of linesOf(content)) {
    if (text === '\\.' || text === '') continue;
    const row = text === undefined ? [] : parseCopy(text);
    if (row.length === columns.length) {
      insert.run(...row);
      good++;
    } else {
      note(`${table}: a row that is not UTF-8, or has other columns`);
      bad++;
    }
  }
  database.exec('COMMIT');
  return good > 0 || bad === 0;
}

/** Parses a row of PostgreSQL's COPY in text format; null for `\N`. */
export function parseCopy(line: string): (string | null)[] {
  return line.split('\t').map((value) => (value === '\\N' ? null : unescaped(value)));
}

const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function unescaped(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replaceAll(
    /(?:\\(?:[0-7]{1,3}|x[\da-f]{1,2}))+|\\(.)/gis,
    (bytes: string, letter: string | undefined) => {
      if (letter !== undefined) return escapes[letter] ?? letter;
      const numbers = bytes
        .slice(1)
        .split('\\')
        .map((byte) => (/^x/i.test(byte) ? Number(`0${byte}`) : Number.parseInt(byte, 8)));
      return Buffer.from(numbers).toString();
    },
  );
}
