// The pages at the end: to delete an account, and after a sign-out or deletion.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { listApplications } from '../../../core/oauth/application-repository.ts';
import { blank, type FormState, faultOf, field } from '../../../pages/form/fields.ts';
import { csrfField, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { nextSteps, signInUrl, toAccount } from '../../../pages/frame/next-steps.ts';
import { backupsInWords } from '../../../pages/frame/words.ts';
import { forgetSession, isFresh, type Session, setCookie } from '../../../pages/session/session.ts';

/** Page to delete an account. Asks the person to sign in first, unless the sign-in is recent. */
export async function deletionPage(
  session: Session,
  { user, csrf }: Visitor,
  filled: FormState = blank,
): Promise<Page> {
  const title = 'Delete your account';
  const url = `${authUrl()}/account/delete`;
  if (!isFresh(session)) {
    const signIn = { href: signInUrl(url, 'login'), text: 'Sign in again' };
    return {
      title,
      content: html`<section>
        <p>This cannot be undone. Please sign in again to confirm that it is you.</p>
        <p class="soft">If you are signed in automatically, sign out of your identity provider first.</p>
        ${nextSteps(signIn, toAccount('Keep account'))}
      </section>`,
    };
  }
  const applications = await listApplications(user.id);
  return {
    title,
    content: html`${faultOf(filled)}
      <section>
        <h2>What is deleted permanently</h2>
        <ul>
          <li>Your profile, with your name and email address</li>
          <li>All your reviews, including drafts, earlier versions and the votes on them</li>
          <li>Your votes and your reports</li>
          <li>The access of all applications that you have connected, and your personal access tokens</li>
          ${
            applications.length > 0 &&
            html`<li>
              The applications that you have registered, and the access that other people gave them:
              ${applications.map(({ name }, i) => html`${i > 0 && ', '}<strong>${name}</strong>`)}
            </li>`
          }
        </ul>
        <h2>What is kept</h2>
        <ul>
          <li>Decisions of moderators about your reviews, without their explanations and without your name</li>
          <li>The names that you gave to things, without yours: others review these things too</li>
          <li>Copies that other people have made under the licences that you chose</li>
          <li>Backups${backupsInWords()}</li>
          ${
            user.blocked_at &&
            html`<li>
              The block of your account: its date and a hash of your sign-in, without your name.
              A new account of yours is blocked too
            </li>`
          }
          <li>
            If moderators have hidden reviews of yours: the ids of these reviews and of their subjects,
            with a hash of your sign-in. A new account of yours cannot review these subjects again
          </li>
          <li>Your account at the identity provider. If you sign in again, you get a new, empty account here</li>
        </ul>
      </section>
      <section class="end">
        <form method="post" action="${url}">
          ${csrfField(csrf)}
          ${field({ name: 'name', label: `To confirm, type your name: ${user.display_name}`, maxlength: 64, isRequired: true, autocomplete: 'off', filled })}
          <button class="danger">Delete account</button>
        </form>
        <p><a href="${authUrl()}/account">Keep account</a></p>
      </section>`,
  };
}

/**
 * The last page of a session. `next` is where the identity provider ends its own, if it offers
 * that. The browser then returns to `GET /account/sign-out`, which shows the farewell again.
 */
export function farewell(reason: 'sign-out' | 'deletion', next?: string): Page {
  const isDeletion = reason === 'deletion';
  return {
    title: isDeletion ? 'Your account was deleted' : 'You are signed out',
    content: html`<section>
      ${isDeletion && html`<p>Everything that you wrote is being erased. No application can act for you now.</p>`}
      ${next && html`<p><a href="${next}">Also sign out of your identity provider</a></p>`}
      ${!next && isDeletion && html`<p>If you <a href="${authUrl()}/account">sign in</a> again, you get a new account.</p>`}
      ${!next && !isDeletion && html`<p><a href="${authUrl()}/account">Sign in again</a></p>`}
      ${!next && html`<p><a href="${authUrl()}/">Go to the front page</a></p>`}
    </section>`,
    next,
    cookies: [
      ...forgetSession(),
      isDeletion && next ? rememberDeletion() : setCookie('deleted', '', 0),
    ],
    isLast: true,
  };
}

/** Makes a Set-Cookie header that remembers a deletion until the identity provider signs out. */
export function rememberDeletion(): string {
  return setCookie('deleted', 'yes', 300);
}
