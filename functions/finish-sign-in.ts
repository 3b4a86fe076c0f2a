import * as v from 'valibot';
import { findOrCreateUser } from '../shared/account/identity-repository.ts';
import { authUrl } from '../shared/auth-url.ts';
import { ApiError } from '../shared/errors.ts';
import { findApplication } from '../shared/oauth/application-repository.ts';
import { findAuthorizationRequest } from '../shared/oauth/authorization-repository.ts';
import { answerUri } from '../shared/oauth/authorization-request.ts';
import { backTo, obstaclePage } from '../shared/pages/consent-page.ts';
import { signInUrl } from '../shared/pages/error-page.ts';
import type { Page } from '../shared/pages/html-response.ts';
import { queryOf } from '../shared/pages/own-url.ts';
import { page } from '../shared/pages/page.ts';
import { openRequest } from '../shared/pages/sealed-request.ts';
import { forgetSignIn, readSignIn, startSession } from '../shared/pages/session.ts';
import { finishSignIn } from '../shared/user/identity-provider.ts';

export const request = v.object({});

/**
 * Receives a person whom the identity provider sends back. A new session begins, and goes on to where the person wanted. Whoever has not
 * signed in there, by "Cancel" for instance, may try again, or go back to the application that asked.
 */
export const handler = page(request, async (_, { event }) => {
  const signIn = await readSignIn(event);
  if (!signIn) {
    return obstaclePage({
      title: 'You are not signed in',
      application: undefined,
      what: 'This sign-in was not begun in this browser, or it took too long',
      ways: [{ href: signInUrl(`${authUrl()}/account`), text: 'Sign in' }],
    });
  }
  const signedIn = await finishSignIn(queryOf(event), signIn).catch(refusalOf);
  if (signedIn instanceof ApiError) return notSignedIn(signedIn, signIn.return_to);
  const user = await findOrCreateUser(signedIn.identity);
  const cookies = [await startSession(user.id, signedIn.authenticated), forgetSignIn(signIn)];
  return { location: signIn.return_to, cookies };
});

/** What the person can do something about. Throws all else. */
function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError && error.status < 500) return error;
  throw error;
}

async function notSignedIn({ status, message }: ApiError, return_to: string): Promise<Page> {
  const asked = await findAsked(new URL(return_to).searchParams);
  const application = asked && (await findApplication(asked.client_id));
  const again = { href: return_to, text: 'Try again' };
  const denied = { error: 'access_denied' } as const;
  const back = application && [
    backTo(application, answerUri(application.redirect_uri, asked.state, authUrl(), denied)),
  ];
  return obstaclePage({
    title: 'You are not signed in',
    application,
    what: message,
    ways: [again, ...(back ?? [])],
    status,
  });
}

/** The authorization request in the middle of which somebody was to sign in, if it was for one. */
async function findAsked(query: URLSearchParams) {
  const sealed = query.get('sealed_request');
  // It may have become too old by now.
  if (sealed !== null) return openRequest(sealed).catch(() => undefined);
  return findAuthorizationRequest(query.get('request_id') ?? '');
}
