import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { page } from '../shared/http/page.ts';
import { forgetSession, Session } from '../shared/http/session.ts';
import { updateProfile } from '../shared/user/user-repository.ts';

export const request = v.object({ caller: Session });

/** Ends every session of the person, also one whose cookie somebody else has got hold of. */
export const handler = page(request, async ({ caller }) => {
  await updateProfile(caller.user_id, { signed_out: Date.now() });
  return {
    title: 'You are signed out',
    content: html`<section><p><a href="${authUrl()}/account">Sign in again</a></p></section>`,
    cookies: [forgetSession()],
    isFarewell: true,
  };
});
