import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import type { Contact, User } from '../user/user.ts';
import { userTypeOf } from '../user/user-type.ts';
import { blank, type Filled, faultOf, field } from './fields.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Html } from './layout.ts';

/** The account of a person, with the profile as it is or as it was sent. */
export function accountPage(
  { user, contact }: { user: User; contact: Contact },
  csrf: string,
  filled: Filled = blank,
): Page {
  return {
    title: user.display_name,
    asksNoName: true,
    content: html`${faultOf(filled)}
      ${profile(user, contact, csrf, filled)}
      ${standing(user)}
      <section>
        <h2>Personal access tokens</h2>
        <p>For scripts of your own: an access token in a minute, without an application.</p>
        <p><a class="button quiet" href="${authUrl()}/account/tokens">Your tokens</a></p>
      </section>
      <section>
        <h2>Your data</h2>
        <p>Everything that is stored about you, in a file for programs and people (JSON): your profile, reviews, votes and all else.</p>
        <p><a class="button quiet" href="${authUrl()}/account/data">Download my data</a></p>
      </section>
      <section>
        <h2>Delete the account</h2>
        <p>With all that you have written. You are told what that means before anything happens.</p>
        <p><a class="button danger" href="${authUrl()}/account/delete">Delete my account …</a></p>
      </section>`,
  };
}

function profile(user: User, contact: Contact, csrf: string, filled: Filled): Html {
  const { return_to } = filled.values;
  return html`<section>
    <h2>Profile</h2>
    ${user.has_proposed_name && html`<p>You are new here: keep this name or choose another, then save it.</p>`}
    <form method="post" action="${authUrl()}/account">
      ${csrfField(csrf)}
      ${return_to && html`<input type="hidden" name="return_to" value="${return_to}">`}
      ${field(
        {
          name: 'display_name',
          label: 'Public name',
          value: user.display_name,
          maxlength: 64,
          isRequired: true,
          autocomplete: 'nickname',
        },
        filled,
      )}
      ${field(
        {
          name: 'email',
          label: 'Email address',
          hint: 'Shown to applications that you connect, not to other people.',
          type: 'email',
          value: contact.email ?? '',
          maxlength: 254,
          autocomplete: 'email',
        },
        filled,
      )}
      <button>Save</button>
    </form>
  </section>`;
}

function standing({ karma, id }: User): Html {
  const { label, votes_per_day } = userTypeOf(karma);
  return html`<section>
    <h2>Standing</h2>
    <dl>
      <dt>Karma</dt><dd>${karma}</dd>
      <dt>User type</dt><dd>${label}: votes on up to ${votes_per_day} reviews a day</dd>
      <dt>User id</dt><dd><code>${id}</code></dd>
    </dl>
  </section>`;
}
