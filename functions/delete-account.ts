import { html } from 'hono/html';
import * as v from 'valibot';
import { page } from '../shared/http/page.ts';
import { bodyOf } from '../shared/http/request.ts';
import { forgetSession, Session } from '../shared/http/session.ts';
import { deleteAccount } from '../shared/user/delete-account.ts';

export const request = v.object({
  caller: Session,
  body: bodyOf({ confirm: v.literal('yes', 'must be ticked') }),
});

export const handler = page(request, async ({ caller }) => {
  await deleteAccount(caller.user_id);
  return {
    title: 'Your account is gone',
    content: html`<section><p>What you have written is being erased now.</p></section>`,
    cookies: [forgetSession()],
    isFarewell: true,
  };
});
