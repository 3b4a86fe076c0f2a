import type { IncomingMessage } from 'node:http';
import { codingFor } from '../../shared/http/content-coding.ts';
import { isTagKnown } from '../../shared/http/response.ts';
import { type Changes, noteReads } from './changes.ts';
import type { Reply } from './gateway-response.ts';

// Public answers that are still true. An answer is kept until something changes that its function
// has read of the table, and at most for ten seconds. So it is the answer that the function would
// give again.

/** Use of the kept answers, for the metrics. */
export interface KeptUse {
  /** Requests that were answered without a run of their own. */
  hits: number;
  /** Requests that ran the function. */
  misses: number;
  /** Memory of the kept answers, as estimated by `sizeOf`. */
  bytes: number;
}

export interface KeptAnswers {
  use: Readonly<KeptUse>;
  /** Returns the kept answer under `key`, that of a run in progress, or a new one. */
  find(key: string, run: () => Promise<Reply>): Promise<Reply>;
}

/** In milliseconds: an answer may say “today” or “an hour ago”. */
const longestKept = 10_000;

/** In bytes: an answer without its key, body and parts, with a dozen headers. */
const bare = 2_048;

/** In bytes: the name of a part of the table, and its place in a set. */
const bytesOfPart = 120;

interface Entry {
  /** The parts of the table that the run has read, also while it is in progress. */
  parts: Set<string>;
  /** Number of a change at which the answer was true. */
  trueAt: number;
  /** Time by `performance.now()` at which the run began. */
  began: number;
  reply: Promise<Reply>;
  /** 0 while the run is in progress. */
  bytes: number;
}

/** Keeps answers of up to `mostBytes` in all. Nothing is kept while the changes are unknown. */
export function keepAnswers({
  changes,
  mostBytes,
}: {
  changes: Changes;
  mostBytes: number;
}): KeptAnswers {
  const use: KeptUse = { hits: 0, misses: 0, bytes: 0 };
  /** The least recently used first. */
  const entries = new Map<string, Entry>();

  function forget(key: string, entry: Entry) {
    if (entries.get(key) !== entry) return;
    entries.delete(key);
    use.bytes -= entry.bytes;
  }

  function keep(key: string, entry: Entry, reply: Reply) {
    const bytes = sizeOf(key, reply, entry.parts);
    if (!isShared(reply) || bytes > mostBytes) {
      forget(key, entry);
      return;
    }
    // Something that the run had read changed meanwhile.
    if (entries.get(key) !== entry) return;
    entry.bytes = bytes;
    entry.reply = Promise.resolve({ ...reply, body: alone(reply.body) });
    use.bytes += bytes;
    for (const [oldKey, old] of entries) {
      if (use.bytes <= mostBytes) break;
      if (old.bytes > 0) forget(oldKey, old);
    }
  }

  async function make(key: string, newest: number, run: () => Promise<Reply>) {
    use.misses += 1;
    const parts = new Set<string>();
    const began = performance.now();
    const entry: Entry = { parts, trueAt: newest, began, reply: noteReads(parts, run), bytes: 0 };
    entries.set(key, entry);
    try {
      const reply = await entry.reply;
      keep(key, entry, reply);
      return reply;
    } catch (error) {
      forget(key, entry);
      throw error;
    }
  }

  /** Returns the entry under `key`, unless it is too old or no longer true. */
  function trueEntry(key: string, newest: number): Entry | undefined {
    const entry = entries.get(key);
    if (!entry) return undefined;
    const isOld = performance.now() - entry.began > longestKept;
    if (isOld || changes.haveChanged(entry.parts, entry.trueAt)) {
      forget(key, entry);
      return undefined;
    }
    entry.trueAt = newest;
    return entry;
  }

  async function find(key: string, run: () => Promise<Reply>) {
    // Read before the run: what is committed during a run may or may not be in its answer.
    const newest = changes.newest();
    if (newest === undefined) return run();
    const entry = trueEntry(key, newest);
    if (entry === undefined) return make(key, newest, run);
    entries.delete(key);
    entries.set(key, entry);
    const reply = await entry.reply;
    if (isShared(reply) || reply.statusCode >= 500) {
      use.hits += 1;
      return reply;
    }
    use.misses += 1;
    return run();
  }

  return { use, find };
}

/**
 * Returns the key of a request without credentials: the method, the `protocol` at the client, and
 * all that its answer depends on. Other headers are not passed to the function. Returns undefined
 * if a request may have an answer of its own, or has a body.
 */
export function keyOf(request: IncomingMessage, protocol: string, url: string): string | undefined {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const { authorization, cookie, expect } = headers;
  if ((authorization ?? cookie ?? expect) !== undefined || hasBody(request)) return undefined;
  return `${method} ${protocol} ${codingFor(headers['accept-encoding']) ?? ''} ${url}`;
}

/** Returns true if a request has a body, however short (RFC 9112 section 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Returns the reply, or 304 if the client names its ETag in `ifNoneMatch`. */
export function unlessKnown(reply: Reply, ifNoneMatch: string | undefined): Reply {
  const { ETag, 'Content-Type': _, 'Content-Encoding': __, ...rest } = reply.headers;
  if (reply.statusCode !== 200 || !isTagKnown(`${ETag}`, ifNoneMatch)) return reply;
  return { statusCode: 304, headers: { ...rest, ETag }, body: Buffer.alloc(0) };
}

/** Returns true if the function says that everybody may get this answer, and by what it varies. */
function isShared({ statusCode, headers }: Reply): boolean {
  const { 'Cache-Control': control, Vary = '', ETag, 'Set-Cookie': cookies } = headers;
  const isKnown = `${Vary}`.split(', ').every((name) => /^(|Accept-Encoding|Cookie)$/i.test(name));
  const isPublic = /^public\b/.test(`${control}`);
  return statusCode === 200 && isPublic && isKnown && ETag !== undefined && cookies === undefined;
}

const sizeOf = (key: string, { body }: Reply, parts: ReadonlySet<string>) =>
  bare + key.length + body.length + bytesOfPart * parts.size;

/** Copies bytes, which would otherwise keep all of the larger buffer that they are a part of. */
function alone(body: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(body.length);
  body.copy(copy);
  return copy;
}
