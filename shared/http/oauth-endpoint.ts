import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { invalidRequest } from '../errors.ts';
import type { Application } from '../oauth/application.ts';
import { authenticateClient } from '../oauth/client-authentication.ts';
import { errorResponse } from './error-response.ts';
import { readForm } from './form.ts';
import { headerOf } from './request.ts';
import { json } from './response.ts';
import { requireHttps } from './secure-transport.ts';

/** The fields of a form. Any may be missing. */
export type Form = Readonly<Record<string, string | undefined>>;

/**
 * A Lambda handler for an endpoint that clients post a form to and prove their identity at (RFC 6749 section 3.2). It answers with the JSON
 * of what `handle` gives, and with errors as section 5.2 says. Nothing of it may be stored.
 */
export function oauthEndpoint(handle: (client: Application, form: Form) => Promise<unknown>) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(errorResponse('error_description'))
    .handler(async (event) => {
      requireHttps(event);
      if (event.queryStringParameters && Object.keys(event.queryStringParameters).length > 0) {
        throw invalidRequest('Parameters must be sent in the body, never in the URL');
      }
      // A field without a value counts as not sent (RFC 6749 section 3.2).
      const sent = Object.entries(readForm(event)).filter(([, value]) => value !== '');
      const form: Form = Object.fromEntries(sent);
      const client = await authenticateClient(headerOf(event, 'authorization'), form);
      return json(200, await handle(client, form), { Pragma: 'no-cache' });
    });
}
