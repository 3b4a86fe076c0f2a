import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import * as v from 'valibot';
import { ApiError, invalidRequest } from '../errors.ts';
import type { Application } from '../oauth/application.ts';
import { authenticateClient } from '../oauth/client-authentication.ts';
import { errorResponse } from './error-response.ts';
import { readForm } from './form.ts';
import { headerOf, requireHttps } from './request.ts';
import { json } from './response.ts';

/**
 * Makes the Lambda handler of an OAuth endpoint: a form from an authenticated client, answered in
 * JSON (RFC 6749 sections 3.2 and 5.2). No response may be stored.
 */
export function oauthEndpoint<T extends v.GenericSchema>(
  schema: T,
  handle: (client: Application, form: v.InferOutput<T>) => Promise<unknown>,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(errorResponse('error_description'))
    .handler(async (event) => {
      requireHttps(event);
      if (event.queryStringParameters && Object.keys(event.queryStringParameters).length > 0) {
        throw invalidRequest('Parameters must be sent in the body, never in the URL');
      }
      // A field without a value counts as not sent (RFC 6749 section 3.2).
      const sent = Object.entries(readForm(event)).filter(([, value]) => value !== '');
      const form = Object.fromEntries(sent);
      const client = await authenticateClient(headerOf(event, 'authorization'), form);
      return json(200, await handle(client, validated(schema, form)), { Pragma: 'no-cache' });
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
