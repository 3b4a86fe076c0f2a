import { html } from 'hono/html';
import { notFound } from '../errors.ts';
import { findHistory } from '../moderation/decision-repository.ts';
import { userTypeOf } from '../user/user-type.ts';
import { blank, type Filled, faultOf } from './fields.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Html, type Visitor } from './layout.ts';
import { decisionList, moderationUrl, requireModerator, whyFields } from './moderation.ts';
import { dayOf, minuteOf, nameOfType } from './words.ts';

type History = NonNullable<Awaited<ReturnType<typeof findHistory>>>;

/** What moderators know of a user, and the form to block the account or end that, empty or as it was sent. Throws ApiError 404 when there is none. */
export async function authorPage(
  userId: string,
  visitor: Visitor,
  filled: Filled = blank,
): Promise<Page> {
  requireModerator(visitor);
  const history = await findHistory(userId);
  if (!history) throw notFound('User');
  const { user } = history;
  const isBlocked = user.blocked_at !== undefined;
  return {
    title: `About ${user.display_name}`,
    content: html`${faultOf(filled)}
      <section>${await historyOf(history)}</section>
      <section${!isBlocked && html` class="end"`}>
        <h2>${isBlocked ? 'End the block' : 'Block the account'}</h2>
        ${
          user.is_moderator
            ? html`<p>This is a moderator, whom only the operator of the service blocks.</p>`
            : html`<p>${
                isBlocked
                  ? 'The account may publish, vote, report and change its profile again.'
                  : 'A blocked account reads, and can be deleted. It publishes, changes and deletes no review, casts no vote, reports nothing, and connects no application. Its reviews stay as they are.'
              }</p>
              <form method="post" action="${moderationUrl(`/users/${userId}`)}">
                ${csrfField(visitor.csrf)}
                <input type="hidden" name="decision" value="${isBlocked ? 'unblock' : 'block'}">
                ${whyFields(filled, user.display_name)}
                <button${!isBlocked && html` class="danger"`}>${isBlocked ? 'Unblock' : 'Block'}</button>
              </form>`
        }
      </section>`,
  };
}

/** Who somebody is, in numbers, and what was decided before. */
export async function historyOf({ user, reviews, decisions }: History): Promise<Html> {
  const { display_name, karma, created, blocked_at } = user;
  return html`<dl>
      <dt>Name</dt><dd>${display_name}</dd>
      <dt>Here since</dt><dd>${dayOf(created)}</dd>
      <dt>Reviews</dt><dd>${reviews} public</dd>
      <dt>Karma</dt><dd>${karma}, ${nameOfType(userTypeOf(user))}</dd>
      ${blocked_at && html`<dt>Blocked</dt><dd>since ${minuteOf(blocked_at)}</dd>`}
    </dl>
    <h2>Decisions so far</h2>
    ${decisions.length > 0 ? await decisionList(decisions) : html`<p class="soft">None.</p>`}`;
}
