import * as v from 'valibot';

// Only the API's description reads these: the endpoints read their forms field by field, as RFC 6749 has errors of its own for some of them.

const credentials = { client_id: v.optional(v.string()), client_secret: v.optional(v.string()) };

/** The form that the token endpoint takes. */
export const TokenForm = v.object({
  grant_type: v.picklist(['authorization_code', 'refresh_token']),
  code: v.optional(v.string()),
  refresh_token: v.optional(v.string()),
  redirect_uri: v.string(),
  code_verifier: v.optional(v.pipe(v.string(), v.regex(/^[\w.~-]{43,128}$/))),
  scope: v.optional(v.string()),
  ...credentials,
});

/** The form that the revocation endpoint takes. */
export const RevocationForm = v.object({ token: v.string(), ...credentials });
