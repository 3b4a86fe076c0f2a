import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import { displayName, field } from '../form/fields.ts';
import { csrfField, type Page, type Visitor } from '../frame/layout.ts';
import { withQuery } from '../frame/own-url.ts';

/** Address of the page to choose a public name, which then continues to `return_to`. */
export function namePageUrl(return_to: string): string {
  return withQuery(`${authUrl()}/account`, { return_to });
}

/** Asks a new person for a public name if the identity provider sent none, and proposes one. */
export function namePage({ user, csrf }: Visitor, return_to: string): Page {
  return {
    title: 'Choose your public name',
    content: html`<section>
      <p>Others see this name beside what you write.</p>
      <form method="post" action="${authUrl()}/account">
        ${csrfField(csrf)}
        <input type="hidden" name="return_to" value="${return_to}">
        ${field({
          ...displayName,
          label: 'Public name',
          hint: 'You can change it at any time in your account.',
          value: user.display_name,
        })}
        <button>Save and continue</button>
      </form>
    </section>`,
  };
}
