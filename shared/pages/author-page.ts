import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { nameOfEntityType } from '../entity/entity-type.ts';
import { notFound } from '../errors.ts';
import type { Decision } from '../moderation/decision.ts';
import { findHistory } from '../moderation/decision-log.ts';
import { listHiddenClaims } from '../moderation/hidden-claims.ts';
import type { HiddenClaim } from '../review/hidden-claim.ts';
import type { User } from '../user/user.ts';
import { findUsers } from '../user/user-repository.ts';
import { userTypeOf } from '../user/user-type.ts';
import { blank, type FormState, faultOf, option } from './fields.ts';
import { csrfField, type Html, type Page, type Visitor } from './layout.ts';
import { nextPage, rowsUnder } from './lists.ts';
import {
  decisionOf,
  moderationUrl,
  nameOf,
  requireModerator,
  saying,
  stateOf,
  whyFields,
} from './moderation.ts';
import { reviewCell } from './review-card.ts';
import { readWritten } from './review-list.ts';
import { counted, dayOf, minuteOf, nameOfType } from './words.ts';

type History = NonNullable<Awaited<ReturnType<typeof findHistory>>>;

/** The page about an author for moderators. Throws ApiError 404 for anyone else. */
export async function authorPage(
  userId: string,
  visitor: Visitor,
  { filled = blank, cursor }: { filled?: FormState; cursor?: string } = {},
): Promise<Page> {
  requireModerator(visitor);
  const seenAt = new Date().toISOString();
  const [history, claims, written] = await Promise.all([
    findHistory(userId),
    listHiddenClaims(userId),
    reviewsOf(userId, cursor),
  ]);
  if (!history) throw notFound('User');
  const { user } = history;
  const isBlocked = user.blocked_at !== undefined;
  const sent = (...decisions: string[]) =>
    decisions.includes(filled.values.decision ?? '') ? filled : blank;
  return {
    title: `About ${user.display_name}`,
    isWide: true,
    content: html`${faultOf(filled)}
      <section>${facts(history)}</section>
      <div class="desk">
      <section><h2>Reviews</h2>${written}</section>
      <div>
      ${history.reviews > 0 && userId !== visitor.user.id && hiding(history, seenAt, visitor, sent('hide'))}
      ${claims.length > 0 && allowance(claims, user, visitor, sent('allow'))}
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
                ${whyFields(sent('block', 'unblock'))}
                <button${!isBlocked && html` class="danger"`}>${isBlocked ? 'Unblock' : 'Block'}</button>
              </form>`
        }
      </section>
      <section>${await decisionsOn(history)}</section>
      </div>
      </div>`,
  };
}

async function reviewsOf(userId: string, from: string | undefined) {
  const { written, cursor } = await readWritten(userId, from);
  const rows = written.flatMap(({ review, metadata }) => {
    if (review.published_on === null) return [];
    const cell = reviewCell(review, metadata, moderationUrl(`/reviews/${review.id}`));
    return [[cell, stateOf(review), dayOf(review.published_on)]];
  });
  return html`${rowsUnder(['Review', 'State', 'Published'], rows, html`<p>None.</p>`)}
    ${nextPage(moderationUrl(`/users/${userId}`), cursor)}`;
}

function hiding({ user, reviews }: History, seenAt: string, { csrf }: Visitor, filled: FormState) {
  const all = reviews === 1 ? 'the public review' : `all ${reviews} public reviews`;
  return html`<section class="end">
    <h2>Hide all</h2>
    <p>
      Each of them is hidden by a decision of its own, with the same reason and note. The author can
      appeal against each. Reviews that you have reported stay, and so do those that change after
      you opened this page.
    </p>
    <form method="post" action="${moderationUrl(`/users/${user.id}`)}">
      ${csrfField(csrf)}
      <input type="hidden" name="decision" value="hide">
      <input type="hidden" name="seen_at" value="${seenAt}">
      ${whyFields(filled, 'hide-')}
      <button class="danger">Hide ${all}</button>
    </form>
  </section>`;
}

function allowance(
  claims: readonly HiddenClaim[],
  author: User,
  { user, csrf }: Visitor,
  filled: FormState,
) {
  return html`<section>
    <h2>Hidden reviews that were deleted</h2>
    <p><bdi>${author.display_name}</bdi> can review none of these again until a moderator allows it.</p>
    ${
      author.id === user.id
        ? html`<p>These reviews were your own: another moderator decides on them.</p>`
        : html`<form method="post" action="${moderationUrl(`/users/${author.id}`)}">
            ${csrfField(csrf)}
            <input type="hidden" name="decision" value="allow">
            <div class="field">
              <label for="entity_id">Entity</label>
              <select id="entity_id" name="entity_id" required>
                ${claims.map(({ entity_id, entity_type, marked_at }) => {
                  const deleted = `${entity_id}, deleted ${marked_at.slice(0, 10)}`;
                  const name = `${nameOfEntityType(entity_type)} ${deleted}`;
                  return option(entity_id, name, filled.values.entity_id);
                })}
              </select>
            </div>
            ${whyFields(filled, 'allow-')}
            <button>Allow a new review</button>
          </form>`
    }
  </section>`;
}

/** Facts about an author, and earlier decisions. */
export async function historyOf(history: History): Promise<Html> {
  return html`${facts(history)}${await decisionsOn(history)}`;
}

function facts({ user, reviews }: History) {
  const { id, display_name, karma, created, blocked_at } = user;
  return html`<dl>
    <dt>Name</dt><dd><a href="${authUrl()}/user/${id}"><bdi>${display_name}</bdi></a></dd>
    <dt>Here since</dt><dd>${dayOf(created)}</dd>
    <dt>Reviews</dt><dd>${reviews} public</dd>
    <dt>Karma</dt><dd>${karma}, ${nameOfType(userTypeOf(user))}</dd>
    ${blocked_at && html`<dt>Blocked</dt><dd>since ${minuteOf(blocked_at)}</dd>`}
  </dl>`;
}

async function decisionsOn({ decisions }: History) {
  const users = await findUsers(decisions.flatMap(({ moderator_id }) => moderator_id ?? []));
  return html`<h2>Decisions so far</h2>
    ${
      decisions.length > 0
        ? html`<ul class="plain">${decisions.map((each) => html`<li>${entry(each, users)}</li>`)}</ul>`
        : html`<p class="soft">None.</p>`
    }`;
}

function entry(decision: Decision, users: ReadonlyMap<string, User>) {
  const { review_id, moderator_id, decided_at, note, reports } = decision;
  return html`<p><strong>${decisionOf(decision)}</strong></p>
    ${saying(note)}
    <p class="soft">
      ${minuteOf(decided_at)}, by <bdi>${nameOf(moderator_id, users)}</bdi>${reports > 0 && `, on ${counted(reports, 'report')}`}
      ${review_id && html`<a href="${moderationUrl(`/reviews/${review_id}`)}">The review</a>`}
    </p>`;
}
