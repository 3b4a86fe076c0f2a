import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import unbzip2 from 'unbzip2-stream';
import * as v from 'valibot';
import { type EntityType, entityTypes } from '../entity/entity-type.ts';
import { languages } from '../review/languages.ts';
import { licenses } from '../review/licenses.ts';
import { isVisible } from '../values.ts';
import { linesOf } from './lines.ts';
import { type FullReviewRecord, type UserRecord, Uuid, type VoteRecord } from './record.ts';
import type { Sourced } from './unit.ts';

/** The SCHEMA_SEQUENCE of dumps whose tables have these columns. */
const knownSchema = '15';

/** The columns of the tables that are read, in their order in the dump. */
const tables = {
  user_sanitised: ['id', 'created', 'display_name', 'musicbrainz_id'],
  review: [
    ...['id', 'entity_id', 'entity_type', 'user_id', 'edits', 'is_draft', 'is_hidden'],
    ...['license_id', 'language', 'published_on', 'source', 'source_url'],
  ],
  revision: ['id', 'review_id', 'timestamp', 'text', 'rating'],
  vote: ['user_id', 'revision_id', 'vote', 'rated_at'],
} as const;
type Table = keyof typeof tables;
type Row<T extends Table> = Record<(typeof tables)[T][number], string | null>;

/** What makes a row the same as one of another archive. */
const keys: Record<Table, string> = {
  user_sanitised: 'id',
  review: 'id',
  revision: 'id',
  vote: 'user_id, revision_id',
};

/** Says that something was not kept, or not as it was, and why. */
type Note = (reason: string) => void;

/** What the libraries say of an archive that was cut: they have read past its end. */
const isCut = /^Cannot read properties of undefined|ended prematurely|end of data|was destroyed/;

/**
 * Reads the rows of the archives of a dump into tables of the database, each archive opened in its
 * turn. Gives a warning for each that is of another schema. Throws a sentence where one is damaged,
 * a table is in none of them, or no row of a table has the columns that are known.
 */
export async function loadDump(
  database: DatabaseSync,
  archives: readonly { name: string; open: () => Readable }[],
  note: Note,
): Promise<string[]> {
  for (const [table, columns] of Object.entries(tables)) {
    database.exec(
      `CREATE TABLE ${table} (${columns.join()}, PRIMARY KEY (${keys[table as Table]}))`,
    );
  }
  const found = new Set<string>();
  const strange = new Set<string>();
  const warnings: string[] = [];
  for (const { name, open } of archives) {
    let files = 0;
    try {
      for await (const { file, content } of filesOf(open())) {
        files++;
        const table = /(?:^|\/)cbdump\/(\w+)$/.exec(file)?.[1] ?? '';
        if (Object.hasOwn(tables, table)) {
          found.add(table);
          const isKnown = await loadTable(database, table as Table, content, note);
          if (!isKnown) strange.add(table);
        } else if (/(?:^|\/)SCHEMA_SEQUENCE$/.test(file)) {
          const schema = (await readAll(content)).trim();
          if (schema !== knownSchema) {
            warnings.push(
              `${name} has SCHEMA_SEQUENCE ${schema}, and ${knownSchema} is known here`,
            );
          }
        } else for await (const _ of content);
      }
    } catch (cause) {
      const { message } = cause as Error;
      const why = isCut.test(message) ? 'it ends too early' : message;
      throw new Error(`${name} cannot be read as a tar archive with bzip2: ${why}`, { cause });
    }
    if (files === 0) throw new Error(`${name} is empty`);
  }
  if (strange.size > 0) {
    const names = [...strange].map((table) => `cbdump/${table}`).join(' and ');
    const reasons = [`no row of ${names} has the columns that are known here`, ...warnings];
    throw new Error(reasons.join('; '));
  }
  const missing = Object.keys(tables).filter((table) => !found.has(table));
  if (missing.length > 0) {
    throw new Error(
      `no archive has cbdump/${missing.join(' or cbdump/')}: name both cbdump.tar.bz2 and one with reviews`,
    );
  }
  database.exec('CREATE INDEX by_review ON revision (review_id)');
  database.exec('CREATE INDEX by_revision ON vote (revision_id)');
  return warnings;
}

/** The files of a tar archive with bzip2, of any number of streams. */
async function* filesOf(
  bytes: Readable,
): AsyncGenerator<{ file: string; content: AsyncIterable<Uint8Array> }> {
  const archive = extract();
  const plain = unbzip2();
  bytes.on('error', (error) => archive.destroy(error));
  plain.on('error', (error: unknown) => {
    archive.destroy(error instanceof Error ? error : new Error(`${error}`));
  });
  bytes.pipe(plain).pipe(archive);
  for await (const entry of archive) {
    yield { file: entry.header.name, content: entry as AsyncIterable<Uint8Array> };
  }
}

/** Loads the rows of a table. Gives false where there are some, and none has the columns that are known. */
async function loadTable(
  database: DatabaseSync,
  table: Table,
  content: AsyncIterable<Uint8Array>,
  note: Note,
): Promise<boolean> {
  const columns = tables[table];
  const insert = database.prepare(
    `INSERT OR IGNORE INTO ${table} VALUES (${columns.map(() => '?').join()})`,
  );
  let [good, bad] = [0, 0];
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

/** The values of a row of PostgreSQL's COPY in text format; null for `\N`. */
export function parseCopy(line: string): (string | null)[] {
  return line.split('\t').map((value) => (value === '\\N' ? null : unescaped(value)));
}

const escapes: Record<string, string> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function unescaped(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replaceAll(
    /(?:\\(?:[0-7]{1,3}|x[\da-f]{1,2}))+|\\(.)/gis,
    (bytes: string, letter: string | undefined) => {
      if (letter !== undefined) return escapes[letter] ?? letter;
      const numbers = bytes
        .slice(1)
        .split('\\')
        .map((byte) => {
          return /^x/i.test(byte) ? Number.parseInt(byte.slice(1), 16) : Number.parseInt(byte, 8);
        });
      return Buffer.from(numbers).toString();
    },
  );
}

/**
 * What a loaded dump holds, as records: users, and reviews each followed by the votes on it. What cannot be kept goes to `note`, and what is
 * kept in another form to `noteChange`.
 */
export async function* dumpRecords(
  database: DatabaseSync,
  note: Note,
  noteChange: Note,
): AsyncGenerator<Sourced> {
  for (const row of database.prepare('SELECT * FROM user_sanitised ORDER BY id').iterate()) {
    const record = userOf(row as Row<'user_sanitised'>, noteChange);
    if (typeof record === 'string') note(record);
    else yield { where: `user ${record.id}`, record };
  }
  database.exec('CREATE TEMP TABLE claim (user_id, entity_id, PRIMARY KEY (user_id, entity_id))');
  const claim = database.prepare('INSERT OR IGNORE INTO claim VALUES (?, ?)');
  const hasUser = database.prepare('SELECT 1 FROM user_sanitised WHERE id = ?');
  const revisionsOf = database.prepare(
    'SELECT * FROM revision WHERE review_id = ? ORDER BY timestamp, CAST(id AS INTEGER)',
  );
  const votesOf = database.prepare(
    `SELECT vote.* FROM vote JOIN revision ON revision.id = revision_id
     WHERE review_id = ? ORDER BY rated_at, CAST(revision_id AS INTEGER)`,
  );
  const reviews = database.prepare('SELECT * FROM review ORDER BY published_on, id').iterate();
  for (const row of reviews as Iterable<Row<'review'>>) {
    const revisions = revisionsOf.all(`${row.id}`) as Row<'revision'>[];
    const numbers = new Map<string, number>();
    const record = reviewOf(row, revisions, numbers, note, noteChange);
    const fault =
      typeof record === 'string'
        ? record
        : !hasUser.get(record.user_id)
          ? 'review: of a user who is not in the dump'
          : claim.run(record.user_id, record.entity_id).changes === 0
            ? 'review: a second one of the same user and entity'
            : undefined;
    if (typeof record === 'string' || fault !== undefined) {
      note(`${fault}`);
      for (const _ of votesOf.iterate(`${row.id}`)) note('vote: on a review that is not kept');
      continue;
    }
    yield { where: `review ${record.id}`, record };
    for (const vote of votesOn(record, votesOf, hasUser, numbers, note)) {
      yield { where: `vote of ${vote.user_id} on ${record.id}`, record: vote };
    }
  }
  for (const [query, reason] of [
    ['vote WHERE revision_id NOT IN (SELECT id FROM revision)', 'vote: on an unknown revision'],
    ['revision WHERE review_id NOT IN (SELECT id FROM review)', 'revision: of an unknown review'],
  ] as const) {
    const count = Number(database.prepare(`SELECT count(*) AS n FROM ${query}`).get()?.n);
    for (let i = 0; i < count; i++) note(reason);
  }
}

function userOf(row: Row<'user_sanitised'>, noteChange: Note): UserRecord | string {
  const created = timeOf(row.created);
  if (!isUuid(row.id) || created === undefined) return 'user: without a UUID or time';
  const contact = { email: null, musicdb_username: row.musicbrainz_id };
  let display_name = row.display_name ?? '';
  if (!isVisible(display_name)) {
    noteChange('a name that cannot be seen to Reader and the beginning of the id');
    display_name = `Reader ${row.id.slice(0, 4)}`;
  }
  return { kind: 'user', id: row.id, display_name, created, contact };
}

/** A review; `numbers` gets which of its revisions has become which. */
function reviewOf(
  row: Row<'review'>,
  rows: readonly Row<'revision'>[],
  numbers: Map<string, number>,
  note: Note,
  noteChange: Note,
): FullReviewRecord | string {
  const { id, entity_id, user_id, license_id } = row;
  if (!isUuid(id) || !isUuid(entity_id) || !isUuid(user_id)) return 'review: without UUIDs';
  const entity_type = row.entity_type?.replace(/^bb_/, 'bk_') as EntityType;
  if (!entityTypes.includes(entity_type)) return `review: of the unknown type ${row.entity_type}`;
  if (license_id === null || !licenses.some((known) => known.id === license_id)) {
    return `review: under the unknown licence ${license_id}`;
  }
  const language = languageOf(row.language ?? '');
  if (!language) return `review: in the unknown language ${row.language}`;
  if (language !== row.language) noteChange(`language ${row.language} to ${language}`);

  const revisions: FullReviewRecord['revisions'] = [];
  for (const { id: serial, timestamp, ...content } of rows) {
    const time = timeOf(timestamp);
    const text = content.text || null;
    const rating = starsOf(content.rating, note, noteChange);
    if (time === undefined || (text === null && rating === null)) {
      note('revision: without time, or without text and rating');
      continue;
    }
    revisions.push({ id: revisions.length + 1, text, rating, timestamp: time });
    numbers.set(`${serial}`, revisions.length);
  }
  const [first] = revisions;
  if (!first) return 'review: without a revision';
  const isDraft = row.is_draft === 't';
  const time = timeOf(row.published_on);
  if (time === undefined && !isDraft) {
    noteChange('published_on that is no time to the time of the first revision');
  }
  const published = time ?? first.timestamp;
  return {
    kind: 'review',
    id,
    entity_id,
    entity_type,
    user_id,
    language,
    license: license_id,
    created: first.timestamp < published ? first.timestamp : published,
    published_on: isDraft ? null : published,
    is_hidden: row.is_hidden === 't',
    source: row.source || null,
    source_url: row.source_url || null,
    revisions,
  };
}

/** The newest vote of each person on a review. */
function votesOn(
  { id: review_id, user_id: authorId }: FullReviewRecord,
  votesOf: StatementSync,
  hasUser: StatementSync,
  numbers: ReadonlyMap<string, number>,
  note: Note,
): Iterable<VoteRecord> {
  const newest = new Map<string, VoteRecord>();
  for (const row of votesOf.iterate(review_id) as Iterable<Row<'vote'>>) {
    const record = voteOf(row);
    if (typeof record === 'string') {
      note(record);
      continue;
    }
    if (newest.has(record.user_id)) note('vote: an older one of the same person on the review');
    newest.set(record.user_id, record);
  }
  return newest.values();

  function voteOf({ user_id, revision_id, vote, rated_at }: Row<'vote'>): VoteRecord | string {
    if (user_id === null || !hasUser.get(user_id) || !isUuid(user_id)) {
      return 'vote: of a user who is not in the dump';
    }
    if (user_id === authorId) return 'vote: on the own review';
    const revision = numbers.get(`${revision_id}`);
    if (revision === undefined) return 'vote: on a revision that is not kept';
    const voted_at = timeOf(rated_at);
    if (voted_at === undefined || (vote !== 't' && vote !== 'f')) {
      return 'vote: without a time, or neither up nor down';
    }
    return { kind: 'vote', review_id, user_id, vote: vote === 't', voted_at, revision };
  }
}

/** 20 a star; what lies between goes to the nearest, and there is at least one. */
function starsOf(rating: string | null, note: Note, noteChange: Note): number | null {
  if (rating === null) return null;
  const number = Number(rating);
  if (!(number >= 0 && number <= 100) || rating.trim() === '') {
    note('rating: not 0 to 100');
    return null;
  }
  const stars = Math.max(1, Math.round(number / 20));
  if (stars * 20 !== number) noteChange(`rating ${rating} to ${stars}`);
  return stars;
}

/** ISO 639-1 of that, or of three letters where there is one. */
function languageOf(code: string): FullReviewRecord['language'] | undefined {
  const known = (name: string | undefined) => languages.find((language) => language === name);
  if (!/^[a-z]{2,3}$/i.test(code)) return undefined;
  return known(code.toLowerCase()) ?? known(Intl.getCanonicalLocales(code)[0]);
}

/** ISO 8601 of a time stamp without a zone, which means UTC; smaller parts than milliseconds are dropped. */
function timeOf(timestamp: string | null): string | undefined {
  const parts = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?$/.exec(timestamp ?? '');
  if (!parts) return undefined;
  const [, day, time, fraction = ''] = parts;
  const iso = `${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
  const parsed = new Date(iso);
  // The 30th of February is another day in JavaScript.
  return !Number.isNaN(+parsed) && parsed.toISOString() === iso ? iso : undefined;
}

function isUuid(text: string | null): text is string {
  return v.is(Uuid, text);
}
