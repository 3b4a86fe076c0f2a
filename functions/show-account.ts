import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { notFound } from '../shared/errors.ts';
import { csrfField } from '../shared/pages/layout.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { findAccount } from '../shared/user/user-repository.ts';
import { userTypeOf } from '../shared/user/user-type.ts';

export const request = v.object({ caller: Session });

export const handler = page(request, async ({ caller }, { visitor }) => {
  const account = await findAccount(caller.user_id);
  if (!account) throw notFound('User');
  const { user, contact } = account;
  const { label, votes_per_day } = userTypeOf(user.karma);
  const csrf = csrfField(visitor.csrf);
  return {
    title: user.display_name,
    hasNameField: true,
    content: html`<section>
        <h2>Standing</h2>
        <dl>
          <dt>Karma</dt><dd>${user.karma}</dd>
          <dt>User type</dt><dd>${label}: votes on up to ${votes_per_day} reviews a day</dd>
          <dt>User id</dt><dd><code>${user.id}</code></dd>
        </dl>
      </section>
      <section>
        <h2>Profile</h2>
        ${user.has_proposed_name && html`<p>You are new here: keep this name or choose another, then save it.</p>`}
        <form method="post" action="${authUrl()}/account">
          ${csrf}
          <label>Public name
            <input type="text" name="display_name" value="${user.display_name}" required maxlength="128" autocomplete="nickname">
          </label>
          <label>Email address (shown to applications that you connect, not to other people)
            <input type="email" name="email" value="${contact.email ?? ''}" maxlength="254" autocomplete="email">
          </label>
          <button>Save</button>
        </form>
      </section>
      <section>
        <h2>Delete the account</h2>
        <p>
          This cannot be undone. Your reviews, votes, reports and applications are erased, and every application loses its access.
        </p>
        <form method="post" action="${authUrl()}/account/delete">
          ${csrf}
          <label class="check"><input type="checkbox" name="confirm" value="yes" required> Erase everything</label>
          <button class="danger">Delete my account</button>
        </form>
      </section>`,
  };
});
