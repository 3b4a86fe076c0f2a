import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { csrfField, type Html } from './layout.ts';

/** Asks whoever is new here for a public name, with a proposal in the field. The answer leads back to the page at `return_to`. */
export function nameForm(proposal: string, csrf: string, return_to: string): Html {
  return html`<section>
    <form method="post" action="${authUrl()}/account">
      ${csrfField(csrf)}
      <input type="hidden" name="return_to" value="${return_to}">
      <label>What should others call you?
        <input type="text" name="display_name" value="${proposal}" required maxlength="128" autocomplete="nickname">
      </label>
      <p class="soft">You can change it whenever you like, on the page of your account.</p>
      <button class="quiet">Use this name</button>
    </form>
  </section>`;
}
