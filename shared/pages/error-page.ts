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

/** What an error page knows of who asked, and where. */
export interface Place {
  requestId: string;
  /** The page to go back to. */
  here?: string;
  /** Set for the session of an account that is no more. */
  isAccountGone?: boolean;
  /** Set where a moderator has blocked the account. */
  isBlocked?: boolean;
  /** Set where nothing is known of who asked: there is no account to go to. */
  isForAnybody?: boolean;
}

/** A link of a page on which there is nothing else to do. */
export interface Way {
  href: string;
  text: string;
}

/**
 * A Lambda handler for browsers. Whatever is thrown becomes a page, never a redirect, as `endpoint`
 * makes it JSON: for those of whom nothing is known.
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

/** What happened, in plain words, and the right way on. Pages know no tokens, so none is asked for. */
export function explain(thrown: unknown, place: Place): Page {
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
      ${waysOn(way)}
    </section>`,
  };
}

/** Links to what can be done now, the best first. */
export function waysOn(...ways: readonly Way[]): Html {
  return html`<div class="buttons">
    ${ways.map(({ href, text }, i) => html`<a class="button${i > 0 ? ' quiet' : ''}" href="${href}" rel="noreferrer">${text}</a>`)}
  </div>`;
}

/** The way to sign in, and from there back to a page. With `isAnew` also who is known at the identity provider signs in. */
export function signInUrl(return_to: string, isAnew = false): string {
  const query = new URLSearchParams({ ...(isAnew && { prompt: 'login' }), return_to });
  return `${authUrl()}/account/sign-in?${query}`;
}

function inWords(
  { code, status, message }: ApiError,
  { here, isAccountGone, isBlocked, isForAnybody }: Place,
): { title: string; text: string; way: Way } {
  const account = { href: `${authUrl()}/account`, text: 'Go to your account' };
  const back = here === undefined ? account : { href: here, text: 'Open the page again' };
  if (code === 'invalid_token' || (code === 'not_authorized' && isAccountGone)) {
    return {
      title: 'Your account is gone',
      text: 'It has been deleted, so nothing was changed. To sign in begins a new one.',
      way: { ...account, text: 'Sign in' },
    };
  }
  switch (code) {
    case 'not_authorized':
      return {
        title: 'You are signed out',
        text: 'Nothing was changed. Sign in, and you are back where you were.',
        way: { href: signInUrl(here ?? account.href), text: 'Sign in' },
      };
    case 'access_denied':
      return isBlocked
        ? { title: 'Nothing was changed', text: `${message}.`, way: account }
        : { title: 'Please try again', text: `${message}.`, way: back };
    case 'limit_exceeded':
      return {
        title: 'That was all for today',
        text: 'Your daily limit is used up. It depends on your karma, and a new day begins at midnight UTC.',
        way: back,
      };
    case 'not_found':
    case 'method_not_allowed':
      return {
        title: code === 'not_found' ? message : 'Page not found',
        text: isForAnybody
          ? 'It is not at this address, or it is no longer public.'
          : 'It is not at this address, or not any more, or it is somebody else’s.',
        way: isForAnybody ? { href: `${authUrl()}/`, text: 'Go to the first page' } : account,
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
