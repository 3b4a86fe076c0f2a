import { ApiError, invalidRequest } from '../errors.ts';
import { type Application, previousSecret } from './application.ts';
import { findApplication } from './application-repository.ts';
import { isClientSecret } from './credentials.ts';

/**
 * Authenticates a client by its secret, in the form or by HTTP Basic (RFC 6749 section 2.3.1).
 * Throws ApiError 401 `invalid_client`, also without credentials. Throws 400 `invalid_request` for
 * both methods at once, or a secret without id.
 */
export async function authenticateClient(
  authorization: string | undefined,
  form: { client_id?: string; client_secret?: string },
): Promise<Application> {
  const { client_id, client_secret, isBasic } = readCredentials(authorization, form);
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
  if (application && isRight) return application;
  throw new ApiError(
    401,
    'invalid_client',
    'The client is unknown or its secret is missing or wrong',
    isBasic ? { 'WWW-Authenticate': 'Basic realm="review", charset="UTF-8"' } : {},
  );
}

function readCredentials(
  authorization: string | undefined,
  form: { client_id?: string; client_secret?: string },
) {
  if (authorization === undefined) return { ...form, isBasic: false };
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization)?.[1];
  const [, id, secret] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined) {
    return { client_id: form.client_id ?? '-', client_secret: undefined, isBasic: true };
  }
  if (form.client_secret !== undefined) {
    throw invalidRequest('client_secret must be sent in the form or by Basic, not both');
  }
  const client_id = formDecode(id);
  if (form.client_id !== undefined && form.client_id !== client_id) {
    throw invalidRequest('client_id must be the one that Basic names');
  }
  return { client_id, client_secret: formDecode(secret), isBasic: true };
}

/** Id and secret are form-encoded before they are joined (RFC 6749 appendix B). */
function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
