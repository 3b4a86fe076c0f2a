// Authorization requests until they are answered, and the codes that an approval gives.
import { hash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type ApiError, invalidRequest } from '../../base/errors.ts';
import { pick } from '../../base/pick.ts';
import { scopes } from '../../base/routes.ts';
import { batchGet, batchWrite } from '../../base/table/batch.ts';
import type { Key } from '../../base/table/item.ts';
import { findItem } from '../../base/table/parse.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { retryStale, transact, type Write } from '../../base/table/transact.ts';
import { absentOr, type Test } from '../../base/table/write.ts';
import { epochSeconds, isoOf } from '../../base/time.ts';
import { applicationKey, authorizationRequestKey, codeKey } from '../keys.ts';
import { checkWriter, type Writer, writeAs } from '../user/writer.ts';
import { AuthorizationRequest } from './authorization-request.ts';
import { sealToken } from './credentials.ts';

/** Seconds that a user has to sign in and answer. */
const requestLifetime = 1800;
/** Seconds in which an answer may be repeated. */
const answerMemory = 60;
/** Seconds in which a code may be redeemed. */
export const codeLifetime = 60;
/** Seconds that a code is stored, to detect a second redemption. */
const codeMemory = 86_400;

export const AuthorizationCode = v.object({
  user_id: v.string(),
  client_id: v.string(),
  /** Grant that redeeming the code creates. */
  grant_id: v.string(),
  scopes: v.array(v.picklist(scopes)),
  redirect_uri: v.string(),
  code_challenge: v.nullable(v.string()),
  is_redeemed: v.boolean(),
});
export type AuthorizationCode = v.InferOutput<typeof AuthorizationCode>;

/** The user's answer. An answered request stays stored for another minute. */
const Answer = v.object({
  decision: v.picklist(['approve', 'refuse']),
  /** SHA-256 of the user's id, so that no erased account is named. */
  user_hash: v.string(),
  /** Grant that the code leads to. */
  grant_id: v.string(),
  /** Expiry of the code, in epoch seconds. */
  code_expires_at: v.number(),
});
type Answer = v.InferOutput<typeof Answer>;

const StoredRequest = v.object({
  ...AuthorizationRequest.entries,
  answer: v.optional(Answer),
  /** Epoch seconds. */
  expires_at: v.number(),
});

/** Stores a request until its user answers. Its id is 32 random hexadecimal digits. */
export async function insertAuthorizationRequest(request: AuthorizationRequest): Promise<string> {
  const id = randomBytes(16).toString('hex');
  const expires_at = epochSeconds(requestLifetime);
  await batchWrite([{ put: { ...authorizationRequestKey(id), ...request, expires_at } }]);
  return id;
}

/** Returns a request, answered or not, while it is stored. */
export async function findAuthorizationRequest(
  id: string,
): Promise<AuthorizationRequest | undefined> {
  const item = await findStoredRequest(id);
  return item && v.parse(AuthorizationRequest, item);
}

/** Returns an unanswered request. Throws ApiError 400 if it is unknown, answered or expired. */
export async function getAuthorizationRequest(id: string): Promise<AuthorizationRequest> {
  const { answer, expires_at: _, ...request } = await getStoredRequest(id);
  if (answer) throw expired();
  return request;
}

/**
 * Answers a request; approval gives a code. The same answer repeated within a minute gives the same
 * code, because a form may be sent twice. Throws ApiError 400 after another answer or a change of
 * the application, 401 if the account was deleted, 403 if a blocked account approves.
 */
export async function answerAuthorization(
  id: string,
  decision: Answer['decision'],
  userId: string,
): Promise<{ request: AuthorizationRequest; code: string | undefined }> {
  const act = async (writer: Writer) => {
    const { answer: before, expires_at, ...request } = await getStoredRequest(id);
    const user_hash = hash('sha256', userId);
    if (before && (before.decision !== decision || before.user_hash !== user_hash)) throw expired();
    const answer = before ?? {
      decision,
      user_hash,
      grant_id: randomBytes(16).toString('hex'),
      code_expires_at: epochSeconds(codeLifetime),
    };
    const grant = { user_id: userId, client_id: request.client_id, grant_id: answer.grant_id };
    // Derived from the answer, so that the table need not hold the code.
    const content = { ...grant, generation: 0, expires_at: answer.code_expires_at };
    const code = decision === 'approve' ? await sealToken('code', content) : undefined;
    const writes: Write[] = [];
    if (!before) {
      writes.push(answered(id, answer));
      if (code !== undefined) {
        const terms = pick(request, ['scopes', 'redirect_uri', 'code_challenge']);
        writes.push(codeWrite(code, { ...grant, ...terms }), checkWriter(userId, writer));
      }
    }
    const asked = before ? undefined : expires_at - requestLifetime;
    writes.push(stillRegistered(request, asked));
    await transact(writes);
    return { request, code };
  };
  return writeAs(userId, (writer) => retryStale(() => act(writer)));
}

/** Returns undefined if the code is unknown or its account was erased. */
export async function findCode(code: string): Promise<AuthorizationCode | undefined> {
  return findItem(AuthorizationCode, codeKey(hash('sha256', code)));
}

/** Lists codes that a user approved, for one application or all. The index may lack recent ones. */
export async function listCodes(userId: string, clientId?: string): Promise<Key[]> {
  const pages = queryIndex('author-by-date', `APPROVER#${userId}`, { descending: true });
  const entries = await collect(pages, 100);
  const items = await batchGet(entries, { consistent: true });
  return [...items.values()]
    .filter(({ client_id }) => clientId === undefined || client_id === clientId)
    .map(({ pk, sk }) => ({ pk, sk }));
}

/**
 * Returns the write that redeems a code. It fails, as a stale read, if the code was redeemed
 * before.
 */
export function redeemed(code: string): Write {
  const Key = codeKey(hash('sha256', code));
  return { Update: { Key, set: { is_redeemed: true }, was: { is_redeemed: false } } };
}

async function findStoredRequest(id: string) {
  return /^[\da-f]{32}$/.test(id) ? getItem(authorizationRequestKey(id)) : undefined;
}

async function getStoredRequest(id: string) {
  const item = await findStoredRequest(id);
  if (!item || Number(item.expires_at) <= epochSeconds()) throw expired();
  return v.parse(StoredRequest, item);
}

/** Stores an answer. The write fails, as a stale read, if another answer came first. */
function answered(id: string, answer: Answer): Write {
  const Key = authorizationRequestKey(id);
  const set = { answer, expires_at: epochSeconds(answerMemory) };
  const was = { answer: undefined };
  return { Update: { Key, set, where: [['pk', 'present']], was } };
}

/** Stores a code, listed under its user for the eraser. */
function codeWrite(code: string, approved: Omit<AuthorizationCode, 'is_redeemed'>): Write {
  const sha256 = hash('sha256', code);
  const date = `${new Date().toISOString()}#${sha256}`;
  const authorizationCode: AuthorizationCode = { ...approved, is_redeemed: false };
  const Item = {
    ...codeKey(sha256),
    author: `APPROVER#${approved.user_id}`,
    date,
    ...authorizationCode,
    expires_at: epochSeconds(codeMemory),
  };
  return { Put: { Item } };
}

/**
 * Nobody is sent to an old address, approves a name that they did not see, or gives access that was
 * revoked for everybody since they were `asked` (epoch seconds), as by a change to a public client.
 */
function stillRegistered(
  { client_id, name, redirect_uri }: AuthorizationRequest,
  asked?: number,
): Write {
  const where: Test[] = [];
  if (asked !== undefined) {
    where.push(absentOr('revoked_at', '<', isoOf(asked)));
  }
  return {
    ConditionCheck: { Key: applicationKey(client_id), was: { redirect_uri, name }, where },
    otherwise: applicationChanged(),
  };
}

/** 400: the application differs from what the user saw. */
export function applicationChanged(): ApiError {
  return invalidRequest('The application has changed: please start again from there');
}

function expired() {
  return invalidRequest(
    'This question has been answered already, or is too old: please start again from the application',
  );
}
