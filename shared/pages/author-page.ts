import { html } from 'hono/html';
import { notFound } from '../errors.ts';
import { findHistory } from '../moderation/decision-log.ts';
import { listHiddenClaims } from '../moderation/hidden-claims.ts';
import type { HiddenClaim } from '../review/hidden-claim.ts';
import type { User } from '../user/user.ts';
import { userTypeOf } from '../user/user-type.ts';
import { blank, type Filled, faultOf } from './fields.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Html, type Visitor } from './layout.ts';
import { decisionList, moderationUrl, requireModerator, whyFields } from './moderation.ts';
import { dayOf, minuteOf, nameOfType } from './words.ts';

type History = NonNullable<Awaited<ReturnType<typeof findHistory>>>;

/**
 * Section on a user for moderators, and the forms to allow a review in place of a hidden one, and
 * to block the account or end that: empty, or as one was sent. Throws ApiError 404 when there is no
 * such user.
 */
export async function authorPage(
  userId: string,
  visitor: Visitor,
  filled: Filled = blank,
): Promise<Page> {
  requireModerator(visitor);
  const [history, claims] = await Promise.all([findHistory(userId), listHiddenClaims(userId)]);
  if (!history) throw notFound('User');
  const { user } = history;
  const isBlocked = user.blocked_at !== undefined;
  const isToAllow = filled.values.decision === 'allow';
  return {
    title: `About ${user.display_name}`,
    content: html`${faultOf(filled)}
      <section>${await historyOf(history)}</section>
      ${claims.length > 0 && allowance(claims, user, visitor, isToAllow ? filled : blank)}
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
                ${whyFields(isToAllow ? blank : filled, user.display_name)}
                <button${!isBlocked && html` class="danger"`}>${isBlocked ? 'Unblock' : 'Block'}</button>
              </form>`
        }
      </section>`,
  };
}

/**
 * The hidden reviews that an author has deleted, and the form to allow another one of an entity.
 */
function allowance(
  claims: readonly HiddenClaim[],
  author: User,
  { user, csrf }: Visitor,
  filled: Filled,
): Html {
  return html`<section>
    <h2>Hidden reviews that were deleted</h2>
    <p>${author.display_name} can review none of these again until a moderator allows it.</p>
    ${
      author.id === user.id
        ? html`<p>These reviews were your own: another moderator decides on them.</p>`
        : html`<form method="post" action="${moderationUrl(`/users/${author.id}`)}">
            ${csrfField(csrf)}
            <input type="hidden" name="decision" value="allow">
            <div class="field">
              <label for="entity_id">Entity</label>
              <select id="entity_id" name="entity_id" required>
                ${claims.map(
                  ({ entity_id, entity_type, marked_at }) =>
                    html`<option value="${entity_id}"${entity_id === filled.values.entity_id && html` selected`}>${entity_type} ${entity_id}, deleted ${marked_at.slice(0, 10)}</option>`,
                )}
              </select>
            </div>
            ${whyFields(filled, author.display_name, 'allow-')}
            <button>Allow a new review</button>
          </form>`
    }
  </section>`;
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
