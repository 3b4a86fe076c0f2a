import { html } from 'hono/html';
import { notFound } from '../errors.ts';
import type { Case } from '../moderation/case.ts';
import { checkShown, type ReviewCase, readCase } from '../moderation/case-repository.ts';
import { findHistory } from '../moderation/decision-log.ts';
import type { Report } from '../moderation/report.ts';
import { readReports } from '../moderation/report-repository.ts';
import type { Review } from '../review/review.ts';
import type { User } from '../user/user.ts';
import { findUsers } from '../user/user-repository.ts';
import { historyOf } from './author-page.ts';
import { blank, type Filled, faultOf } from './fields.ts';
import type { Page } from './html-response.ts';
import { csrfField, type Html, type Visitor } from './layout.ts';
import {
  contentOf,
  decisionOf,
  linkTo,
  moderationUrl,
  nameOf,
  reasonOf,
  reportsOf,
  requireModerator,
  whyFields,
} from './moderation.ts';
import { minuteOf } from './words.ts';

/** How many reports are read, and how many of the open and of the earlier ones are shown. */
const mostRead = 1000;
const mostReports = 100;

/**
 * A review with all that a moderator needs to decide on it, and the form to do so, empty or as it was sent. Throws ApiError 404 when there is no such
 * review, its author has not published it yet, or the account is gone.
 */
export async function casePage(
  reviewId: string,
  visitor: Visitor,
  filled: Filled = blank,
): Promise<Page> {
  requireModerator(visitor);
  const found = await readCase(reviewId);
  checkShown(found);
  const { review, moderationCase } = found;
  const [{ open, earlier }, history] = await Promise.all([
    readReports(moderationCase, mostRead),
    findHistory(review.user_id),
  ]);
  if (!history) throw notFound('Review');
  const { display_name: author } = history.user;
  const shown = [open, earlier].flatMap((each) => each.slice(0, mostReports));
  const users = await findUsers([
    ...shown.map(({ user_id }) => user_id),
    ...(moderationCase.decided_by ? [moderationCase.decided_by] : []),
  ]);
  return {
    title: `A review by ${author}`,
    content: html`${faultOf(filled)}
      ${appealOf(moderationCase)}
      <section>
        <p class="verbatim">${contentOf(review)}</p>
        ${facts(review)}
        ${lastDecision(found, users)}
      </section>
      ${reports('', open, moderationCase.reports, users)}
      ${reports(' from before the last decision', earlier, earlier.length, users)}
      <section>
        <h2>The author</h2>
        ${await historyOf(history)}
        <p><a class="button quiet" href="${moderationUrl(`/users/${review.user_id}`)}">All about ${author}, and blocking</a></p>
      </section>
      ${verdict(found, [...open, ...earlier], visitor, filled)}`,
  };
}

function facts(review: Review): Html {
  const { entity_type, entity_id, rating, language, published_on, created, edits } = review;
  return html`<dl>
    <dt>Entity</dt><dd>${entity_type} <code>${entity_id}</code></dd>
    <dt>Rating</dt><dd>${rating === null ? 'none' : `${rating} of 5`}</dd>
    <dt>Language</dt><dd>${language}</dd>
    <dt>Published</dt><dd>${minuteOf(published_on ?? created)}${edits > 0 && `, edited ${edits === 1 ? 'once' : `${edits} times`}`}</dd>
    <dt>Votes</dt><dd>${review.votes_positive} up, ${review.votes_negative} down</dd>
    <dt>State</dt><dd>${review.is_hidden ? 'hidden' : 'public'}</dd>
    <dt>Review id</dt><dd><code>${review.id}</code></dd>
  </dl>`;
}

function lastDecision(
  { review: { moderation }, moderationCase: { decided_by = null } }: ReviewCase,
  users: ReadonlyMap<string, User>,
): Html | '' {
  if (!moderation) return '';
  return html`<h2>Decided last</h2>
    <p>
      <strong>${decisionOf(moderation)}</strong>
      <span class="soft">${minuteOf(moderation.decided_at)}, by ${nameOf(decided_by, users)}</span>
    </p>
    ${moderation.note && html`<p class="verbatim">${moderation.note}</p>`}`;
}

function appealOf({ appeal, opened_at }: Case): Html | '' {
  if (appeal === undefined) return '';
  return html`<section>
    <h2>The author appeals</h2>
    ${appeal && html`<p class="verbatim">${appeal}</p>`}
    <p class="soft">${minuteOf(opened_at)}</p>
  </section>`;
}

function reports(
  when: string,
  found: readonly Report[],
  count: number,
  users: ReadonlyMap<string, User>,
): Html | '' {
  if (count === 0) return '';
  const shown = found.slice(0, mostReports);
  return html`<section>
    <h2>${reportsOf(count)}${when}</h2>
    <ul class="plain">
      ${shown.map(
        ({ user_id, reason, reported_at }) => html`<li>
          <p class="verbatim">${reasonOf(reason)}</p>
          <p class="soft">${linkTo(user_id, users)}, ${minuteOf(reported_at)}</p>
        </li>`,
      )}
    </ul>
    ${count > shown.length && html`<p>And ${reportsOf(count - shown.length)} more.</p>`}
  </section>`;
}

/** The form to decide by, or why this moderator cannot. */
function verdict(
  { review, moderationCase: { state, appeal, decided_by, version } }: ReviewCase,
  known: readonly Report[],
  { user, csrf }: Visitor,
  filled: Filled,
): Html {
  const obstacle =
    review.user_id === user.id
      ? 'This review is your own'
      : known.some(({ user_id }) => user_id === user.id)
        ? 'You have reported this review'
        : appeal !== undefined && decided_by === user.id
          ? 'The author appeals against your decision'
          : undefined;
  if (obstacle) {
    return html`<section>
      <h2>Decide</h2>
      <p>${obstacle}: another moderator decides on it.</p>
    </section>`;
  }
  const isOpen = state === 'open';
  return html`<section>
    <h2>Decide</h2>
    <form method="post" action="${moderationUrl(`/reviews/${review.id}`)}">
      ${csrfField(csrf)}
      <input type="hidden" name="version" value="${version}">
      <input type="hidden" name="edits" value="${review.edits}">
      ${whyFields(filled, 'The author')}
      <div class="buttons">
        ${
          review.is_hidden
            ? html`<button name="decision" value="restore">Make it public again</button>
              ${isOpen && html`<button class="danger" name="decision" value="uphold">Keep it hidden</button>`}`
            : html`<button class="danger" name="decision" value="hide">Hide the review</button>
              ${isOpen && html`<button class="quiet" name="decision" value="dismiss">Dismiss the reports</button>`}`
        }
      </div>
    </form>
  </section>`;
}
