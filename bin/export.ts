import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { currentCursor } from '../shared/features/changes/public.ts';
import {
  allRecords,
  headerOf,
  jsonLines,
  publicEntities,
  publicHeaders,
  publicReviews,
  publicUsers,
  Spool,
  scanInto,
} from '../shared/features/transfer/public.ts';
import { showProgress } from './progress.ts';

/** Exports with private data are readable by their owner only. */
const mode = 0o600;

/**
 * Writes the whole table to the file `out`; `-` is stdout. An interrupted export leaves
 * `<out>.part`, and the next call continues there, if `source` names the same table.
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
    return { out, time: header.time, counts: header.counts };
  });
}

/** Writes the public data to the new folder `out`, with the position where a mirror continues. */
export async function exportPublic(out: string, source: string) {
  return withSpool(out, source, async (spool) => {
    const folder = `${out}.new`;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const { users, entities, reviews } = publicHeaders(spool);
    const ofUsers = openFile(folder, 'users', users);
    for (const line of jsonLines(publicUsers(spool))) await ofUsers.write(line);
    const ofEntities = openFile(folder, 'entities', entities);
    for (const line of jsonLines(publicEntities(spool))) await ofEntities.write(line);
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
    for (const { name, counts, close } of [ofUsers, ofEntities, ...byLicense.values()]) {
      files[name] = { counts, sha256: await close() };
    }
    const sums = Object.entries(files).map(([name, { sha256 }]) => `${sha256}  ${name}\n`);
    writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
    writeFileSync(join(folder, 'POSITION'), `${spool.noted('changes')}\n`);
    renameSync(folder, out);
    return { out, files };
  });
}

/** Opens a compressed file of a public dump and writes its first line. */
function openFile(folder: string, title: string, header: { counts?: object }) {
  const name = `${title}.jsonl.gz`;
  const sum = createHash('sha256');
  const input = createGzip().on('data', (chunk) => sum.update(chunk));
  const done = pipeline(input, createWriteStream(join(folder, name)));
  // `write` or `close` throws the error.
  done.catch(() => {});
  input.write(`${JSON.stringify(header)}\n`);
  const write = async (text: string) => {
    if (!input.write(text)) await Promise.race([once(input, 'drain'), done]);
  };
  const close = async () => {
    input.end();
    await done;
    return sum.digest('hex');
  };
  return { name, counts: header.counts ?? {}, write, close };
}

/** Reads the table into a spool file, or continues an earlier one, then calls `work`. */
async function withSpool<T>(out: string, source: string, work: (spool: Spool) => Promise<T>) {
  if (out !== '-' && existsSync(out)) {
    throw new Error(`${out} already exists: move it away, or choose another name`);
  }
  const folder = out === '-' ? mkdtempSync(join(tmpdir(), 'export-')) : undefined;
  const part = folder === undefined ? `${out}.part` : join(folder, 'part');
  appendFileSync(part, '', { mode });
  const spool = new Spool(part);
  try {
    const of = spool.noted('source');
    if (of !== undefined && of !== source) {
      throw new Error(
        `${part} is an unfinished export of ${of}: delete it, or choose another name`,
      );
    }
    if (spool.position() !== undefined) {
      console.error(
        `Continuing the export that began at ${spool.noted('begun')}. To start over, delete ${part}`,
      );
    } else {
      spool.note('source', source);
      spool.note('begun', new Date().toISOString());
      // Read before the table, so that a mirror that follows the changes from here misses none.
      spool.note('changes', await currentCursor());
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
