// Links from a page to what a person may do next.
import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import type { Html } from './layout.ts';
import { withQuery } from './own-url.ts';
import { star } from './stars.ts';

/** A link to a next step. */
export interface NextStep {
  href: string;
  text: string;
}

/** The link to the account. */
export function toAccount(text = 'Go to your account'): NextStep {
  return { href: `${authUrl()}/account`, text };
}

/** The link to the search for something to review. */
export function toFind(text = 'Find something to review'): NextStep {
  return { href: `${authUrl()}/find`, text };
}

/** Address that signs a person in and returns to a page. `prompt: login` asks even known people. */
export function signInUrl(return_to: string, prompt?: 'login'): string {
  return withQuery(`${authUrl()}/account/sign-in`, { prompt, return_to });
}

/** Renders links to next steps as buttons, the best first. */
export function nextSteps(...ways: readonly NextStep[]): Html {
  return html`<div class="buttons">
    ${ways.map(({ href, text }, i) => html`<a class="button${i > 0 ? ' quiet' : ''}" href="${href}" rel="noreferrer">${text}</a>`)}
  </div>`;
}

/** A place that is still empty: a picture of no stars, a text, and links to next steps. */
export function nothingYet(text: Html | string, ...ways: readonly NextStep[]): Html {
  return html`<section class="nothing">
    <p class="none" aria-hidden="true">${[star, star, star, star, star]}</p>
    <p>${text}</p>
    ${nextSteps(...ways)}
  </section>`;
}

/**
 * Address of the page to choose a public name, which then continues to `return_to`. It asks only
 * new people, unless the person wants to `change` the name.
 */
export function namePageUrl(return_to: string, change?: 'name'): string {
  return withQuery(`${authUrl()}/account`, { return_to, change });
}
