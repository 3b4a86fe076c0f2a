import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { ApiError } from '../errors.ts';
import { toApiError } from '../http/error-response.ts';
import { headResponse } from '../http/response.ts';
import { type Page, respond } from './html-response.ts';
import type { Html } from './layout.ts';
import { askedPath } from './own-url.ts';

/** Context of an error page. */
export interface ErrorContext {
  requestId: string;
  /** The page to go back to. */
  here?: string;
  /** Set if the account of the session was deleted. */
  isAccountGone?: boolean;
  /** Set if a moderator has blocked the account. */
  isBlocked?: boolean;
  /** Set if the visitor is unknown, so that there is no account to link to. */
  isForAnybody?: boolean;
}

/** A link to a next step. */
export interface NextStep {
  href: string;
  text: string;
}

/**
 * Makes a Lambda handler for browsers that knows no visitor. Errors become pages, never redirects,
 * as `endpoint` turns them into JSON.
 */
export function browserHandler(
  handle: (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult> | APIGatewayProxyResult,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(headResponse())
    .onError(async (request) => {
      const { event, error } = request;
      const { requestId } = event.requestContext;
      const here = event.httpMethod === 'POST' ? undefined : authUrl() + askedPath(event);
      const place = { requestId, here, isForAnybody: true };
      request.response = await respond(explain(error, place));
    })
    .handler(handle);
}

/**
 * Explains an error in plain words, with a link to continue. Leaves out WWW-Authenticate, because
 * pages do not use tokens.
 */
export function explain(thrown: unknown, place: ErrorContext): Page {
  const error = toApiError(thrown, place.requestId);
  const { 'WWW-Authenticate': _, ...headers } = error.headers;
  const { title, text, way } = inWords(error, place);
  return {
    status: error.status,
    headers,
    title,
    content: html`<section>
      <p>${text}</p>
      ${error.status < 500 ? '' : html`<p class="soft">request_id: ${place.requestId}</p>`}
      ${nextSteps(way)}
    </section>`,
  };
}

/** Renders links to next steps as buttons, the best first. */
export function nextSteps(...ways: readonly NextStep[]): Html {
  return html`<div class="buttons">
    ${ways.map(({ href, text }, i) => html`<a class="button${i > 0 ? ' quiet' : ''}" href="${href}" rel="noreferrer">${text}</a>`)}
  </div>`;
}

/**
 * Address that signs a person in and returns to a page. With `isAnew`, the identity provider asks
 * again even a person whom it knows.
 */
export function signInUrl(return_to: string, isAnew = false): string {
  const query = new URLSearchParams({ ...(isAnew && { prompt: 'login' }), return_to });
  return `${authUrl()}/account/sign-in?${query}`;
}

function inWords(
  { code, status, message, headers }: ApiError,
  { here, isAccountGone, isBlocked, isForAnybody }: ErrorContext,
): { title: string; text: string; way: NextStep } {
  const account = { href: `${authUrl()}/account`, text: 'Go to your account' };
  const back = here === undefined ? account : { href: here, text: 'Open the page again' };
  if (code === 'invalid_token' || (code === 'not_authorized' && isAccountGone)) {
    return {
      title: 'Your account was deleted',
      text: 'Nothing was changed. If you sign in again, you get a new account.',
      way: { ...account, text: 'Sign in' },
    };
  }
  switch (code) {
    case 'not_authorized':
      return {
        title: 'You are signed out',
        text: 'Nothing was changed. Sign in to return to the page.',
        way: { href: signInUrl(here ?? account.href), text: 'Sign in' },
      };
    case 'access_denied':
      return isBlocked
        ? { title: 'Nothing was changed', text: `${message}.`, way: account }
        : { title: 'Please try again', text: `${message}.`, way: back };
    case 'limit_exceeded':
      return {
        title: 'You have reached your daily limit',
        text: `The limit depends on your karma.${headers['Retry-After'] ? ' You can continue after midnight UTC.' : ''}`,
        way: back,
      };
    case 'not_found':
    case 'method_not_allowed':
      return {
        title: code === 'not_found' ? message : 'Page not found',
        text: isForAnybody
          ? 'Check the address. If it is correct, the page was deleted or is no longer public.'
          : 'Check the address. If it is correct, the page was deleted or belongs to another account.',
        way: isForAnybody ? { href: `${authUrl()}/`, text: 'Go to the front page' } : account,
      };
    case 'service_unavailable':
      return { title: 'Please try again in a moment', text: `${message}.`, way: back };
  }
  return {
    title: status < 500 ? 'That did not work' : 'Something went wrong',
    text: `${message}.`,
    way: back,
  };
}
