import * as v from 'valibot';
import { findOrCreateUser } from '../../shared/account/identity-repository.ts';
import { authUrl } from '../../shared/auth-url.ts';
import { ApiError } from '../../shared/errors.ts';
import { findApplication } from '../../shared/oauth/application-repository.ts';
import { findAuthorizationRequest } from '../../shared/oauth/authorization-repository.ts';
import { answerUri } from '../../shared/oauth/authorization-request.ts';
import { backTo, obstaclePage } from '../../shared/pages/application/consent-page.ts';
import { page } from '../../shared/pages/form/page.ts';
import { namePageUrl, signInUrl } from '../../shared/pages/frame/next-steps.ts';
import { queryOf } from '../../shared/pages/frame/own-url.ts';
import { openRequest } from '../../shared/pages/session/sealed.ts';
import { forgetSignIn, readSignIn, startSession } from '../../shared/pages/session/session.ts';
import { finishSignIn } from '../../shared/user/identity-provider.ts';

/**
 * Receives a person from the identity provider, starts a session and continues to the requested
 * page. Everybody new chooses a name first. A person who canceled may try again or return to the
 * application.
 */
export const handler = page(v.object({}), async (_, { event }) => {
  const signIn = await readSignIn(event);
  if (!signIn) {
    return obstaclePage({
      title: 'You are not signed in',
      what: 'This sign-in started in another browser, or it took too long. Please sign in again',
      ways: [{ href: signInUrl(`${authUrl()}/account`), text: 'Sign in' }],
    });
  }
  const signedIn = await finishSignIn(queryOf(event), signIn).catch(refusalOf);
  if (signedIn instanceof ApiError) return notSignedIn(signedIn, signIn.return_to);
  const user = await findOrCreateUser(signedIn.identity);
  const cookies = [await startSession(user.id, signedIn.authenticated), forgetSignIn(signIn)];
  const { return_to } = signIn;
  const isAsked = user.has_proposed_name && !(signedIn.isNamed && asksItself(return_to));
  return { location: isAsked ? namePageUrl(return_to) : return_to, cookies };
});

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

async function notSignedIn({ status, message }: ApiError, return_to: string) {
  const authorization = await findAuthorization(new URL(return_to).searchParams);
  const application = authorization && (await findApplication(authorization.client_id));
  const ways = [{ href: return_to, text: 'Try again' }];
  if (application) {
    const { redirect_uri } = application;
    const refusal = answerUri(redirect_uri, authorization.state, authUrl(), {
      error: 'access_denied',
    });
    ways.push(backTo(application, refusal));
  }
  return obstaclePage({ title: 'You are not signed in', application, what: message, ways, status });
}

async function findAuthorization(query: URLSearchParams) {
  const sealed = query.get('sealed_request');
  // The request may have expired.
  if (sealed !== null) return openRequest(sealed).catch(() => undefined);
  return findAuthorizationRequest(query.get('request_id') ?? '');
}
