import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { currentPosition } from '../shared/changes/feed.ts';
import {
  allRecords,
  headerOf,
  jsonLines,
  publicHeaders,
  publicReviews,
  publicUsers,
  scanInto,
} from '../shared/transfer/export.ts';
import { Spool } from '../shared/transfer/spool.ts';
import { showProgress } from './progress.ts';

/** Only whoever exports reads what is not public. */
const mode = 0o600;

/**
 * Writes all that is in the table to the file `out`, compressed where its name ends so, or to stdout for `-`. Of an export that was
 * interrupted `<out>.part` is left, and it goes on there; `source` names the table, so that it is the same one.
 */
export async function exportAll(out: string, source: string) {
  return withSpool(out, source, async (spool) => {
    const header = headerOf(allRecords(spool));
    const lines = Readable.from(jsonLines(all(header, allRecords(spool))));
    if (out === '-') {
      await pipeline(lines, process.stdout, { end: false });
    } else {
      const file = createWriteStream(`${out}.new`, { mode });
      await (out.endsWith('.gz') ? pipeline(lines, createGzip(), file) : pipeline(lines, file));
      renameSync(`${out}.new`, out);
    }
    const { time, counts } = header;
    return { out, time, counts };
  });
}

/**
 * Writes what is public to the new folder `out`: a file of users, one of reviews for each licence, their checksums, and from where on who
 * mirrors them follows the changes.
 */
export async function exportPublic(out: string, source: string) {
  return withSpool(out, source, async (spool) => {
    const folder = `${out}.new`;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const { users, reviews } = publicHeaders(spool);
    const ofUsers = openFile(folder, 'users', users);
    for (const line of jsonLines(publicUsers(spool))) await ofUsers.write(line);
    const byLicense = new Map(
      [...reviews].map(([license, header]) => {
        const name = `reviews-${license.toLowerCase().replaceAll(' ', '-')}`;
        return [license, openFile(folder, name, header)] as const;
      }),
    );
    for (const review of publicReviews(spool)) {
      await byLicense.get(review.license)?.write(`${JSON.stringify(review)}\n`);
    }
    const files: Record<string, { counts: object; sha256: string }> = {};
    for (const { name, counts, close } of [ofUsers, ...byLicense.values()]) {
      files[name] = { counts, sha256: await close() };
    }
    const sums = Object.entries(files).map(([name, { sha256 }]) => `${sha256}  ${name}\n`);
    writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
    writeFileSync(join(folder, 'POSITION'), `${spool.noted('changes')}\n`);
    renameSync(folder, out);
    return { out, files };
  });
}

/** A compressed file of a public dump, with its first line. */
function openFile(folder: string, title: string, header: { counts?: object }) {
  const name = `${title}.jsonl.gz`;
  const sum = createHash('sha256');
  const input = createGzip().on('data', (chunk) => sum.update(chunk));
  const done = pipeline(input, createWriteStream(join(folder, name)));
  // Told at the end, or when it is written to.
  done.catch(() => {});
  const write = async (text: string) => {
    if (!input.write(text)) await Promise.race([once(input, 'drain'), done]);
  };
  input.write(`${JSON.stringify(header)}\n`);
  return {
    name,
    counts: header.counts ?? {},
    write,
    async close(): Promise<string> {
      input.end();
      await done;
      return sum.digest('hex');
    },
  };
}

/** Reads the table, or goes on with that, and lets `work` write what it holds. */
async function withSpool<T>(
  out: string,
  source: string,
  work: (spool: Spool) => Promise<T>,
): Promise<T> {
  if (out !== '-' && existsSync(out)) {
    throw new Error(`${out} is there already: move it away, or choose another name`);
  }
  const folder = out === '-' ? mkdtempSync(join(tmpdir(), 'export-')) : undefined;
  const part = folder === undefined ? `${out}.part` : join(folder, 'part');
  const isBegun = existsSync(part);
  closeSync(openSync(part, 'a', mode));
  const spool = new Spool(part);
  try {
    const of = spool.noted('source');
    if (of !== undefined && of !== source) {
      throw new Error(`${part} is the begun export of ${of}: delete it, or choose another name`);
    }
    if (isBegun && spool.position() !== undefined) {
      console.error(
        `Going on with the export that was begun at ${spool.noted('begun')}; to begin anew, delete ${part}`,
      );
    } else {
      spool.note('source', source);
      spool.note('begun', new Date().toISOString());
      // Before anything is read, so that who follows the changes from there misses none.
      spool.note('changes', await currentPosition());
    }
    await scanInto(spool, showProgress('Reading'));
    const result = await work(spool);
    spool.close();
    rmSync(part);
    return result;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
}

function* all(header: object, records: Iterable<object>): Generator<object> {
  yield header;
  yield* records;
}
