import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type ApiError, invalidGrant, invalidScope, notFound } from '../../base/errors.ts';
import type { Scope } from '../../base/routes.ts';
import { batchDelete, getItems } from '../../base/table/batch.ts';
import { findItem, parseItems } from '../../base/table/parse.ts';
import { collect, queryIndex, queryItems } from '../../base/table/query.ts';
import { putNew, retryStale, transact, type Write } from '../../base/table/transact.ts';
import { absentOr } from '../../base/table/write.ts';
import { isoOf } from '../../base/time.ts';
import { applicationKey, grantKey, userKey } from '../keys.ts';
import { checkWriter, mayWrite, writeAs } from '../user/writer.ts';
import { type Application, isPublicClient } from './application.ts';
import {
  type AuthorizationCode,
  codeLifetime,
  findCode,
  listCodes,
  redeemed,
} from './authorization-repository.ts';
import { openToken } from './credentials.ts';
import { Grant, newGrant, nobody } from './grant.ts';

/** Milliseconds in which a client that lost the response may repeat a refresh. */
export const repeatMilliseconds = 30_000;
/** Maximum number of grants of a user to an application. Another grant ends the oldest. */
export const mostGrants = 10;
/** Maximum number of applications that a user has connected. Another ends the longest unused. */
export const mostConnections = 100;
/** Rounds of deletion, in case new grants keep appearing. */
const deletions = 5;

type GrantId = Pick<Grant, 'user_id' | 'client_id' | 'grant_id'>;

const notValid = () => invalidGrant('code is not valid');

/** Returns a token's grant, unless revoked. An eventually consistent read costs half a unit. */
export async function findGrant(
  token: GrantId,
  { consistent = false } = {},
): Promise<Grant | undefined> {
  return findItem(Grant, keyOf(token), { consistent });
}

/**
 * Grants access without a code. Throws ApiError 404 if user or application does not exist, 403 if
 * the account is blocked.
 */
export async function insertGrant(
  asked: Pick<Grant, 'user_id' | 'client_id' | 'scopes'>,
): Promise<Grant> {
  const grant = newGrant({ ...asked, grant_id: randomBytes(16).toString('hex') });
  await writeAs(
    grant.user_id,
    ({ otherwise }) => transact(grantWrites(grant, otherwise)),
    notFound('User'),
  );
  await endSurplus(grant);
  return grant;
}

/**
 * Redeems an authorization code once; a second attempt ends the grant (RFC 6749 section 4.1.2).
 * Throws ApiError 400 `invalid_grant` if code, client, redirect URI or verifier are not valid, or
 * the owner of the application is blocked.
 */
export async function redeemCode(
  code: string,
  client: Application,
  codeVerifier: string | undefined,
): Promise<Grant> {
  const { client_id, redirect_uri, user_id: ownerId } = client;
  const content = await openToken('code', code);
  if (content?.client_id !== client_id) throw notValid();
  return retryStale(async () => {
    const authorizationCode = await findCode(code);
    if (!authorizationCode) throw notValid();
    if (authorizationCode.redirect_uri !== redirect_uri) {
      throw invalidGrant('redirect_uri must be the one that the code was asked for');
    }
    // The verifier alone tells a public client from a thief of the code.
    if (isPublicClient(client) && authorizationCode.code_challenge === null) {
      throw invalidGrant('code was asked for without code_challenge');
    }
    if (!isVerified(authorizationCode, codeVerifier)) {
      throw invalidGrant('code_verifier does not match');
    }
    if (authorizationCode.is_redeemed) {
      await deleteGrant(authorizationCode);
      throw invalidGrant('code has been used before, so what it granted is revoked');
    }
    if (content.expires_at <= Date.now() / 1000) throw invalidGrant('code has expired');
    const grant = newGrant(authorizationCode);
    const approved = isoOf(content.expires_at - codeLifetime);
    const writes = [redeemed(code), ...grantWrites(grant, notValid(), notValid(), approved)];
    if (ownerId !== grant.user_id) {
      // An application of a blocked account gets no access, also by a code from before the block.
      const owner = { where: mayWrite, otherwise: notValid() };
      writes.push(checkWriter(ownerId, owner));
    }
    await transact(writes);
    await endSurplus(grant);
    return grant;
  });
}

/**
 * Replaces a refresh token. For 30 s, repeating the previous token gives the same generation of the
 * grant. Any older token ends the grant (RFC 9700 section 4.14.2). Throws ApiError 400
 * `invalid_grant`, or `invalid_scope` without a change if `asked` exceeds the granted scopes.
 */
export async function rotateRefreshToken(
  refreshToken: string,
  { client_id, revoked_at = '' }: Pick<Application, 'client_id' | 'revoked_at'>,
  asked: readonly Scope[] = [],
): Promise<Grant> {
  const token = await openToken('refresh', refreshToken);
  if (token?.client_id !== client_id) throw invalidGrant('refresh_token is not valid');
  return retryStale(async () => {
    const grant = await findGrant(token, { consistent: true });
    if (!grant || grant.created <= revoked_at || token.generation > grant.generation) {
      throw invalidGrant('refresh_token is not valid, or access has been revoked');
    }
    const isRepeat =
      token.generation === grant.generation - 1 &&
      Date.now() - Date.parse(grant.renewed) <= repeatMilliseconds;
    if (token.generation < grant.generation && !isRepeat) {
      await deleteGrant(grant);
      throw invalidGrant('refresh_token has been used before, so access is revoked');
    }
    if (!asked.every((scope) => grant.scopes.includes(scope))) {
      throw invalidScope('scope may hold only what was granted');
    }
    if (isRepeat) return grant;
    const next: Grant = {
      ...grant,
      generation: grant.generation + 1,
      renewed: new Date().toISOString(),
    };
    await transact([{ Put: { Item: grantItem(next), was: { generation: grant.generation } } }]);
    return next;
  });
}

/** Lists a user's grants, all or for one application, oldest first. */
export async function listGrants(userId: string, clientId?: string): Promise<Grant[]> {
  const { pk } = userKey(userId);
  const sk = clientId === undefined ? 'GRANT#' : grantKey(userId, clientId, '').sk;
  const items = await collect(queryItems({ pk, sk }, { pageSize: 1000 }));
  return parseItems(Grant, items).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

/** Lists users' grants to an application, oldest first, page by page. For operators. */
export async function* listGrantsOf(clientId: string): AsyncGenerator<Grant[]> {
  const pages = queryIndex('author-by-date', `CLIENT#${clientId}`, { pageSize: 100 });
  for await (const entries of pages) {
    yield parseItems(Grant, await getItems(entries));
  }
}

/**
 * Revokes a user's grants and codes, all or for one application. Returns the number of
 * grants. Codes go first, so that none creates a grant afterwards. Repeats until nothing is left,
 * because the index may lack recent codes.
 */
export async function deleteGrants(userId: string, clientId?: string): Promise<number> {
  let revoked = 0;
  for (let attempt = 0; attempt < deletions; attempt++) {
    const codes = await listCodes(userId, clientId);
    await batchDelete(codes);
    const grants = await listGrants(userId, clientId);
    await batchDelete(grants.map(keyOf));
    revoked += grants.length;
    if (codes.length + grants.length === 0) break;
  }
  return revoked;
}

/**
 * Ends the oldest grants to an application, and connections that are unused the longest, if there
 * are too many. Runs after the new grant is stored, so the last of
 * simultaneous requests leaves at most the maximum. The next request tries again after a failure.
 */
async function endSurplus({ user_id, client_id }: Grant): Promise<void> {
  try {
    const grants = (await listGrants(user_id)).filter((each) => each.client_id !== nobody);
    const byClient = Map.groupBy(grants, (each) => each.client_id);
    const others = [...byClient].filter(([id]) => id !== client_id);
    const unused = others
      .map(([, some]) => some)
      .sort((a, b) => (lastUseOf(a) < lastUseOf(b) ? 1 : -1))
      .slice(mostConnections - 1)
      .flat();
    const surplus = (byClient.get(client_id) ?? []).slice(0, -mostGrants);
    await batchDelete([...surplus, ...unused].map(keyOf));
  } catch (error) {
    console.warn({ message: 'Old grants were not ended', error: (error as Error).name });
  }
}

function lastUseOf(grants: readonly Grant[]): string {
  const uses = grants.map(({ renewed }) => renewed).sort();
  return uses.at(-1) ?? '';
}

/** Grants that fit a transaction beside its other writes. Few accounts have more. */
export const mostRevoked = 90;

/** Returns the writes that delete the first grants, without conditions. */
export function revoked(grants: readonly Grant[]): Write[] {
  return grants.slice(0, mostRevoked).map((grant) => ({ Delete: { Key: keyOf(grant) } }));
}

/** Revokes one grant. Its tokens are refused from now on. */
export async function deleteGrant(grant: GrantId): Promise<void> {
  await batchDelete([keyOf(grant)]);
}

/** Writes a grant `approved` at a time (ISO 8601), unless its application was revoked since. */
function grantWrites(
  grant: Grant,
  noUser: ApiError,
  noApplication = notFound('Application'),
  approved = grant.created,
): Write[] {
  return [
    putNew(grantItem(grant)),
    checkWriter(grant.user_id, { where: mayWrite, otherwise: noUser }),
    {
      ConditionCheck: {
        Key: applicationKey(grant.client_id),
        where: [['pk', 'present'], absentOr('revoked_at', '<', approved)],
      },
      otherwise: noApplication,
    },
  ];
}

function grantItem(grant: Grant) {
  return { ...keyOf(grant), author: `CLIENT#${grant.client_id}`, date: placeOf(grant), ...grant };
}

const placeOf = ({ created, grant_id }: Grant) => `${created}#${grant_id}`;
const keyOf = ({ user_id, client_id, grant_id }: GrantId) => grantKey(user_id, client_id, grant_id);

/** RFC 7636 section 4.6. A verifier without challenge means an attack (RFC 9700 section 4.8.2). */
function isVerified({ code_challenge }: AuthorizationCode, verifier: string | undefined): boolean {
  if (code_challenge === null || verifier === undefined) {
    return code_challenge === null && verifier === undefined;
  }
  const challenge = hash('sha256', verifier, 'base64url');
  return timingSafeEqual(Buffer.from(challenge), Buffer.from(code_challenge));
}
