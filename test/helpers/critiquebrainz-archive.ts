/** Archives as CritiqueBrainz publishes them. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pack } from 'tar-stream';

export type Row = (string | number | boolean | null)[];

/**
 * Writes rows in PostgreSQL’s text format: https://www.postgresql.org/docs/current/sql-copy.html
 */
export function copyText(rows: readonly Row[]): string {
  const letters = {
    '\\': '\\\\',
    '\b': '\\b',
    '\f': '\\f',
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\v': '\\v',
  };
  const cell = (value: Row[number]) => {
    if (value === null) return '\\N';
    if (typeof value === 'boolean') return value ? 't' : 'f';
    return `${value}`.replaceAll(/[\\\b\f\n\r\t\v]/g, (letter) => letters[letter as '\n']);
  };
  return rows.map((row) => `${row.map(cell).join('\t')}\n`).join('');
}

/**
 * Makes an archive of these tables, of `parts` bzip2 streams. Compressors that use several
 * processors write several streams.
 */
export async function archive(
  path: string,
  tables: Record<string, Row[] | string>,
  parts = 1,
  schema = '15',
): Promise<string> {
  const tar = pack();
  tar.entry({ name: 'TIMESTAMP' }, '2026-07-31 18:07:59.123456');
  tar.entry({ name: 'SCHEMA_SEQUENCE' }, schema);
  tar.entry({ name: 'COPYING' }, 'Free.');
  for (const [table, rows] of Object.entries(tables)) {
    tar.entry({ name: `cbdump/${table}` }, typeof rows === 'string' ? rows : copyText(rows));
  }
  tar.finalize();
  const bytes = await buffer(tar);
  const size = Math.ceil(bytes.length / parts);
  const compressed = Array.from({ length: parts }, (_, i) =>
    bzip2(bytes.subarray(i * size, (i + 1) * size)),
  );
  writeFileSync(path, Buffer.concat(compressed));
  return path;
}

/** Compresses as the archives are. */
export function bzip2(input: Uint8Array): Buffer {
  const { stdout, status, error } = spawnSync('bzip2', { input, maxBuffer: 1e9 });
  if (error)
    throw new Error('archives are made with the program bzip2: install it', { cause: error });
  expect(status).toBe(0);
  return stdout;
}
