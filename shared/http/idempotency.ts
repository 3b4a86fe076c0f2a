import { hash } from 'node:crypto';
import * as v from 'valibot';
import { ApiError, idempotencyMismatch, serviceUnavailable } from '../errors.ts';
import { idempotencyKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import type { Write } from '../table/transact.ts';
import { epochSeconds } from '../time.ts';
import { Answer } from './response.ts';

/** Characters that a key has at most. */
export const maxLength = 255;

/** Seconds for which an answer is kept. */
export const keptSeconds = 86_400;

/**
 * The header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) as the key in it: a string in quotes (RFC 9651 section 3.3.3), or
 * the same without quotes, as many clients send it.
 */
export const IdempotencyKey = v.optional(
  v.pipe(
    v.string(),
    v.transform(readKey),
    v.custom<string>(
      (key) => typeof key === 'string' && key.length >= 1 && key.length <= maxLength,
      `must be 1 to ${maxLength} visible ASCII characters, best in double quotes`,
    ),
  ),
);

/** Who sends a request that may come again, under which key, and all of it that the answer depends on. */
interface Repeatable {
  user_id: string;
  key: string | undefined;
  request: readonly unknown[];
}

/**
 * Outcome of a request: headers of its answer, and whether it had been done before, so that nothing
 * was written.
 */
interface Done {
  headers?: Record<string, string>;
  isRepeated?: boolean;
}

/**
 * Acts, and gives the answer: once for a user and key, kept for a day. `act` gets a write for its
 * transaction that records the answer, so that there is none without the deed, and no second deed;
 * without a key, or where there is nothing to do, nothing is recorded. Throws what `act` throws,
 * and ApiError 422 for a key that came with another request.
 */
export async function answerOnce(
  { user_id, key, request }: Repeatable,
  answer: object,
  act: (record: readonly Write[]) => Promise<Done>,
): Promise<Answer> {
  if (key === undefined) return new Answer(answer, await act([]));
  const Key = idempotencyKey(hash('sha256', `${user_id} ${key}`));
  const fingerprint = hash('sha256', JSON.stringify(request), 'base64url');
  const now = epochSeconds();
  const isTaken = serviceUnavailable();

  /** The recorded answer, if there is one. */
  async function replay(headers: Done['headers'] = {}): Promise<Answer | undefined> {
    const record = await getItem(Key);
    if (!record || Number(record.expires_at) <= now) return undefined;
    if (record.fingerprint !== fingerprint) throw idempotencyMismatch();
    return new Answer(JSON.parse(String(record.answer)), {
      headers: { ...headers, 'Idempotent-Replayed': 'true' },
    });
  }

  let done: Done;
  try {
    done = await act([
      {
        Put: {
          // As text, which keeps the order of its fields.
          Item: {
            ...Key,
            fingerprint,
            answer: JSON.stringify(answer),
            expires_at: now + keptSeconds,
          },
          ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
          ExpressionAttributeValues: { ':now': now },
        },
        otherwise: isTaken,
      },
    ]);
  } catch (error) {
    // Whatever is in the way may come from the very same request, when it came for the first time.
    const isRefusal = error instanceof ApiError && error.status < 500;
    const replayed = isRefusal || error === isTaken ? await replay() : undefined;
    if (!replayed) throw error;
    return replayed;
  }
  const replayed = done.isRepeated ? await replay(done.headers) : undefined;
  return replayed ?? new Answer(answer, done);
}

function readKey(header: string): string | undefined {
  const sent = header.trim();
  const quoted = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/.exec(sent)?.[1];
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1');
  // What parts list items and parameters of structured fields is none of it.
  return /^[!#-+\--:<-[\]-~]*$/.test(sent) ? sent : undefined;
}
