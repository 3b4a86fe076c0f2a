import * as v from 'valibot';
import { type Scope, scopes } from '../routes.ts';
import { sealToken, type TokenContent } from './credentials.ts';
import type { TokenResponse } from './presented.ts';

/** What a user has allowed an application to do, as it is stored. */
export const Grant = v.object({
  /** 32 random hexadecimal digits: who does not know them cannot make a token, even with the key. */
  grant_id: v.string(),
  user_id: v.string(),
  client_id: v.string(),
  scopes: v.array(v.picklist(scopes)),
  /** ISO 8601. */
  created: v.string(),
  /** When its refresh token was last replaced; ISO 8601. */
  renewed: v.string(),
  /** How many times its refresh token has been replaced. */
  generation: v.number(),
});
export type Grant = v.InferOutput<typeof Grant>;

/** A grant of now. */
export function newGrant({
  grant_id,
  user_id,
  client_id,
  scopes,
}: Pick<Grant, 'user_id' | 'client_id' | 'grant_id' | 'scopes'>): Grant {
  const now = new Date().toISOString();
  return { grant_id, user_id, client_id, scopes, created: now, renewed: now, generation: 0 };
}

/** Seconds that an access token lives unless asked otherwise. */
export const accessTokenLifetime = 3600;

/**
 * The answer of the token endpoint; times in seconds. One generation of a grant always has the same tokens, so that a
 * client which lost the answer gets them again. `scopes` are those of the access token where they are not all of the grant.
 */
export async function tokenResponse(
  grant: Grant,
  lifetime = accessTokenLifetime,
  scopes: readonly Scope[] = grant.scopes,
): Promise<TokenResponse> {
  const made = Date.parse(grant.renewed);
  const expires_at = Math.ceil(made / 1000) + lifetime;
  const narrowed_to = grant.scopes.every((scope) => scopes.includes(scope)) ? undefined : scopes;
  return {
    access_token: await sealToken('access', { ...grant, expires_at, narrowed_to }),
    token_type: 'Bearer',
    expires_in: lifetime - Math.floor((Date.now() - made) / 1000),
    refresh_token: await refreshToken(grant),
  };
}

/** The refresh token that is good now. */
export function refreshToken(grant: Grant): Promise<string> {
  return sealToken('refresh', { ...grant, expires_at: 0 });
}

/** What a token may be used for now: a narrowed one for less than its grant. */
export function scopesOf({ scopes }: Grant, { narrowed_to }: TokenContent): Scope[] {
  return narrowed_to ? scopes.filter((scope) => narrowed_to.includes(scope)) : scopes;
}
