import * as v from 'valibot';
import type { Scope } from '../routes.ts';
import { sealToken } from './credentials.ts';

/** What a user has allowed an application to do, as it is stored. */
export const Grant = v.object({
  /** 32 random hexadecimal digits: who does not know them cannot make a token, even with the key. */
  grant_id: v.string(),
  user_id: v.string(),
  client_id: v.string(),
  scopes: v.array(v.picklist(['review', 'vote', 'user'])),
  /** ISO 8601. */
  created: v.string(),
  /** How many times its refresh token has been replaced. */
  generation: v.number(),
});
export type Grant = v.InferOutput<typeof Grant>;

/** Seconds that an access token lives unless asked otherwise. */
export const accessTokenLifetime = 3600;

/** The token response of spec section 5. `expires_in` is in seconds. */
export async function tokenResponse(grant: Grant, expires_in = accessTokenLifetime) {
  const expires_at = Math.floor(Date.now() / 1000) + expires_in;
  return {
    access_token: await sealToken('access', { ...grant, expires_at }),
    token_type: 'Bearer',
    expires_in,
    refresh_token: await sealToken('refresh', { ...grant, expires_at: 0 }),
  };
}

/** Whether the grant allows what needs `scope`. */
export function hasScope({ scopes }: Pick<Grant, 'scopes'>, scope: Scope): boolean {
  return scopes.includes(scope);
}
