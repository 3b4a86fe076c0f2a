// Pages to sign in with another address, and to undo that.
import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../../base/auth-url.ts';
import { invalidRequest } from '../../../base/errors.ts';
import { epochSeconds, isoOf } from '../../../base/time.ts';
import { isMailing } from '../../../core/user/notice.ts';
import type { Contact } from '../../../core/user/user.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { nextSteps, signInUrl, toAccount } from '../../../pages/frame/next-steps.ts';
import { withQuery } from '../../../pages/frame/own-url.ts';
import { dayOf } from '../../../pages/frame/words.ts';
import { open, seal } from '../../../pages/session/sealed.ts';
import { isFresh, type Session } from '../../../pages/session/session.ts';

const path = '/account/address';

/** Seconds from the button to the sign-in, which the provider asks for next. */
const moveLifetime = 300;

/** The part of the account page about the address that signs in. */
export function signInSection({ sign_in_email }: Contact): Html {
  return html`<section id="sign-in">
    <h2>Sign-in</h2>
    <p>${sign_in_email ? html`You sign in with <strong>${sign_in_email}</strong>.` : 'You sign in at your identity provider.'} The email address in your profile is another thing.</p>
    <p><a class="button quiet" href="${authUrl()}${path}">Sign in with another address</a></p>
  </section>`;
}

/** Page to begin a move. Asks the person to sign in first, unless the sign-in is recent. */
export function movePage(session: Session, { csrf }: Visitor, contact: Contact): Page {
  const title = 'Sign in with another address';
  const { moved, sign_in_email = 'your present sign-in' } = contact;
  if (moved !== undefined && moved.until > epochSeconds()) {
    return {
      title,
      content: html`<section>
        <p>Your address was changed in the last seven days. You can change it again after ${dayOf(isoOf(moved.until))}.</p>
        ${nextSteps(toAccount())}
      </section>`,
    };
  }
  if (!isFresh(session)) {
    const signIn = { href: signInUrl(`${authUrl()}${path}`, 'login'), text: 'Sign in again' };
    return {
      title,
      content: html`<section>
        <p>This changes who can open your account. Please sign in again, as now, to confirm that it is you.</p>
        ${nextSteps(signIn, toAccount('Keep the address'))}
      </section>`,
    };
  }
  return {
    title,
    content: html`<section>
      <p>You sign in with the new address once, to show that it is yours. Then:</p>
      <ul>
        <li>Only the new address opens your account. ${sign_in_email} no longer does</li>
        <li>All other devices are signed out. Applications that you have connected stay connected</li>
        <li>${isMailing() ? `We write to ${sign_in_email}. For` : 'For'} seven days, ${sign_in_email} can undo the change</li>
      </ul>
      <form method="post" action="${authUrl()}${path}">
        ${csrfField(csrf)}
        <div class="buttons"><button>Continue with the new address</button></div>
      </form>
      <p><a href="${authUrl()}/account">Keep the address</a></p>
    </section>`,
  };
}

/** Page that leads to the sign-in with the new address, by which the account of a person moves. */
export async function moveSignInPage(user_id: string): Promise<Page> {
  const move = await seal('move', { user_id }, moveLifetime);
  const return_to = `${authUrl()}${path}`;
  const next = withQuery(`${authUrl()}/account/sign-in`, { prompt: 'login', return_to, move });
  return {
    title: 'Sign in with the new address',
    content: html`<section><p><a href="${next}">Continue to the sign-in</a></p></section>`,
    next,
    isLast: true,
  };
}

/** Returns the account that a sign-in moves. Throws ApiError 400 if the link is too old. */
export async function readMove(move: string): Promise<string> {
  const opened = await open('move', v.object({ user_id: v.string() }), move);
  if (!opened) throw invalidRequest('This page is too old: start again from your account');
  return opened.content.user_id;
}

/** Asks whether to undo a move. A page changes nothing, because mail scanners open every link. */
export function undoPage(): Page {
  return {
    title: 'Take your account back',
    content: html`<section>
      <p>Your account signs in with another address now. If you changed that, close this page: there is nothing to do.</p>
      <p>If you did not, take the account back:</p>
      <ul>
        <li>It signs in with your address again, and with no other</li>
        <li>All devices are signed out</li>
        <li>Connected applications and personal access tokens lose their access</li>
      </ul>
      <form method="post"><button>Take the account back</button></form>
    </section>`,
    isLast: true,
  };
}

/** Says that a move was undone. */
export function undonePage(): Page {
  const signIn = { href: signInUrl(`${authUrl()}/account`), text: 'Sign in' };
  return {
    title: 'The account is yours again',
    content: html`<section>
      <p>Sign in with your address. Then look at your profile, your reviews and the applications that you have registered: somebody else may have changed them.</p>
      ${nextSteps(signIn)}
    </section>`,
    isLast: true,
  };
}
