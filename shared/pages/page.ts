import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import type * as v from 'valibot';
import { authUrl } from '../auth-url.ts';
import { accessDenied } from '../errors.ts';
import { readForm } from '../http/form.ts';
import { partsOf, type RequestSchema, readRequest } from '../http/request.ts';
import { headResponse } from '../http/response.ts';
import { requireHttps } from '../http/secure-transport.ts';
import type { User } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { errorPage } from './error-page.ts';
import { type Page, type Redirect, respond, type Visitor } from './html-response.ts';
import { csrfToken, isCsrfToken, readSession, type Session } from './session.ts';

/** The request itself and who is signed in: always somebody where the schema has a `caller`. */
export interface Visit<T extends RequestSchema> {
  event: APIGatewayProxyEvent;
  visitor: T['entries'] extends { caller: unknown } ? Visitor : Visitor | undefined;
}

/**
 * A Lambda handler for a page: `endpoint`'s sibling, that answers with HTML or a redirect. A schema with a `caller` is for people who have
 * signed in. Others are sent to do so. A form is taken only with the token of their session.
 */
export function page<T extends RequestSchema>(
  schema: T,
  handle: (
    request: v.InferOutput<T>,
    visit: Visit<T>,
  ) => Promise<Page | Redirect> | Page | Redirect,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(headResponse())
    .use(errorPage())
    .handler(async (event) => {
      requireHttps(event);
      const session = await readSession(event);
      const user = session && (await findSignedIn(session));
      const csrf = session && (await csrfToken(session));
      const visitor = user && csrf ? { user, csrf, here: addressOf(event) } : undefined;
      const form = event.httpMethod === 'POST' ? readForm(event) : undefined;

      if (!visitor && 'caller' in schema.entries && !form) return respond(signInFirst(event));
      const parts = { ...partsOf(event), caller: visitor && session, body: form };
      const request = readRequest(schema, parts);
      if (form && session && !(await isCsrfToken(session, form.csrf ?? ''))) {
        throw accessDenied(
          'The form is not of your session: go back, reload the page and try again',
        );
      }
      // Without a visitor, a schema with a caller has refused the request by now.
      return respond(await handle(request, { event, visitor } as Visit<T>), visitor);
    });
}

/** The user whose session it is, unless the account is gone or has signed out since. */
async function findSignedIn({ user_id, signed_in }: Session): Promise<User | undefined> {
  const user = await findUser(user_id);
  return user && signed_in > (user.signed_out ?? 0) ? user : undefined;
}

/** The way to sign in, and from there back to this page, or to this page with another query. */
export function signInFirst(event: APIGatewayProxyEvent, query = queryOf(event)): Redirect {
  const return_to = addressOf(event, query);
  return { location: `${authUrl()}/account/sign-in?${new URLSearchParams({ return_to })}` };
}

function addressOf(event: APIGatewayProxyEvent, query = queryOf(event)): string {
  const path = event.resource.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(event.pathParameters?.[name] ?? ''),
  );
  return `${authUrl()}${path}${query && `?${query}`}`;
}

/** The query of a request, as a client would write it. */
export function queryOf({ multiValueQueryStringParameters }: APIGatewayProxyEvent): string {
  const pairs = Object.entries(multiValueQueryStringParameters ?? {}).flatMap(
    ([name, values = []]) => values.map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(pairs).toString();
}
