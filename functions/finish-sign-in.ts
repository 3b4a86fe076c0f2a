import { html } from 'hono/html';
import * as v from 'valibot';
import { ApiError, invalidRequest } from '../shared/errors.ts';
import { page, queryOf } from '../shared/pages/page.ts';
import { forgetSignIn, readSignIn, startSession } from '../shared/pages/session.ts';
import { finishSignIn } from '../shared/user/identity-provider.ts';
import { findOrCreateUser } from '../shared/user/identity-repository.ts';

export const request = v.object({});

/**
 * Receives a person whom the identity provider sends back. A new session begins, and goes on to where the person wanted. Whoever has not
 * signed in there, by "Cancel" for instance, may try again.
 */
export const handler = page(request, async (_, { event }) => {
  const signIn = await readSignIn(event);
  if (!signIn)
    throw invalidRequest('This sign-in was not begun here, or took too long: please start again');
  const identity = await finishSignIn(queryOf(event), signIn).catch(refusalOf);
  if (identity instanceof ApiError) {
    return {
      status: identity.status,
      title: 'That did not work',
      content: html`<section>
        <p>${identity.message}.</p>
        <p><a href="${signIn.return_to}">Try again</a></p>
      </section>`,
    };
  }
  const user = await findOrCreateUser(identity);
  const cookies = [await startSession(user.id), forgetSignIn(signIn)];
  return { location: signIn.return_to, cookies };
});

/** What the person can do something about. Throws all else. */
function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError && error.status < 500) return error;
  throw error;
}
