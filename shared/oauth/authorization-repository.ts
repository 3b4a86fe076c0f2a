import { hash, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { type ApiError, invalidRequest } from '../errors.ts';
import { pick } from '../pick.ts';
import { scopes } from '../routes.ts';
import { batchGet, batchWrite } from '../table/batch.ts';
import type { Key } from '../table/item.ts';
import { applicationKey, authorizationRequestKey, codeKey } from '../table/keys.ts';
import { collect, getItem, queryIndex } from '../table/query.ts';
import { retryStale, transact, type Write } from '../table/transact.ts';
import { epochSeconds } from '../time.ts';
import { checkWriter, type Writer, writeAs } from '../user/writer.ts';
import { AuthorizationRequest } from './authorization-request.ts';
import { sealToken } from './credentials.ts';

/** Seconds that a user has to sign in and answer. */
const requestLifetime = 1800;

/** Seconds that an answer may be repeated for. */
const answerMemory = 60;

/** Seconds that a code may be redeemed within. */
export const codeLifetime = 60;

/** Seconds that a code is remembered, so that a second redemption is noticed. */
const codeMemory = 86_400;

/** What a code stands for, as it is stored. */
export const AuthorizationCode = v.object({
  user_id: v.string(),
  client_id: v.string(),
  /** Of the grant that its redemption makes. */
  grant_id: v.string(),
  scopes: v.array(v.picklist(scopes)),
  redirect_uri: v.string(),
  code_challenge: v.nullable(v.string()),
  is_redeemed: v.boolean(),
});
export type AuthorizationCode = v.InferOutput<typeof AuthorizationCode>;

/** The user's answer to a request; an answered request lies in the table with it for a minute more. */
const Answer = v.object({
  decision: v.picklist(['approve', 'refuse']),
  /** SHA-256 of who gave it, so that an erased account is named nowhere. */
  user_hash: v.string(),
  /** Of the grant that the code leads to. */
  grant_id: v.string(),
  /** When the code expires, in epoch seconds. */
  code_expires_at: v.number(),
});
type Answer = v.InferOutput<typeof Answer>;

const KeptRequest = v.object({ ...AuthorizationRequest.entries, answer: v.optional(Answer) });

/** Keeps a request until its user answers; gives the id, 32 random hexadecimal digits, that the consent form names it by. */
export async function insertAuthorizationRequest(request: AuthorizationRequest): Promise<string> {
  const id = randomBytes(16).toString('hex');
  const Item = {
    ...authorizationRequestKey(id),
    ...request,
    expires_at: epochSeconds(requestLifetime),
  };
  await batchWrite([{ put: Item }]);
  return id;
}

/** The request with this id, whether it waits for its answer or not; undefined when nothing is left of it. */
export async function findAuthorizationRequest(
  id: string,
): Promise<AuthorizationRequest | undefined> {
  const item = await findKeptRequest(id);
  return item && v.parse(AuthorizationRequest, item);
}

/** A request that waits for its answer. Throws ApiError 400 when it is unknown, answered or too old. */
export async function getAuthorizationRequest(id: string): Promise<AuthorizationRequest> {
  const { answer, ...request } = await getKeptRequest(id);
  if (answer) throw expired();
  return request;
}

/**
 * Answers a request; gives it back, and with a yes the code for the client. The same answer of the same user leads to the same code for a
 * minute, because a form may be sent twice. Throws ApiError 400 when it has been answered otherwise or the application has changed what the
 * user was shown, 401 when the account is gone, 403 when it is blocked and says yes.
 */
export async function answerAuthorization(
  id: string,
  decision: Answer['decision'],
  userId: string,
): Promise<{ request: AuthorizationRequest; code: string | undefined }> {
  const act = async (writer: Writer) => {
    const { answer: before, ...request } = await getKeptRequest(id);
    const user_hash = hash('sha256', userId);
    if (before && (before.decision !== decision || before.user_hash !== user_hash)) throw expired();
    const answer = before ?? {
      decision,
      user_hash,
      grant_id: randomBytes(16).toString('hex'),
      code_expires_at: epochSeconds(codeLifetime),
    };
    const code = decision === 'approve' ? await codeOf(request, userId, answer) : undefined;
    const approval = code === undefined ? [] : approved(code, request, userId, answer, writer);
    await transact([
      ...(before ? [] : [answered(id, answer), ...approval]),
      stillRegistered(request),
    ]);
    return { request, code };
  };
  return writeAs(userId, (writer) => retryStale(() => act(writer)));
}

/** What a code stands for; undefined when it is unknown, or was given to an account that is gone. */
export async function findCode(code: string): Promise<AuthorizationCode | undefined> {
  const Key = codeKey(hash('sha256', code));
  const item = await getItem(Key);
  return item && v.parse(AuthorizationCode, item);
}

/** The keys of the codes that a user has approved, for one application or for all, as far as the index shows them yet. */
export async function listCodes(userId: string, clientId?: string): Promise<Key[]> {
  const pages = queryIndex('author-by-date', `APPROVER#${userId}`, { descending: true });
  const entries = await collect(pages, 100);
  const items = await batchGet(entries, { consistent: true });
  return [...items.values()]
    .filter(({ client_id }) => clientId === undefined || client_id === clientId)
    .map(({ pk, sk }) => ({ pk, sk }));
}

/** The write that redeems a code: it fails, as a stale read, when the code has been redeemed. */
export function redeemed(code: string): Write {
  const Key = codeKey(hash('sha256', code));
  return { Update: { Key, set: { is_redeemed: true }, was: { is_redeemed: false } } };
}

async function findKeptRequest(id: string) {
  return /^[\da-f]{32}$/.test(id) ? getItem(authorizationRequestKey(id)) : undefined;
}

/** Throws ApiError 400 when there is none, or no longer. */
async function getKeptRequest(id: string): Promise<v.InferOutput<typeof KeptRequest>> {
  const item = await findKeptRequest(id);
  if (!item || Number(item.expires_at) <= epochSeconds()) throw expired();
  return v.parse(KeptRequest, item);
}

/** The write that answers a request: it fails, as a stale read, when another answer came first. */
function answered(id: string, answer: Answer): Write {
  return {
    Update: {
      Key: authorizationRequestKey(id),
      set: { answer, expires_at: epochSeconds(answerMemory) },
      ConditionExpression: 'attribute_exists(pk)',
      was: { answer: undefined },
    },
  };
}

/** The writes that make the code of a yes. */
function approved(
  code: string,
  request: AuthorizationRequest,
  userId: string,
  { grant_id }: Answer,
  writer: Writer,
): Write[] {
  const sha256 = hash('sha256', code);
  const stored: AuthorizationCode = {
    ...{ user_id: userId, grant_id, is_redeemed: false },
    ...pick(request, ['client_id', 'redirect_uri', 'scopes', 'code_challenge']),
  };
  // Listed under its user, so that an erased account leaves none.
  const listed = { author: `APPROVER#${userId}`, date: `${new Date().toISOString()}#${sha256}` };
  const expires_at = epochSeconds(codeMemory);
  return [
    { Put: { Item: { ...codeKey(sha256), ...listed, ...stored, expires_at } } },
    checkWriter(userId, writer),
  ];
}

/** The same answer always has the same code, so that the table need not hold it. */
function codeOf(
  { client_id }: AuthorizationRequest,
  userId: string,
  { grant_id, code_expires_at: expires_at }: Answer,
): Promise<string> {
  return sealToken('code', { user_id: userId, client_id, grant_id, generation: 0, expires_at });
}

/** Nobody is sent to where an application no longer is, nor gives to one name what another asked for. */
function stillRegistered({ client_id, name, redirect_uri }: AuthorizationRequest): Write {
  return {
    ConditionCheck: { Key: applicationKey(client_id), was: { redirect_uri, name } },
    otherwise: applicationChanged(),
  };
}

/** 400: what the user was shown is no longer so. */
export function applicationChanged(): ApiError {
  return invalidRequest('The application has changed: please start again from there');
}

function expired(): ApiError {
  return invalidRequest(
    'This question has been answered already, or is too old: please start again from the application',
  );
}
