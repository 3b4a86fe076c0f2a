import { createHash } from 'node:crypto';
import { handler as createToken } from '../../functions/api/create-token.ts';
import type { Scope } from '../../shared/base/routes.ts';
import type { Application, ClientType } from '../../shared/core/oauth/application.ts';
import { insertApplication } from '../../shared/core/oauth/application-repository.ts';
import {
  answerAuthorization,
  insertAuthorizationRequest,
} from '../../shared/core/oauth/authorization-repository.ts';
import { clientSecret } from '../../shared/core/oauth/credentials.ts';
import { invoke, type TestResponse } from './invoke.ts';
import type { Person } from './world.ts';

/** A registered application and its secret, empty if it has none. */
export type Client = Application & { client_secret: string };

/** A code verifier of 43 characters, the minimum of RFC 7636 section 4.1. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';

/** The S256 challenge of the verifier. */
export const challenge = createHash('sha256').update(verifier).digest('base64url');

/** Registers an application. */
export async function makeClient(
  owner: Pick<Person, 'id'>,
  redirect_uri = 'https://client.example/callback',
  name = 'Demo',
  type: ClientType = 'confidential',
): Promise<Client> {
  const registration = { name, desc: '', website: 'https://client.example/', redirect_uri };
  return withSecret(await insertApplication(owner.id, registration, undefined, type));
}

/** Adds the secret of an application. */
export async function withSecret(application: Application): Promise<Client> {
  const { client_id, secret_id } = application;
  const client_secret = secret_id === undefined ? '' : await clientSecret(client_id, secret_id);
  return { ...application, client_secret };
}

/** Returns the code that a client receives when the user allows access. */
export async function makeCode(
  { client_id, name, redirect_uri }: Client,
  user: Pick<Person, 'id'>,
  {
    code_challenge = null,
    scopes = ['user'],
  }: { code_challenge?: string | null; scopes?: Scope[] } = {},
): Promise<string> {
  const request = { client_id, name, redirect_uri, scopes, state: null, code_challenge };
  const id = await insertAuthorizationRequest(request);
  return `${(await answerAuthorization(id, 'approve', user.id)).code}`;
}

/** Encodes `fields` as a form. Omits undefined fields. */
export function formOf(fields: Record<string, string | undefined>): string {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined);
  return new URLSearchParams(sent as [string, string][]).toString();
}

/** Posts a form, or a malformed one, to an OAuth endpoint. */
export function postForm(
  handler: unknown,
  form: Record<string, string | undefined> | string,
  headers: Record<string, string> = {},
  query?: Record<string, string>,
): Promise<TestResponse> {
  return invoke(handler, {
    method: 'POST',
    query,
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : formOf(form),
  });
}

type Fields = Record<string, string | undefined>;

function askForTokens({ client_id, client_secret, redirect_uri }: Client, fields: Fields) {
  return postForm(createToken, { client_id, client_secret, redirect_uri, ...fields });
}

/** Redeems a code at the token endpoint. `fields` replace the defaults; undefined removes one. */
export const redeem = (client: Client, code: string, fields: Fields = {}) =>
  askForTokens(client, { grant_type: 'authorization_code', code, ...fields });

/** Refreshes tokens at the token endpoint. `fields` work as in `redeem`. */
export const refresh = (client: Client, refresh_token: string, fields: Fields = {}) =>
  askForTokens(client, { grant_type: 'refresh_token', refresh_token, ...fields });

/** Makes an HTTP Basic header from form-encoded parts. */
export function basic(id: string, secret: string): { Authorization: string } {
  return { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}
