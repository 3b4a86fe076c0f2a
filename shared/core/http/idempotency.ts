import { hash } from 'node:crypto';
import * as v from 'valibot';
import { ApiError, contended, idempotencyMismatch } from '../../base/errors.ts';
import { getItem } from '../../base/table/query.ts';
import type { Write } from '../../base/table/transact.ts';
import { absentOr } from '../../base/table/write.ts';
import { epochSeconds } from '../../base/time.ts';
import { idempotencyKey } from '../keys.ts';
import { Answer } from './response.ts';

/** In characters. */
export const maxLength = 255;

/** Seconds for which an answer is stored. */
export const keptSeconds = 86_400;

/**
 * The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a quoted string (RFC 9651
 * section 3.3.3), or without quotes, as many clients send it.
 */
export const IdempotencyKey = v.optional(
  v.pipe(
    v.string(),
    // For the API's description: what `readKey` reads, of the right length.
    v.metadata({
      minLength: 1,
      pattern: `^([!#-+\\-.-:<-\\[\\]-~]{1,${maxLength}}|"([ !#-\\[\\]-~]|\\\\["\\\\]){1,${maxLength}}")$`,
    }),
    v.transform(readKey),
    v.custom<string>(
      (key) => typeof key === 'string' && key.length >= 1 && key.length <= maxLength,
      `must be 1 to ${maxLength} visible ASCII characters, best in double quotes`,
    ),
  ),
);

/** Outcome of a request. If it is a repetition, nothing was written. */
interface Done {
  headers?: Record<string, string>;
  isRepeated?: boolean;
}

/**
 * Runs `act` with effect at most once for a user and key, and stores the answer for a day. The
 * transaction of `act` must include `record`, which stores the answer with the change. Nothing is
 * recorded without a key or change. `request` is all that the answer depends on. Throws what `act`
 * throws, and ApiError 422 for a key of another request.
 * @example
 *   return answerOnce(
 *     { user_id, key: idempotency_key, request: ['report-review', path.review_id, reason] },
 *     processed,
 *     (record) => insertReport(review, { user_id, reason }, record),
 *   );
 */
export async function answerOnce(
  { user_id, key, request }: { user_id: string; key?: string; request: readonly unknown[] },
  answer: object,
  act: (record: readonly Write[]) => Promise<Done>,
): Promise<Answer> {
  if (key === undefined) return new Answer(answer, await act([]));
  const Key = idempotencyKey(hash('sha256', `${user_id} ${key}`));
  const fingerprint = hash('sha256', JSON.stringify(request), 'base64url');
  const now = epochSeconds();
  const isTaken = contended();

  async function replay(headers: Done['headers'] = {}): Promise<Answer | undefined> {
    const record = await getItem(Key);
    if (!record || Number(record.expires_at) <= now) return undefined;
    if (record.fingerprint !== fingerprint) throw idempotencyMismatch();
    return new Answer(JSON.parse(String(record.answer)), {
      headers: { ...headers, 'Idempotent-Replayed': 'true' },
    });
  }

  const record = {
    Item: {
      ...Key,
      fingerprint,
      // As text, to preserve the order of the fields.
      answer: JSON.stringify(answer),
      expires_at: now + keptSeconds,
    },
    where: [absentOr('expires_at', '<=', now)],
  };
  let done: Done;
  try {
    done = await act([{ Put: record, otherwise: isTaken }]);
  } catch (error) {
    // The refusal may come from the first attempt of this very request.
    const isRefusal = error instanceof ApiError && error.status < 500;
    const replayed = isRefusal || error === isTaken ? await replay() : undefined;
    if (!replayed) throw error;
    return replayed;
  }
  const replayed = done.isRepeated ? await replay(done.headers) : undefined;
  return replayed ?? new Answer(answer, done);
}

function readKey(header: string): string | undefined {
  const value = header.trim();
  const quoted = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/.exec(value)?.[1];
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1');
  // Separators of structured fields are not part of a key.
  return /^[!#-+\--:<-[\]-~]*$/.test(value) ? value : undefined;
}
