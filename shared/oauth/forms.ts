import * as v from 'valibot';

const credentials = { client_id: v.optional(v.string()), client_secret: v.optional(v.string()) };

/** The form of the token endpoint, by `grant_type` (RFC 6749 sections 4.1.3 and 6). */
export const TokenForm = v.variant(
  'grant_type',
  [
    v.object({
      grant_type: v.literal('authorization_code'),
      code: v.string(),
      redirect_uri: v.string(),
      code_verifier: v.optional(
        v.pipe(
          v.string(),
          v.regex(/^[\w.~-]{43,128}$/, 'must be 43 to 128 letters, digits and -._~'),
        ),
      ),
      ...credentials,
    }),
    v.object({
      grant_type: v.literal('refresh_token'),
      refresh_token: v.string(),
      redirect_uri: v.string(),
      scope: v.optional(v.string()),
      ...credentials,
    }),
  ],
  'must be authorization_code or refresh_token',
);

export const RevocationForm = v.object({ token: v.string(), ...credentials });
