import type { IncomingMessage } from 'node:http';
import { codingFor } from '../../../shared/core/http/content-coding.ts';
import { isTagKnown } from '../../../shared/core/http/response.ts';
import type { Reply } from './gateway-response.ts';

// Public answers, which are sent again until anything is written.

/** In milliseconds: an answer may say “today” or “an hour ago”. */
const longestKept = 10_000;

/** In bytes: the memory of all answers, and that of one without its body. */
const usualMemory = 64 * 1024 * 1024;
const bytesOfHead = 2_048;

interface Entry {
  /** The version of the table before the run. */
  version: unknown;
  /** Time by `performance.now()` at which the run began. */
  began: number;
  reply: Promise<Reply>;
  /** 0 while the run is in progress. */
  bytes: number;
}

export interface KeptAnswers {
  /** Returns the kept answer under `key`, that of a run in progress, or a new one. */
  find(key: string, run: () => Promise<Reply>): Promise<Reply>;
}

/** Keeps answers while `version` stays the same, which changes with each commit to the table. */
export function keepAnswers(version: () => unknown, mostBytes = usualMemory): KeptAnswers {
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0;
    entries.delete(key);
  }

  function keep(entry: Entry, reply: Reply, size: number): void {
    entry.bytes = size;
    bytes += size;
    // A copy, because the body may be a part of a larger buffer.
    entry.reply = Promise.resolve({ ...reply, body: Buffer.concat([reply.body]) });
    for (const [oldest] of entries) {
      if (bytes <= mostBytes) break;
      forget(oldest);
    }
  }

  async function make(key: string, entry: Entry): Promise<Reply> {
    entries.set(key, entry);
    try {
      const reply = await entry.reply;
      // Another run began meanwhile, after a write.
      if (entries.get(key) !== entry) return reply;
      const size = bytesOfHead + key.length + reply.body.length;
      if (isShared(reply) && size <= mostBytes) keep(entry, reply, size);
      else forget(key);
      return reply;
    } catch (error) {
      if (entries.get(key) === entry) forget(key);
      throw error;
    }
  }

  return {
    async find(key, run) {
      const current = version();
      const began = performance.now();
      const entry = entries.get(key);
      if (!entry || entry.version !== current || began - entry.began > longestKept) {
        if (entry) forget(key);
        return make(key, { version: current, began, reply: run(), bytes: 0 });
      }
      entries.delete(key);
      entries.set(key, entry);
      const reply = await entry.reply;
      return isShared(reply) || reply.statusCode >= 500 ? reply : run();
    },
  };
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
