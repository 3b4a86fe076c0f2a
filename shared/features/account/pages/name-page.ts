import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { displayName, field } from '../../../pages/form/fields.ts';
import { csrfField, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { linksForNewcomers } from '../../../pages/frame/own-pages.ts';

/** Asks a person for a public name, and proposes one. Everybody new is asked once. */
export function namePage(
  { user, csrf }: Visitor,
  return_to: string,
  proposed = user.display_name,
): Page {
  return {
    title: 'Choose your public name',
    content: html`<section>
      <p>Others see this name beside what you write.</p>
      ${linksForNewcomers()}
      <form method="post" action="${authUrl()}/account">
        ${csrfField(csrf, { return_to })}
        ${field({
          ...displayName,
          label: 'Public name',
          hint: 'You can change it at any time in your account.',
          value: proposed,
        })}
        <button>Save and continue</button>
      </form>
    </section>`,
  };
}
