// The page of a moderation case: the review, its reports, its author, and the form to decide.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { notFound } from '../../../base/errors.ts';
import { nameOfEntity } from '../../../core/entity/entity-type.ts';
import { findRecords, knownEntity } from '../../../core/entity/metadata.ts';
import type { EntityRecord } from '../../../core/entity/record.ts';
import { isNameFor } from '../../../core/entity/state.ts';
import { checkShown, type ReviewCase, readCase } from '../../../core/report/case-repository.ts';
import { findHistory } from '../../../core/report/decision-log.ts';
import { readReports } from '../../../core/report/report-repository.ts';
import { type Case, carriedReports, type Report } from '../../../core/review/case.ts';
import { findWhole } from '../../../core/review/long-text.ts';
import { isHeld, type Review } from '../../../core/review/review.ts';
import type { Verdict } from '../../../core/review/verdict.ts';
import type { User } from '../../../core/user/user.ts';
import { findUsers } from '../../../core/user/user-repository.ts';
import { aboutLine } from '../../../pages/entity/named-entity.ts';
import { blank, type FormState, faultOf } from '../../../pages/form/fields.ts';
import { nameOfLanguage } from '../../../pages/frame/language-names.ts';
import { csrfField, type Html, type Page, type Visitor } from '../../../pages/frame/layout.ts';
import { counted, minuteOf } from '../../../pages/frame/words.ts';
import { inFull } from '../../../pages/review/written-parts.ts';
import { recordUrl } from '../../things/public.ts';
import { historyOf } from './author-page.ts';
import {
  decisionOf,
  linkTo,
  moderationUrl,
  nameOfPerson,
  noReason,
  reasonOf,
  reasonsOf,
  requireModerator,
  saying,
  snapshotOf,
  stateOf,
  whyFields,
} from './moderation.ts';

/**
 * The number of reports to read, and to show of open and of earlier ones. A report has 2.6 KB at
 * most, so they take 130 of the 400 units of the page. A moderator with more sees their number.
 */
const mostRead = 200;
const mostReports = 100;

/** The page of a case. Throws ApiError 404 for a draft, and if the review or author is missing. */
export async function casePage(reviewId: string, visitor: Visitor, filled = blank): Promise<Page> {
  requireModerator(visitor);
  const reviewCase = await readCase(reviewId);
  checkShown(reviewCase);
  const { review, moderationCase } = reviewCase;
  const [{ open, earlier }, history, [record], whole] = await Promise.all([
    readReports(moderationCase, mostRead),
    findHistory(review.user_id),
    findRecords([review]),
    findWhole(review),
  ]);
  if (!history || !whole) throw notFound('Review');
  const { display_name: author } = history.user;
  const listed = [...open.slice(0, mostReports), ...earlier.slice(0, mostReports)];
  const userIds = listed.map(({ user_id }) => user_id);
  if (moderationCase.decided_by) userIds.push(moderationCase.decided_by);
  const users = await findUsers(userIds);
  return {
    title: `A review by ${author}`,
    isWide: true,
    content: html`${faultOf(filled)}
      <div class="desk">
        <div>
          ${appealOf(moderationCase)}
          <section>
            ${inFull(whole)}
            ${lastDecision(reviewCase, users)}
          </section>
          ${edit(reviewCase)}
          ${reports('', open, moderationCase.reports - carriedReports(moderationCase.carried), users)}
          ${carriedOver(moderationCase)}
          ${reports(' from before the last decision', earlier, earlier.length, users)}
          ${verdict(reviewCase, [...open, ...earlier], visitor, { filled, record })}
        </div>
        <div>
          <section><h2>The review</h2>${facts(review, record)}</section>
          <section>
            <h2>The author</h2>
            ${await historyOf(history)}
            <p><a class="button quiet" href="${moderationUrl(`/users/${review.user_id}`)}">All reviews, and blocking</a></p>
          </section>
        </div>
      </div>`,
  };
}

function facts(review: Review, record: EntityRecord | undefined) {
  const isKnown = record && isNameFor(record, { id: '', isModerator: true });
  const metadata = isKnown ? knownEntity(record) : null;
  const { entity_id, language, published_on, created, edits } = review;
  return html`<dl>
    <dt>About</dt><dd><a href="${authUrl()}/entity/${entity_id}"><bdi>${nameOfEntity(review, metadata)}</bdi></a>${aboutLine(review, metadata)}${record?.state === 'waiting' && html`<p class="soft">The name is new. It waits with the review, and is public once you approve it. <a href="${recordUrl(record)}">Remove or join it</a></p>`}${record?.state === 'removed' && html`<p class="soft">A moderator has removed it. <a href="${recordUrl(record)}">Bring it back</a></p>`}</dd>
    <dt>Language</dt><dd>${nameOfLanguage(language)}</dd>
    <dt>Published</dt><dd>${minuteOf(published_on ?? created)}${edits > 0 && `, edited ${edits === 1 ? 'once' : `${edits} times`}`}</dd>
    <dt>Helpful?</dt><dd>Yes ${review.votes_positive} · No ${review.votes_negative}</dd>
    <dt>State</dt><dd>${stateOf(review)}</dd>
    <dt>Review id</dt><dd><code>${review.id}</code></dd>
  </dl>`;
}

function lastDecision(
  { review: { moderation }, moderationCase: { decided_by = null } }: ReviewCase,
  users: ReadonlyMap<string, User>,
) {
  if (!moderation || moderation.decision === 'hold') return '';
  return html`<h2>Decided last</h2>
    <p>
      <strong>${decisionOf(moderation)}</strong>
      <span class="soft">${minuteOf(moderation.decided_at)}, by <bdi>${nameOfPerson(decided_by, users)}</bdi></span>
    </p>
    ${saying(moderation.note)}`;
}

/** The text that the author wants to publish instead. */
function edit({ review, waiting }: ReviewCase) {
  if (review.waiting_since === undefined || waiting === undefined) return '';
  return html`<section>
    <h2>The new text</h2>
    ${inFull({ language: review.language, rating: null, text: waiting.text })}
    <p class="soft">${minuteOf(review.waiting_since)}. Above is the review as everybody reads it now.</p>
  </section>`;
}

function appealOf({ appeal, opened_at }: Case) {
  if (appeal === undefined) return '';
  return html`<section>
    <h2>The author appeals</h2>
    ${saying(appeal)}
    <p class="soft">${minuteOf(opened_at)}</p>
  </section>`;
}

function reports(
  when: string,
  all: readonly Report[],
  count: number,
  users: ReadonlyMap<string, User>,
) {
  if (count === 0) return '';
  const listed = all.slice(0, mostReports);
  return html`<section>
    <h2>${counted(count, 'report')}${when}</h2>
    <ul class="plain">
      ${listed.map(
        ({ user_id, reason, reported_at }) => html`<li>
          ${saying(reasonOf(reason))}
          <p class="soft">${linkTo(user_id, users)}, ${minuteOf(reported_at)}</p>
        </li>`,
      )}
    </ul>
    ${count > listed.length && html`<p>And ${counted(count - listed.length, 'report')} more.</p>`}
  </section>`;
}

/** Reports of a deleted review: their texts and reporters were deleted with it. */
function carriedOver({ carried }: Case) {
  if (!carried) return '';
  return html`<section>
    <h2>${counted(carriedReports(carried), 'report')} of an earlier review</h2>
    <p>The author deleted that review of the same thing before anybody decided: ${reasonsOf(carried)}.</p>
    <p class="soft">Reported since ${minuteOf(carried.opened_at)}</p>
  </section>`;
}

/** Says why this moderator may not decide, as `checkVerdict` does. Undefined if they may. */
function obstacleOf(
  { review, moderationCase: { appeal, decided_by } }: ReviewCase,
  reports: readonly Report[],
  moderator: User,
): string | undefined {
  if (review.user_id === moderator.id) return 'This review is your own';
  const hasReported = reports.some(({ user_id }) => user_id === moderator.id);
  if (hasReported) return 'You have reported this review';
  const isAgainstOwn = appeal !== undefined && decided_by === moderator.id;
  return isAgainstOwn ? 'The author appeals against your decision' : undefined;
}

function verdict(
  reviewCase: ReviewCase,
  reports: readonly Report[],
  { user, csrf }: Visitor,
  { filled, record }: { filled: FormState; record: EntityRecord | undefined },
) {
  const { review, moderationCase } = reviewCase;
  const obstacle = obstacleOf(reviewCase, reports, user);
  if (obstacle) {
    return html`<section>
      <h2>Decide</h2>
      <p>${obstacle}: another moderator decides on it.</p>
    </section>`;
  }
  const action = moderationUrl(`/reviews/${review.id}`);
  const fields = (others = {}) => csrfField(csrf, { ...snapshotOf(reviewCase, record), ...others });
  if (isHeld(review)) return approval(action, fields, filled, heldReview);
  if (review.waiting_since !== undefined) return approval(action, fields, filled, waitingEdit);
  const isOpen = moderationCase.state === 'open';
  if (review.is_hidden) {
    return html`${approving(action, fields, 'restore', 'Make it public again')}
      ${isOpen && refusing(action, fields, filled, [['uphold', 'Keep it hidden']])}`;
  }
  const dismissal = moderationCase.reports > 0 ? 'Dismiss the reports' : 'Leave it public';
  return html`${isOpen && approving(action, fields, 'dismiss', dismissal)}
    ${refusing(action, fields, filled, [['hide', 'Hide the review']])}`;
}

/** Makes the hidden fields of a form, with what the moderator has seen. */
type Fields = (others?: Readonly<Record<string, string>>) => Html;

/** The form of a decision that finds nothing wrong, and so needs no reason. */
function approving(action: string, fields: Fields, decision: Verdict, button: string, why = '') {
  return html`<section>
    <h2>Decide</h2>
    ${why && html`<p>${why}</p>`}
    <form method="post" action="${action}">
      ${fields(noReason)}
      <button name="decision" value="${decision}"${decision === 'dismiss' && html` class="quiet"`}>${button}</button>
    </form>
  </section>`;
}

/** The form of decisions against a review or an edit, which need a reason. */
function refusing(
  action: string,
  fields: Fields,
  filled: FormState,
  buttons: readonly (readonly [Verdict, string])[],
  why = '',
) {
  return html`<section>
    <h2>Say why not</h2>
    ${why && html`<p>${why}</p>`}
    <form method="post" action="${action}">
      ${fields()}
      ${whyFields(filled)}
      <div class="buttons">
        ${buttons.map(([decision, button]) => html`<button class="danger" name="decision" value="${decision}">${button}</button>`)}
      </div>
    </form>
  </section>`;
}

/** The forms to decide on a review or an edit of a new author. */
function approval(
  action: string,
  fields: Fields,
  filled: FormState,
  { what, buttons, effect }: Approval,
) {
  const why = `The author is new, so the ${what} waits for you. Only the author and moderators can see it.`;
  return html`${approving(action, fields, 'approve', `Approve the ${what}`, why)}
    ${refusing(action, fields, filled, buttons, effect)}`;
}

interface Approval {
  what: string;
  buttons: readonly (readonly [Verdict, string])[];
  /** The effect of a refusal. */
  effect: string;
}

const heldReview: Approval = {
  what: 'review',
  buttons: [['hide', 'Refuse the review']],
  effect: 'The review stays hidden. The author reads the reason and can appeal.',
};

const waitingEdit: Approval = {
  what: 'new text',
  buttons: [
    ['refuse', 'Refuse the new text'],
    ['hide', 'Hide the review'],
  ],
  effect:
    'To refuse the new text leaves the review as it is. To hide the review drops both. The author reads the reason.',
};
