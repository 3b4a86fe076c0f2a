import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { ApiError } from '../../shared/base/errors.ts';
import { findApplication } from '../../shared/core/oauth/application-repository.ts';
import { findAuthorizationRequest } from '../../shared/core/oauth/authorization-repository.ts';
import { answerUri } from '../../shared/core/oauth/authorization-request.ts';
import type { Identity } from '../../shared/core/user/identity.ts';
import {
  FormerIdentity,
  findOrCreateUser,
  finishSignIn,
  type MoveOutcome,
  moveIdentity,
} from '../../shared/features/account/public.ts';
import { InvitationToken, takesInvitations } from '../../shared/features/members/public.ts';
import { undoUrl } from '../../shared/features/notices/public.ts';
import { backTo, obstaclePage } from '../../shared/pages/application/consent-page.ts';
import { page } from '../../shared/pages/form/page.ts';
import type { Redirect } from '../../shared/pages/frame/html-response.ts';
import type { Page, Visitor } from '../../shared/pages/frame/layout.ts';
import {
  namePageUrl,
  nextSteps,
  signInUrl,
  toAccount,
} from '../../shared/pages/frame/next-steps.ts';
import { askOperator } from '../../shared/pages/frame/operator.ts';
import { queryOf } from '../../shared/pages/frame/own-url.ts';
import { openRequest } from '../../shared/pages/session/sealed.ts';
import {
  forgetSignIn,
  keepIdToken,
  readSignIn,
  startSession,
} from '../../shared/pages/session/session.ts';

/**
 * Receives a person from the identity provider, starts a session and continues to the requested
 * page. Everybody new chooses a name first. A person who canceled may try again or return to the
 * application. A sign-in to move an account moves it to this identity.
 */
export const handler = page(v.object({}), async (_, { event, visitor }) => {
  const signIn = await readSignIn(event);
  if (!signIn) return visitor ? { location: '/account' } : lostPage();
  const { return_to, moves } = signIn;
  const looked = Date.now();
  const signedIn = await finishSignIn(queryOf(event), signIn).catch(refusalOf);
  if (signedIn instanceof ApiError) return notSignedIn(signedIn, return_to, visitor);
  const { identity, authenticated, idToken } = signedIn;
  const entry =
    moves === undefined
      ? await enter(identity, return_to)
      : await move(identity, visitor?.user.id === moves ? moves : undefined);
  const over = forgetSignIn(signIn);
  if ('content' in entry) return { ...entry, cookies: [over] };
  const { user_id, signed_in = looked, ...redirect } = entry;
  if (user_id === undefined) return { ...redirect, cookies: [over] };
  const session = await startSession(user_id, { signed_in, authenticated });
  const hint = idToken ? keepIdToken(idToken, redirect.location) : [];
  return { ...redirect, cookies: [session, ...hint, over] };
});

/** A redirect, and the account whose session begins. */
interface Entry extends Redirect {
  user_id?: string;
  /** As in the session, if it is later than the sign-in. */
  signed_in?: number;
}

async function enter(identity: Identity, return_to: string): Promise<Entry | Page> {
  const invitation = invitationIn(return_to);
  try {
    const user = await findOrCreateUser(identity, invitation);
    const isNamed = identity.display_name !== null;
    const isAsked = user.has_proposed_name && !(isNamed && asksItself(return_to));
    const next = invitation === undefined ? return_to : `${authUrl()}/`;
    return { user_id: user.id, location: isAsked ? namePageUrl(next) : next };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      return strangerPage(identity, invitation && error.message);
    }
    if (!(error instanceof FormerIdentity)) throw error;
    return { location: await undoUrl({ user_id: error.user_id, from: error.identity }) };
  }
}

/** Moves the account of the person who is signed in, and has begun this. */
async function move(identity: Identity, user_id: string | undefined): Promise<Entry | Page> {
  if (user_id === undefined) return unmoved('You were signed out in the meantime');
  const outcome = await moveIdentity(user_id, identity);
  if (outcome !== 'moved') return unmoved(obstacles[outcome]);
  // The move has ended all sessions until now.
  const signed_in = Date.now() + 1;
  return { user_id, signed_in, location: '/account', notice: 'address-moved' };
}

/** Sentences for the person who has proved to have the identity, and so may know. */
const obstacles: Readonly<Record<Exclude<MoveOutcome, 'moved'>, string>> = {
  same: 'You sign in so already. If your identity provider did not ask who you are, sign out there first',
  early: 'Your address was changed in the last seven days. It can be changed again after that',
  taken:
    'This address has another account here. If you want to use it for this one, sign in with it and delete that account first',
};

function unmoved(why: string): Page {
  return obstaclePage({
    title: 'Your address was not changed',
    what: `${why}. Nothing was changed`,
    ways: [toAccount()],
  });
}

/** The token of the invitation that a person opened, to whose page the sign-in returns. */
function invitationIn(return_to: string): string | undefined {
  const [, token] = return_to.split(`${authUrl()}/join/`);
  return v.is(InvitationToken, token) ? token : undefined;
}

/**
 * The page for somebody who has proved who it is, is not on the list of members, and has no
 * invitation, or one that has ended for this reason.
 */
function strangerPage({ email }: Identity, reason: string | undefined): Page {
  return {
    status: 403,
    title: 'This place is for its members',
    content: html`<section>
      ${reason && html`<p>${reason}. Ask the person who gave you the link for another one.</p>`}
      <p>${email ? html`<bdi>${email}</bdi> is not an address of a member` : 'Your identity provider gives no verified address'}, so no account was opened. Everybody can read without one.</p>
      ${takesInvitations() && !reason && html`<p>Moderators can invite you: ask one for a link. Open the link, and sign in from there.</p>`}
      <p>If you are a member, sign in with the address that the club has of you, or ${askOperator()}.</p>
      ${nextSteps(
        { href: signInUrl(`${authUrl()}/account`, 'login'), text: 'Sign in with another address' },
        { href: `${authUrl()}/`, text: 'Read reviews' },
      )}
    </section>`,
  };
}

function lostPage(): Page {
  return obstaclePage({
    title: 'You are not signed in',
    what: 'This sign-in started in another browser, or it took too long. Please sign in again',
    ways: [{ href: signInUrl(`${authUrl()}/account`), text: 'Sign in' }],
  });
}

/** Returns true for pages that show the name: the account, and consent to an application. */
function asksItself(return_to: string): boolean {
  const own = ['/account', '/oauth/authorize'].map((path) => new URL(authUrl() + path).pathname);
  return own.includes(new URL(return_to).pathname);
}

/** Returns an error that the person can act on. Throws any other error. */
function refusalOf(error: unknown) {
  if (error instanceof ApiError && error.status < 500) return error;
  throw error;
}

async function notSignedIn({ status, message }: ApiError, return_to: string, visitor?: Visitor) {
  const authorization = await findAuthorization(new URL(return_to).searchParams);
  const application = authorization && (await findApplication(authorization.client_id));
  const ways = [{ href: return_to, text: visitor ? 'Go back' : 'Try again' }];
  if (application) {
    const { redirect_uri } = application;
    const refusal = answerUri(redirect_uri, authorization.state, authUrl(), {
      error: 'access_denied',
    });
    ways.push(backTo(application, refusal));
  }
  if (visitor) {
    const what = `${message}. You are still signed in as ${visitor.user.display_name}`;
    return obstaclePage({ title: 'Nothing was changed', application, what, ways, status });
  }
  return obstaclePage({ title: 'You are not signed in', application, what: message, ways, status });
}

async function findAuthorization(query: URLSearchParams) {
  const sealed = query.get('sealed_request');
  // The request may have expired.
  if (sealed !== null) return openRequest(sealed).catch(() => undefined);
  return findAuthorizationRequest(query.get('request_id') ?? '');
}
