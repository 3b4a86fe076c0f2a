import { createHash, randomBytes } from 'node:crypto';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { invalidRequest, invalidToken } from '../errors.ts';
import { batchGet } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import {
  applicationKey,
  authorizationRequestKey,
  codeKey,
  type Key,
  userKey,
} from '../table/keys.ts';
import { collect, queryIndex } from '../table/query.ts';
import { transact, type Write } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { AuthorizationRequest } from './authorization-request.ts';
import { sealToken } from './credentials.ts';

/** Seconds that a user has to sign in and answer. */
const requestLifetime = 1800;

/** Seconds that a code may be redeemed within (decisions.md). */
const codeLifetime = 60;

/** Seconds that a code is remembered, so that a second redemption is noticed. */
const codeMemory = 86_400;

/** What a code stands for, as it is stored. */
export const AuthorizationCode = v.object({
  user_id: v.string(),
  client_id: v.string(),
  /** Of the grant that its redemption makes. */
  grant_id: v.string(),
  scopes: v.array(v.picklist(['review', 'vote', 'user'])),
  redirect_uri: v.string(),
  code_challenge: v.nullable(v.string()),
  is_redeemed: v.boolean(),
});
export type AuthorizationCode = v.InferOutput<typeof AuthorizationCode>;

/** Keeps a request until its user answers; gives the id, 32 random hexadecimal digits, that the consent form names it by. */
export async function insertAuthorizationRequest(request: AuthorizationRequest): Promise<string> {
  const id = randomBytes(16).toString('hex');
  const Item = {
    ...authorizationRequestKey(id),
    ...request,
    expires_at: inSeconds(requestLifetime),
  };
  await table.send(new PutCommand({ TableName, Item }));
  return id;
}

/** Throws ApiError 400 when the request is unknown, answered or too old. */
export async function getAuthorizationRequest(id: string): Promise<AuthorizationRequest> {
  if (!/^[\da-f]{32}$/.test(id)) throw expired();
  const Key = authorizationRequestKey(id);
  const { Item } = await table.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  if (!Item || Item.expires_at <= inSeconds(0)) throw expired();
  return v.parse(AuthorizationRequest, Item);
}

/** Answers a request with no. Throws ApiError 400 as approveAuthorization does. */
export async function refuseAuthorization(
  id: string,
  request: AuthorizationRequest,
): Promise<void> {
  await transact([answered(id), stillRegistered(request)]);
}

/**
 * Answers a request with yes; gives the code for the client. Throws ApiError 400 when it has been answered already or the application
 * has changed its redirect URI, 401 when the account is gone.
 */
export async function approveAuthorization(
  id: string,
  request: AuthorizationRequest,
  user_id: string,
): Promise<string> {
  const { client_id, redirect_uri, scopes, code_challenge } = request;
  const grant_id = randomBytes(16).toString('hex');
  const code = await sealToken('code', {
    user_id,
    client_id,
    grant_id,
    generation: 0,
    expires_at: inSeconds(codeLifetime),
  });
  const stored: AuthorizationCode = {
    user_id,
    client_id,
    grant_id,
    scopes,
    redirect_uri,
    code_challenge,
    is_redeemed: false,
  };
  await transact([
    answered(id),
    { Put: { Item: codeItem(sha256(code), stored) } },
    {
      ConditionCheck: { Key: userKey(user_id), ConditionExpression: isAlive },
      otherwise: invalidToken(),
    },
    stillRegistered(request),
  ]);
  return code;
}

/** What a code stands for; undefined when it is unknown, or was given to an account that is gone. */
export async function findCode(code: string): Promise<AuthorizationCode | undefined> {
  const Key = codeKey(sha256(code));
  const { Item } = await table.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
  return Item && v.parse(AuthorizationCode, Item);
}

/** The keys of the codes that a user has approved, for one application or for all, as far as the index shows them yet. */
export async function listCodes(userId: string, clientId?: string): Promise<Key[]> {
  const partition = { scope: 'author', value: `APPROVER#${userId}` } as const;
  const entries = await collect(queryIndex(partition, { order: 'date', descending: true }), 100);
  const items = await batchGet(entries.map(({ pk, sk }) => ({ pk, sk })));
  return [...items.values()]
    .filter(({ client_id }) => clientId === undefined || client_id === clientId)
    .map(({ pk, sk }) => ({ pk, sk }));
}

/** The write that redeems a code: it fails, as a stale read, when the code has been redeemed. */
export function redeemed(code: string): Write {
  return {
    Update: {
      Key: codeKey(sha256(code)),
      UpdateExpression: 'SET is_redeemed = :true',
      ConditionExpression: 'is_redeemed = :false',
      ExpressionAttributeValues: { ':true': true, ':false': false },
    },
  };
}

/** Listed under its user, so that an erased account leaves none. */
function codeItem(hash: string, code: AuthorizationCode) {
  const listed = {
    author: `APPROVER#${code.user_id}`,
    date: `${new Date().toISOString()}#${hash}`,
  };
  return { ...codeKey(hash), ...listed, ...code, expires_at: inSeconds(codeMemory) };
}

/** The write that answers a request: only one answer is taken. */
function answered(id: string): Write {
  return {
    Delete: { Key: authorizationRequestKey(id), ConditionExpression: 'attribute_exists(pk)' },
    otherwise: expired(),
  };
}

/** Nobody is sent to where an application no longer is. */
function stillRegistered({ client_id, redirect_uri }: AuthorizationRequest): Write {
  return {
    ConditionCheck: {
      Key: applicationKey(client_id),
      ConditionExpression: 'redirect_uri = :redirect_uri',
      ExpressionAttributeValues: { ':redirect_uri': redirect_uri },
    },
    otherwise: invalidRequest('The application has changed: start again from there'),
  };
}

function expired() {
  return invalidRequest(
    'This request has been answered or is too old: start again from the application',
  );
}

function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
