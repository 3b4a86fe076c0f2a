import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import * as v from 'valibot';
import { ApiError, invalidRequest } from '../../base/errors.ts';
import { type Application, isPublicClient, previousSecret } from '../oauth/application.ts';
import { findApplication } from '../oauth/application-repository.ts';
import { isClientSecret } from '../oauth/credentials.ts';
import { noteColdStart } from './cold-start.ts';
import { readForm } from './form.ts';
import { requireHttps } from './read-request.ts';
import { errorResponse, json } from './response.ts';
import { wholeEvent } from './whole-event.ts';

const text = v.optional(v.string());
/** Form fields by which a client authenticates, unless by HTTP Basic. */
export const credentials = { client_id: text, client_secret: text };
type Credentials = { [name in keyof typeof credentials]?: string };

/** A method of client authentication, by its name in the metadata of the server (RFC 8414). */
type ClientAuthentication = 'client_secret_post' | 'client_secret_basic' | 'none';

/**
 * Makes the Lambda handler of an OAuth endpoint: a form from an authenticated client, answered in
 * JSON (RFC 6749 sections 3.2 and 5.2). No response may be stored.
 */
export function oauthEndpoint<T extends v.GenericSchema>(
  schema: T,
  handle: (
    client: Application,
    form: v.InferOutput<T>,
    authentication: ClientAuthentication,
  ) => Promise<unknown>,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(noteColdStart())
    .use(errorResponse('error_description'))
    .use(wholeEvent())
    .handler(async (event) => {
      requireHttps(event);
      if (event.queryStringParameters && Object.keys(event.queryStringParameters).length > 0) {
        throw invalidRequest('Parameters must be sent in the body, never in the URL');
      }
      // A field without a value counts as not sent (RFC 6749 section 3.2).
      const fields = Object.entries(readForm(event)).filter(([, value]) => value !== '');
      const form = Object.fromEntries(fields);
      const sent = readCredentials(event.headers.authorization, form);
      const client = await authenticateClient(sent);
      const body = await handle(client, validated(schema, form), sent.authentication);
      return json(200, body, { Pragma: 'no-cache' });
    });
}

/** Error codes of RFC 6749 section 5.2 for invalid fields. */
const codes: Record<string, string> = {
  grant_type: 'unsupported_grant_type',
  code_verifier: 'invalid_grant',
};

function validated<T extends v.GenericSchema>(schema: T, form: object): v.InferOutput<T> {
  const { success, output, issues } = v.safeParse(schema, form, { abortEarly: true });
  if (success) return output;
  const [{ path, received, message }] = issues;
  const name = `${path?.[0]?.key}`;
  if (received === 'undefined') throw invalidRequest(`${name} is required`);
  throw new ApiError(400, codes[name] ?? 'invalid_request', `${name} ${message}`);
}

/**
 * Authenticates a client by its secret (RFC 6749 section 2.3.1). A public one has none, and sends
 * none. Throws ApiError 401 `invalid_client`, also without credentials. Throws 400
 * `invalid_request` for a secret without id.
 */
async function authenticateClient({ client_id, client_secret, authentication }: SentCredentials) {
  if (!client_id && client_secret) throw invalidRequest('client_id is required');
  const application = await findApplication(client_id ?? '');
  // An unknown client takes as much time as a wrong secret.
  const secret_id = application?.secret_id ?? '0'.repeat(32);
  const previous = application && previousSecret(application);
  const isRight = await isClientSecret(
    application?.client_id ?? '0'.repeat(32),
    [secret_id, previous?.secret_id ?? secret_id],
    client_secret ?? '',
  );
  if (application) {
    const isProven = isPublicClient(application) ? authentication === 'none' : isRight;
    if (isProven) return application;
  }
  const isPublic = application !== undefined && isPublicClient(application);
  throw new ApiError(
    401,
    'invalid_client',
    isPublic
      ? 'The application is public: send client_id in the form, and no secret'
      : 'The client is unknown or its secret is missing or wrong',
    authentication === 'client_secret_basic'
      ? { 'WWW-Authenticate': 'Basic realm="review", charset="UTF-8"' }
      : {},
  );
}

interface SentCredentials extends Credentials {
  authentication: ClientAuthentication;
}

/**
 * Reads the credentials of a client from the form or HTTP Basic. Throws ApiError 400
 * `invalid_request` for both at once.
 */
function readCredentials(authorization: string | undefined, form: Credentials): SentCredentials {
  const { client_id, client_secret } = form;
  if (authorization === undefined) {
    const authentication = client_secret === undefined ? 'none' : 'client_secret_post';
    return { client_id, client_secret, authentication };
  }
  const authentication = 'client_secret_basic';
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1];
  const [, id, secret] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) {
    return { client_id: client_id ?? '-', authentication };
  }
  if (client_secret !== undefined) {
    throw invalidRequest('client_secret must be sent in the form or by Basic, not both');
  }
  const named = formDecode(id);
  if (client_id !== undefined && client_id !== named) {
    throw invalidRequest('client_id must be the one that Basic names');
  }
  return { client_id: named, client_secret: formDecode(secret), authentication };
}

/** Id and secret are form-encoded before they are joined (RFC 6749 appendix B). */
function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
