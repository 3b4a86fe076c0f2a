import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import { isLoopback, Matching, Name, parseWebUrl, Text } from '../../base/values.ts';
import { clientSecret } from './credentials.ts';
import type { PresentedApplication } from './presented.ts';

export const ClientId = Matching(/^[\da-f]{32}$/, 'must be a client id, 32 hexadecimal digits');

/** Fields that an owner enters. */
export const Registration = v.object({
  name: Name(64),
  desc: Text(0, 500),
  website: v.pipe(
    v.string(),
    v.check(
      (text) => parseWebUrl(text) !== null,
      'must be an http or https URL in ASCII, without a user name',
    ),
  ),
  redirect_uri: v.pipe(
    v.string(),
    v.check(
      isRedirectUri,
      'must be an https URL, or an http URL on a loopback host, in ASCII, without a user name or fragment',
    ),
  ),
});
export type Registration = v.InferOutput<typeof Registration>;

/** Client types of RFC 6749 section 2.1. A public client has no secret. */
export const clientTypes = ['confidential', 'public'] as const;
export type ClientType = (typeof clientTypes)[number];

/** The names of these fields. */
export const registrationNames = /* @__PURE__ */ Object.keys(
  Registration.entries,
) as readonly (keyof Registration)[];

/** The secrets of an application, or of its webhook. */
export const secretEntries = {
  /** 32 random hexadecimal digits that the secret is derived from. */
  secret_id: v.string(),
  /** The replaced secret and its expiry, unless its owner has ended it. */
  previous_secret: v.optional(v.object({ secret_id: v.string(), until: v.string() })),
};

/** A registered application, as stored. Times are ISO 8601. */
export const Application = v.object({
  client_id: v.string(),
  user_id: v.string(),
  ...v.entriesFromList(registrationNames, v.string()),
  ...secretEntries,
  /** Absent in a public application. */
  secret_id: v.optional(secretEntries.secret_id),
  created: v.string(),
  /** Approvals up to this time are revoked for everybody. */
  revoked_at: v.optional(v.string()),
});
export type Application = v.InferOutput<typeof Application>;

/** Returns true for an application without a secret, such as a page in a browser. */
export function isPublicClient({ secret_id }: Pick<Application, 'secret_id'>): boolean {
  return secret_id === undefined;
}

/** Returns the replaced secret while it is valid. */
export function previousSecret({
  previous_secret,
}: Pick<Application, 'previous_secret'>): Application['previous_secret'] {
  const isGood = previous_secret && previous_secret.until > new Date().toISOString();
  return isGood ? previous_secret : undefined;
}

/** Makes an id that a new secret is derived from. */
export const newSecretId = () => randomBytes(16).toString('hex');

/** Returns attributes with a new secret, beside which the one before is valid for a day. */
export function withNewSecret(secret_id: string) {
  const until = new Date(Date.now() + 86_400_000).toISOString();
  return { secret_id: newSecretId(), previous_secret: { secret_id, until } };
}

/** Presents an application. Its secret is null if it has none, or unless it is shown. */
export async function presentApplication(
  application: Application,
  isSecretShown: boolean,
): Promise<PresentedApplication> {
  const { client_id, user_id, secret_id } = application;
  const client_secret =
    isSecretShown && secret_id !== undefined ? await clientSecret(client_id, secret_id) : null;
  return { ...pick(application, registrationNames), client_id, client_secret, user_id };
}

/** RFC 9700 section 2.1 and RFC 8252 section 7.3. */
function isRedirectUri(text: string): boolean {
  const url = parseWebUrl(text);
  if (!url || text.includes('#')) return false;
  return url.protocol === 'https:' || isLoopback(url);
}
