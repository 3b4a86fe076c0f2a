import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { html } from 'hono/html';
import type * as v from 'valibot';
import { authUrl } from '../auth-url.ts';
import { accessDenied } from '../errors.ts';
import type { User } from '../user/user.ts';
import { findUser } from '../user/user-repository.ts';
import { toApiError } from './error-response.ts';
import { readForm } from './form.ts';
import { type Html, layout, styleSource } from './layout.ts';
import { type RequestSchema, readRequest } from './request.ts';
import { headResponse } from './response.ts';
import { requireHttps } from './secure-transport.ts';
import { csrfToken, isCsrfToken, readSession, type Session } from './session.ts';

/** What a person sees. */
export interface Page {
  title: string;
  content: Html;
  status?: number;
  /** Set when a form of it leads out of the service: browsers hold all redirects that answer a form to the policy. */
  isWayOut?: boolean;
  cookies?: readonly string[];
  /** Set when the answer ends the session: there is no menu then. */
  isFarewell?: boolean;
}

/** Where a person is sent on to, by GET. */
export interface Redirect {
  location: string;
  cookies?: readonly string[];
}

/** The request itself and who is signed in, if anybody; `csrf` goes into every form. */
export interface Visit {
  event: APIGatewayProxyEvent;
  visitor?: { user: User; csrf: string };
}

/**
 * A Lambda handler for a page: `endpoint`'s sibling, that answers with HTML or a redirect. A schema with a `caller` is for people who have
 * signed in: others are sent to do so, and a form is taken only with the token of their session.
 */
export function page<T extends RequestSchema>(
  schema: T,
  handle: (request: v.InferOutput<T>, visit: Visit) => Promise<Page | Redirect> | Page | Redirect,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(headResponse())
    .use(errorPage())
    .handler(async (event) => {
      requireHttps(event);
      const session = await readSession(event);
      const user = session && (await findSignedIn(session));
      const csrf = session && (await csrfToken(session));
      const visitor = user && csrf ? { user, csrf } : undefined;
      const form = event.httpMethod === 'POST' ? readForm(event) : undefined;

      if (!visitor && 'caller' in schema.entries && !form) return respond(signInFirst(event));
      const parts = { caller: visitor && session, body: form };
      const request = readRequest(schema, withParts(event, parts));
      if (form && session && !(await isCsrfToken(session, form.csrf ?? ''))) {
        throw accessDenied(
          'The form is not of your session: go back, reload the page and try again',
        );
      }
      return respond(await handle(request, { event, visitor }), csrf);
    });
}

/** Whose session it is, unless the account is gone or has signed out since. */
async function findSignedIn({ user_id, signed_in }: Session): Promise<User | undefined> {
  const user = await findUser(user_id);
  return user && signed_in > (user.signed_out ?? 0) ? user : undefined;
}

/** The way to sign in, and from there back to this page, or to this page with another query. */
export function signInFirst(event: APIGatewayProxyEvent, query = queryOf(event)): Redirect {
  const path = event.resource.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(event.pathParameters?.[name] ?? ''),
  );
  const return_to = `${authUrl()}${path}${query && `?${query}`}`;
  return { location: `${authUrl()}/account/sign-in?${new URLSearchParams({ return_to })}` };
}

/** The query of a request, as a client would write it. */
export function queryOf({ multiValueQueryStringParameters }: APIGatewayProxyEvent): string {
  const pairs = Object.entries(multiValueQueryStringParameters ?? {}).flatMap(
    ([name, values = []]) => values.map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(pairs).toString();
}

function withParts(
  event: APIGatewayProxyEvent,
  { caller, body }: { caller: unknown; body: unknown },
): APIGatewayProxyEvent {
  const requestContext = { ...event.requestContext, authorizer: caller };
  return { ...event, requestContext, body } as APIGatewayProxyEvent;
}

async function respond(answer: Page | Redirect, csrf?: string): Promise<APIGatewayProxyResult> {
  const cookies = answer.cookies && { multiValueHeaders: { 'Set-Cookie': [...answer.cookies] } };
  if ('location' in answer) {
    const headers = { ...securityHeaders(), Location: answer.location };
    return { statusCode: 303, headers, body: '', ...cookies };
  }
  return {
    statusCode: answer.status ?? 200,
    headers: securityHeaders(answer.isWayOut),
    body: `${await layout(answer.title, answer.content, answer.isFarewell ? undefined : csrf)}`,
    ...cookies,
  };
}

/** RFC 9700 section 4.16 and common sense: no frames, no sniffing, no leaking of addresses, nothing from elsewhere, nothing kept. */
function securityHeaders(isWayOut = false): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${styleSource()}`,
    ...(isWayOut ? [] : ["form-action 'self'"]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    ...(authUrl().startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}

/** Whatever goes wrong is said on a page, never by a redirect. */
function errorPage(): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> {
  return {
    async onError(request) {
      const { requestId } = request.event.requestContext;
      const { status, message, code } = toApiError(request.error, requestId);
      const isSignedOut = code === 'not_authorized';
      request.response = await respond({
        status,
        title: status < 500 ? 'That did not work' : 'Something went wrong',
        content: html`<section>
          <p>${isSignedOut ? 'You are signed out, so nothing was changed.' : message}.</p>
          ${status < 500 ? '' : html`<p class="soft">request_id: ${requestId}</p>`}
          <p><a href="${authUrl()}/account">Go to your account</a></p>
        </section>`,
      });
    },
  };
}
