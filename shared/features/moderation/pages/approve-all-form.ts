import { html } from 'hono/html';
import type { User } from '../../../core/user/user.ts';
import { csrfField, type Html } from '../../../pages/frame/layout.ts';
import { moderationUrl, noReason } from './moderation.ts';

/** The form to approve all that waits of an author by now. `look` is the class of its button. */
export function approveAllForm(
  author: User,
  csrf: string,
  look: 'quiet' | 'link',
  words: Html | string,
): Html {
  const until = new Date().toISOString();
  return html`<form method="post" action="${moderationUrl(`/users/${author.id}`)}">
      ${csrfField(csrf, { ...noReason, until })}
      <button class="${look}" name="decision" value="approve_all">${words}</button>
    </form>`;
}
