import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { DynamoDBRecord } from 'aws-lambda';

// The table of stream records is internal to the engine, whose version is pinned.

/** Adds an index: at every write the engine asks for the highest number of all stream records. */
export function indexRecords(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(
    'CREATE INDEX IF NOT EXISTS by_number ON _stream_records (table_name, CAST(sequence_number AS INTEGER))',
  );
  database.close();
}

/** In bytes: checked in a fifth of a second. Damage in a larger file shows when it is read. */
const largestChecked = 256 * 1024 * 1024;

const moveAway =
  'move it away to start with an empty database, or choose another folder with --data-dir';

/**
 * Throws a sentence if `file` is damaged or another program's. The engine would accept both. `name`
 * and `remedy` are for the sentence.
 */
export function refuseForeign(file: string, { name = file, remedy = moveAway } = {}): void {
  if (!existsSync(file)) return;
  let tables: unknown[];
  try {
    const database = new DatabaseSync(file);
    tables = database
      .prepare('SELECT name FROM sqlite_schema')
      .all()
      .map(({ name }) => name);
    const { size } = statSync(file);
    const check = size < largestChecked && database.prepare('PRAGMA quick_check(1)').get();
    database.close();
    if (check && check.quick_check !== 'ok') throw new Error(`${check.quick_check}`);
  } catch (cause) {
    const message = (cause as Error).message.split('\n').at(-1);
    throw new Error(`the database ${name} cannot be read (${message}): ${remedy}`, { cause });
  }
  if (tables.length > 0 && !tables.includes('_stream_records')) {
    throw new Error(`${name} is the database of another program: ${remedy}`);
  }
}

/** A stream record, parsed when it is read. */
export interface NumberedRecord {
  number: number;
  /** Size of both images, in UTF-16 code units, as the text takes memory here. */
  size: number;
  /** In the form of Lambda. */
  record: DynamoDBRecord;
}

/** The most of one read, as of GetRecords on AWS. */
export const mostRecords = 1000;
const mostBytes = 1024 * 1024;

/** Returns the first records, at most 1,000 and 1 MB, but at least one if there is any. */
export function firstOf(records: Iterable<NumberedRecord>): NumberedRecord[] {
  const first: NumberedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    bytes += record.size;
    if (first.length > 0 && bytes > mostBytes) break;
    first.push(record);
    if (first.length === mostRecords) break;
  }
  return first;
}

/**
 * Opens the engine's stream records, which it keeps for ever, to read and to delete them. They are
 * read from the file, not by GetRecords. That has no limit in bytes, and no other request is
 * answered while the engine parses the records: a tenth of a second for each of 400 KB.
 */
export function engineRecords(file: string, tableName: string) {
  const database = new DatabaseSync(file, { timeout: 100 });
  // A lost deletion does no harm, so it need not wait for the disk.
  database.exec('PRAGMA synchronous = NORMAL');
  const next = database.prepare(
    'SELECT event_name, keys_json, new_image, old_image, created_at, CAST(sequence_number AS INTEGER) AS number FROM _stream_records WHERE table_name = ? AND CAST(sequence_number AS INTEGER) > ? ORDER BY CAST(sequence_number AS INTEGER)',
  );
  const newest = database.prepare(
    'SELECT MAX(CAST(sequence_number AS INTEGER)) AS number FROM _stream_records WHERE table_name = ?',
  );
  const remove = database.prepare(
    'DELETE FROM _stream_records WHERE table_name = ? AND CAST(sequence_number AS INTEGER) < ?',
  );
  const commits = database.prepare('PRAGMA data_version');
  const version = (): unknown => commits.get()?.data_version;

  function* eachAfter(number: number): Generator<NumberedRecord> {
    for (const row of next.iterate(tableName, number)) yield toNumbered(row as unknown as Row);
  }
  const readAfter = (number: number) => firstOf(eachAfter(number));

  return {
    /** Changes with every commit of another process. Costs next to nothing. */
    version,
    readAfter,
    /** Reads records at one moment: with the number of the newest, and the version. */
    readTogether(number: number) {
      database.exec('BEGIN');
      try {
        const found = readAfter(number);
        return { found, newest: Number(newest.get(tableName)?.number), version: version() };
      } finally {
        database.exec('COMMIT');
      }
    },
    /** The record itself stays, because the engine takes its next number from the last one. */
    removeBefore(number: number): void {
      try {
        remove.run(tableName, number);
      } catch {
        // Locked. The next call deletes these records as well.
      }
    },
    close: () => database.close(),
  };
}

/** A row of the engine's table. Keys and images are the JSON of DynamoDB. */
interface Row {
  event_name: 'INSERT' | 'MODIFY' | 'REMOVE';
  keys_json: string;
  new_image: string | null;
  old_image: string | null;
  /** In seconds. */
  created_at: number;
  number: number;
}

function toNumbered(row: Row): NumberedRecord {
  const { event_name: eventName, keys_json, new_image, old_image, created_at, number } = row;
  const newImage = parsedLater(new_image);
  const oldImage = parsedLater(old_image);
  return {
    number,
    size: (new_image?.length ?? 0) + (old_image?.length ?? 0),
    record: {
      eventID: `${number}`,
      eventName,
      eventSource: 'aws:dynamodb',
      dynamodb: {
        ApproximateCreationDateTime: created_at,
        Keys: JSON.parse(keys_json),
        SequenceNumber: `${number}`,
        get NewImage() {
          return newImage();
        },
        get OldImage() {
          return oldImage();
        },
      },
    },
  };
}

/** Parses an image when it is first asked for: no consumer asks for most of them. */
function parsedLater(image: string | null): () => Image | undefined {
  let parsed: Image | undefined;
  return () => {
    if (image !== null) parsed ??= JSON.parse(image);
    return parsed;
  };
}

type Image = NonNullable<NonNullable<DynamoDBRecord['dynamodb']>['NewImage']>;
