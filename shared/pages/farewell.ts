import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Page } from './html-response.ts';
import { forgetDeletion, forgetSession, rememberDeletion } from './session.ts';

/**
 * The last page of a session. `next` is where the identity provider ends its own session, if it
 * offers that. The browser goes there, then returns to `GET /account/sign-out`, which shows the
 * farewell again.
 */
export function farewell(reason: 'sign-out' | 'deletion', next?: string): Page {
  const isDeletion = reason === 'deletion';
  const account = `${authUrl()}/account`;
  return {
    title: isDeletion ? 'Your account was deleted' : 'You are signed out',
    content: html`<section>
      ${isDeletion && html`<p>Everything that you wrote is being erased. No application can act for you now.</p>`}
      ${next && html`<p><a href="${next}">Also sign out of your identity provider</a></p>`}
      ${!next && isDeletion && html`<p>If you <a href="${account}">sign in</a> again, you get a new account.</p>`}
      ${!next && !isDeletion && html`<p><a href="${account}">Sign in again</a></p>`}
      ${!next && html`<p><a href="${authUrl()}/">Go to the front page</a></p>`}
    </section>`,
    next,
    cookies: [forgetSession(), isDeletion && next ? rememberDeletion() : forgetDeletion()],
    isLast: true,
  };
}
