// Errors as pages, and the handler that all pages have in common.
import middy from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import type { ApiError } from '../../base/errors.ts';
import { site } from '../../base/site/site.ts';
import { noteColdStart } from '../../core/http/cold-start.ts';
import type { RequestIds } from '../../core/http/request-ids.ts';
import { headResponse, toApiError } from '../../core/http/response.ts';
import { wholeEvent } from '../../core/http/whole-event.ts';
import { respond } from './html-response.ts';
import type { Page } from './layout.ts';
import { type NextStep, nextSteps, signInUrl, toAccount } from './next-steps.ts';
import { openerPolicy } from './opener-policy.ts';
import { askOperator } from './operator.ts';
import { requestedPath } from './own-url.ts';

interface Context {
  ids: RequestIds;
  /** Page to go back to. */
  here?: string;
  isAccountGone?: boolean;
  isBlocked?: boolean;
  /** Set if the visitor is unknown, so that there is no account to link to. */
  isForAnybody?: boolean;
}

/** Makes a Lambda handler for browsers that knows no visitor. Errors become pages, no redirects. */
export function browserHandler(
  handle: (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult> | APIGatewayProxyResult,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(noteColdStart())
    .use(headResponse())
    .use(wholeEvent())
    .use(openerPolicy())
    .onError(async (request) => {
      const { event, error } = request;
      const here = event.httpMethod === 'POST' ? undefined : authUrl() + requestedPath(event);
      request.response = await respond(
        explain(error, { ids: event.requestContext, here, isForAnybody: true }),
      );
    })
    .handler(handle);
}

/** Explains an error in plain words, with a link to continue. */
export function explain(thrown: unknown, place: Context): Page {
  const error = toApiError(thrown, place.ids);
  const { status } = error;
  // Pages use no tokens.
  const { 'WWW-Authenticate': _, ...headers } = error.headers;
  const [title, text, way] = inWords(error, place);
  const content = html`<section>
      <p>${text}</p>
      ${status >= 500 && html`<p class="soft">request_id: ${place.ids.requestId}</p>`}
      ${status >= 500 && site().contact && html`<p>If it happens again, ${askOperator()}, and name the request_id.</p>`}
      ${nextSteps(way)}
    </section>`;
  return { status, headers, title, content };
}

function inWords(
  { code, status, message, headers }: ApiError,
  { here, isAccountGone, isBlocked, isForAnybody }: Context,
): [title: string, text: string, way: NextStep] {
  const back = here === undefined ? toAccount() : { href: here, text: 'Open the page again' };
  if (code === 'invalid_token' || (code === 'not_authorized' && isAccountGone)) {
    const text = 'Nothing was changed. If you sign in again, you get a new account.';
    return ['Your account was deleted', text, toAccount('Sign in')];
  }
  switch (code) {
    case 'not_authorized': {
      const way = { href: signInUrl(here ?? toAccount().href), text: 'Sign in' };
      return ['You are signed out', 'Nothing was changed. Sign in to return to the page.', way];
    }
    case 'access_denied':
      return isBlocked
        ? ['Nothing was changed', `${message}.`, toAccount()]
        : ['Please try again', `${message}.`, back];
    case 'limit_exceeded': {
      const until = headers['Retry-After'] ? ' You can continue after midnight UTC.' : '';
      const text = `${message}.${until}`;
      return ['You have reached your daily limit', text, back];
    }
    case 'not_found':
    case 'method_not_allowed': {
      const reason = isForAnybody ? 'is no longer public' : 'belongs to another account';
      return [
        code === 'not_found' ? message : 'Page not found',
        `Check the address. If it is correct, the page was deleted or ${reason}.`,
        isForAnybody ? { href: `${authUrl()}/`, text: 'Go to the front page' } : toAccount(),
      ];
    }
    case 'service_unavailable':
    case 'too_many_requests':
      return Number(headers['Retry-After']) > 1
        ? ['Nothing can be saved right now', `${message}.`, back]
        : ['Please try again in a moment', `${message}.`, back];
  }
  return [status < 500 ? 'That did not work' : 'Something went wrong', `${message}.`, back];
}
