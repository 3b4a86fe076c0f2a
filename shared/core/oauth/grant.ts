import * as v from 'valibot';
import { type Scope, scopes } from '../../base/routes.ts';
import { sealToken, type TokenContent } from './credentials.ts';
import type { TokenResponse } from './presented.ts';

/**
 * Replaces the client id in keys and tokens without an application. Client ids are random, so none
 * is equal.
 */
export const nobody = '0'.repeat(32);

/** A user's permission for an application, as stored. Times are ISO 8601. */
export const Grant = v.object({
  /** 32 random hexadecimal digits. Nobody can make a token without them, even with the key. */
  grant_id: v.string(),
  user_id: v.string(),
  client_id: v.string(),
  scopes: v.array(v.picklist(scopes)),
  created: v.string(),
  /** Time when its refresh token was last replaced. */
  renewed: v.string(),
  /** Number of times that its refresh token has been replaced. */
  generation: v.number(),
});
export type Grant = v.InferOutput<typeof Grant>;

/** Makes a grant of this moment, of generation 0. */
export function newGrant(of: Pick<Grant, 'user_id' | 'client_id' | 'grant_id' | 'scopes'>): Grant {
  const { grant_id, user_id, client_id, scopes } = of;
  const now = new Date().toISOString();
  return { grant_id, user_id, client_id, scopes, created: now, renewed: now, generation: 0 };
}

/** Default lifetime of an access token, in seconds. */
export const accessTokenLifetime = 3600;

/**
 * Builds the response of the token endpoint; `lifetime` is in seconds. One generation always has
 * the same tokens, so a client can repeat a lost refresh. `scopes` narrows the access token.
 */
export async function tokenResponse(
  grant: Grant,
  lifetime = accessTokenLifetime,
  scopes: readonly Scope[] = grant.scopes,
): Promise<TokenResponse> {
  const renewed = Date.parse(grant.renewed);
  const expires_at = Math.ceil(renewed / 1000) + lifetime;
  const narrowed_to = grant.scopes.every((scope) => scopes.includes(scope)) ? undefined : scopes;
  const scope = (narrowed_to ?? grant.scopes).join(' ');
  return {
    access_token: await sealToken('access', { ...grant, expires_at, narrowed_to }),
    token_type: 'Bearer',
    expires_in: lifetime - Math.floor((Date.now() - renewed) / 1000),
    refresh_token: await refreshToken(grant),
    // A scope is never empty (RFC 6749 section 3.3).
    ...(scope !== '' && { scope }),
  };
}

/** Returns the valid refresh token. */
export function refreshToken(grant: Grant): Promise<string> {
  return sealToken('refresh', { ...grant, expires_at: 0 });
}

/** Returns the current scopes of a token, fewer than the grant's if it is narrowed. */
export function scopesOf({ scopes }: Grant, { narrowed_to }: TokenContent): Scope[] {
  return narrowed_to ? scopes.filter((scope) => narrowed_to.includes(scope)) : scopes;
}
