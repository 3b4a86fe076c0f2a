import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { field } from './fields.ts';
import { csrfField, type Html } from './layout.ts';

/**
 * Asks a new user for a public name and proposes one. The answer leads back to the page at
 * `return_to`.
 */
export function nameForm(proposal: string, csrf: string, return_to: string): Html {
  return html`<section>
    <form method="post" action="${authUrl()}/account">
      ${csrfField(csrf)}
      <input type="hidden" name="return_to" value="${return_to}">
      ${field({
        name: 'display_name',
        label: 'What should others call you?',
        hint: 'You can change it at any time in your account.',
        value: proposal,
        maxlength: 64,
        isRequired: true,
        autocomplete: 'nickname',
      })}
      <button class="quiet">Use this name</button>
    </form>
  </section>`;
}
