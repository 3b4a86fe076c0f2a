import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Page } from './html-response.ts';
import { forgetDeletion, forgetSession, rememberDeletion } from './session.ts';

/**
 * The last page of a session. `next` is where the identity provider ends its own, if it offers that: the browser goes on there, and comes
 * back to `GET /account/sign-out`, which says farewell again.
 */
export function farewell(reason: 'sign-out' | 'deletion', next?: string): Page {
  const isDeletion = reason === 'deletion';
  const account = `${authUrl()}/account`;
  return {
    title: isDeletion ? 'Your account is gone' : 'You are signed out',
    content: html`<section>
      ${isDeletion && html`<p>What you have written is being erased now, and no application can act for you any more.</p>`}
      ${next && html`<p><a href="${next}">Sign out where you signed in, too</a></p>`}
      ${!next && isDeletion && html`<p>Should you come back one day: <a href="${account}">sign in</a>, and a new account begins.</p>`}
      ${!next && !isDeletion && html`<p><a href="${account}">Sign in again</a></p>`}
      ${!next && html`<p><a href="${authUrl()}/">Go to the front page</a></p>`}
    </section>`,
    next,
    cookies: [forgetSession(), isDeletion && next ? rememberDeletion() : forgetDeletion()],
    isLast: true,
  };
}
