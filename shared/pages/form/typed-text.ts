// A long text that a person has typed, kept through an error or a sign-in.
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import { csrfField, type Html, type Page } from '../frame/layout.ts';
import { signInUrl, toAccount } from '../frame/next-steps.ts';
import { queryOf, requestedPath } from '../frame/own-url.ts';
import type { SentForm } from './sent-form.ts';

/**
 * The page for a form whose session has ended. It carries the whole form until the person has
 * signed in in another tab: no cookie is large enough, and a stranger's text is not stored.
 */
export function signedOutPage(
  event: APIGatewayProxyEvent,
  { csrf: _, ...fields }: SentForm,
  longField: string,
): Page {
  const query = queryOf(event);
  const action = `${authUrl()}${requestedPath(event)}${query && `?${query}`}`;
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
        ${Object.entries(fields).map(([name, value]) =>
          name === longField
            ? typedText(value, name)
            : html`<input type="hidden" name="${name}" value="${value}">`,
        )}
        <button>Continue</button>
      </form>
    </section>`,
  };
}

/** The text of a form that cannot be shown again, to copy from. */
export function typedText(text: string | undefined, name = 'text'): Html | '' {
  if (!text) return '';
  // HTML ignores a first line break in a textarea.
  return html`<div class="field">
    <label for="${name}">Your text</label>
    <textarea id="${name}" name="${name}" rows="12" dir="auto" readonly>${`\n${text}`}</textarea>
  </div>`;
}
