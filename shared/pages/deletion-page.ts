import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { listApplications } from '../oauth/application-repository.ts';
import { signInUrl, waysOn } from './error-page.ts';
import { blank, type Filled, faultOf, field } from './fields.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Visitor } from './layout.ts';
import { isFresh, type Session } from './session.ts';

const title = 'Delete your account';

/** What goes with an account and what does not, for who has just signed in; others are asked to do that first. */
export async function deletionPage(
  session: Session,
  { user, csrf }: Visitor,
  filled: Filled = blank,
): Promise<Page> {
  const at = `${authUrl()}/account/delete`;
  if (!isFresh(session)) {
    return {
      title,
      content: html`<section>
        <p>This cannot be undone, so please sign in once more: it has to be you who does it.</p>
        <p class="soft">Should you be let in without a question, sign out before.</p>
        ${waysOn({ href: signInUrl(at, true), text: 'Sign in again' }, { href: `${authUrl()}/account`, text: 'Keep the account' })}
      </section>`,
    };
  }
  const applications = await listApplications(session.user_id);
  return {
    title,
    content: html`${faultOf(filled)}
      <section>
        <h2>What goes, for good</h2>
        <ul>
          <li>Your profile, with your name and email address</li>
          <li>All your reviews, with their drafts and earlier versions, and the votes that they have got</li>
          <li>Your votes on the reviews of others, and your reports</li>
          <li>The access of every application that you have connected, and your personal access tokens</li>
          ${
            applications.length > 0 &&
            html`<li>
              What you have registered, and with it the access that others gave it:
              ${applications.map(({ name }, i) => html`${i > 0 && ', '}<strong>${name}</strong>`)}
            </li>`
          }
        </ul>
        <h2>What stays</h2>
        <ul>
          <li>What moderators have decided about your reviews, without what they wrote of it and without your name</li>
          <li>Copies that others have made: the licences that you chose allow it</li>
          <li>Backups, for up to 35 days</li>
          ${
            user.blocked_at &&
            html`<li>
              The block of a moderator: a hash of who signs in, without your name, and since when.
              A new account of yours is blocked as well
            </li>`
          }
          <li>
            Hidden reviews: if a moderator has hidden some of yours, their ids and what they are of,
            with a hash of who signs in. A new account of yours cannot review these again
          </li>
          <li>Your account where you sign in: to do so again begins a new, empty account here</li>
        </ul>
      </section>
      <section class="end">
        <form method="post" action="${at}">
          ${csrfField(csrf)}
          ${field({ name: 'name', label: `To go on, type your name: ${user.display_name}`, maxlength: 64, isRequired: true, autocomplete: 'off' }, filled)}
          <button class="danger">Delete my account</button>
        </form>
        <p><a href="${authUrl()}/account">Keep the account</a></p>
      </section>`,
  };
}
