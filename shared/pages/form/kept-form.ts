// Forms with a long text, which nobody should have to type again.
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { signInUrl, toAccount } from '../frame/error-page.ts';
import { csrfField, type Html, type Page } from '../frame/layout.ts';
import { askedPath, queryOf } from '../frame/own-url.ts';

/** The fields of a form as sent, without its CSRF token. `text` is the long one. */
type Fields = Readonly<Record<string, string>>;

/**
 * Returns true if a page of ours sent the form, as browsers tell (W3C Fetch Metadata). A page of
 * ours has no Origin: its referrer policy hides it. What another site sent is never shown, because
 * it would look as if the person had typed it.
 */
export function isOwnForm(event: APIGatewayProxyEvent): boolean {
  return event.headers['sec-fetch-site'] === 'same-origin';
}

/**
 * The page for a form whose session has ended. It carries the whole form until the person has
 * signed in in another tab: no cookie is large enough, and a stranger's text is not stored.
 */
export function signedOutPage(event: APIGatewayProxyEvent, fields: Fields): Page {
  const query = queryOf(event);
  const action = `${authUrl()}${askedPath(event)}${query && `?${query}`}`;
  const others = Object.entries(fields).filter(([name]) => !['text', 'csrf'].includes(name));
  return {
    title: 'You are signed out',
    status: 401,
    content: html`<section>
      <p>Nothing was saved, and nothing is lost as long as this page stays open.</p>
      <ol>
        <li><a href="${signInUrl(toAccount().href)}" target="_blank" rel="noreferrer">Sign in in a new tab</a>.</li>
        <li>Close that tab, and continue here.</li>
      </ol>
      <form method="post" action="${action}">
        ${csrfField('')}
        ${others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
        ${typedText(fields)}
        <button>Continue</button>
      </form>
    </section>`,
  };
}

/** The text of a form that cannot be shown again, to copy from. */
export function typedText({ text }: Fields): Html | '' {
  if (!text) return '';
  // HTML ignores a first line break in a textarea.
  return html`<div class="field">
    <label for="text">What you wrote</label>
    <textarea id="text" name="text" rows="12" dir="auto" readonly>${`\n${text}`}</textarea>
  </div>`;
}
