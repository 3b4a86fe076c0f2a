import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { notFound } from '../errors.ts';
import type { Decision } from '../moderation/decision.ts';
import { reasons } from '../moderation/verdict.ts';
import type { Review } from '../review/review.ts';
import type { User } from '../user/user.ts';
import { findUsers } from '../user/user-repository.ts';
import { canModerate } from '../user/user-type.ts';
import { type Filled, field } from './fields.ts';
import type { Html, Visitor } from './layout.ts';
import { minuteOf } from './words.ts';

/** Throws ApiError 404 for everybody else: for them there is no such page. */
export function requireModerator({ user }: Visitor): void {
  if (!canModerate(user)) throw notFound('Page');
}

/** Where moderators work. */
export function moderationUrl(path = ''): string {
  return `${authUrl()}/account/moderation${path}`;
}

const reasonWords: Readonly<Record<Decision['reason'], string>> = {
  spam: 'Spam',
  abuse: 'Abuse',
  off_topic: 'Off topic',
  copyright: 'Copyright',
  other: 'Another reason',
};

const decisionWords: Readonly<Record<Decision['decision'], string>> = {
  hide: 'Hidden',
  dismiss: 'Reports dismissed',
  restore: 'Public again',
  uphold: 'Stays hidden',
  block: 'Account blocked',
  unblock: 'Account unblocked',
  allow: 'May be reviewed again',
};

/** A decision and its reason. */
export function decisionOf({ decision, reason }: Pick<Decision, 'decision' | 'reason'>): string {
  return `${decisionWords[decision]}: ${reasonWords[reason].toLowerCase()}`;
}

/** The reason of a report: a word of the list, or the text that somebody wrote. */
export function reasonOf(text: string): string {
  return Object.hasOwn(reasonWords, text) ? reasonWords[text as Decision['reason']] : text;
}

/** What stands in a review. */
export function contentOf({ text, rating }: Pick<Review, 'text' | 'rating'>): string {
  return text ?? `${rating} of 5 stars, without a text`;
}

/** The public name of somebody who may have left; null is the operator. */
export function nameOf(id: string | null, users: ReadonlyMap<string, User>): string {
  if (id === null) return 'the operator';
  return users.get(id)?.display_name ?? 'somebody who has left';
}

/** The name, with a link to the page about a person who is still here. */
export function linkTo(id: string, users: ReadonlyMap<string, User>): Html | string {
  const name = nameOf(id, users);
  return users.has(id) ? html`<a href="${moderationUrl(`/users/${id}`)}">${name}</a>` : name;
}

/** Decisions as moderators see them, newest first. */
export async function decisionList(decisions: readonly Decision[]): Promise<Html> {
  const ids = decisions.flatMap(({ user_id, moderator_id }) =>
    [user_id, moderator_id ?? []].flat(),
  );
  const users = await findUsers(ids);
  return html`<ul class="plain">${decisions.map((each) => html`<li>${entry(each, users)}</li>`)}</ul>`;
}

function entry(decision: Decision, users: ReadonlyMap<string, User>): Html {
  const { user_id, review_id, moderator_id, decided_at, note, reports } = decision;
  return html`<p><strong>${decisionOf(decision)}</strong></p>
    ${note && html`<p class="verbatim">${note}</p>`}
    <p class="soft">
      ${minuteOf(decided_at)}, by ${nameOf(moderator_id, users)}${reports > 0 && `, on ${reportsOf(reports)}`}:
      ${review_id && (users.has(user_id) ? html`<a href="${moderationUrl(`/reviews/${review_id}`)}">a review</a> of` : 'a review of')}
      ${linkTo(user_id, users)}
    </p>`;
}

/** How many reports there are. */
export function reportsOf(count: number): string {
  return count === 1 ? '1 report' : `${count} reports`;
}

/**
 * Fields for the grounds of a decision: a word of the list and a note. Their ids begin with
 * `prefix`, as a page may have two such forms.
 */
export function whyFields(filled: Filled, reader: string, prefix = ''): Html {
  const { values, faults } = filled;
  return html`<div class="field">
      <label for="${prefix}reason">Reason</label>
      <select id="${prefix}reason" name="reason" required${faults.reason && html` aria-invalid="true" aria-describedby="${prefix}reason-fault"`}>
        <option value="">Choose one</option>
        ${reasons.map(
          (reason) =>
            html`<option value="${reason}"${reason === values.reason && html` selected`}>${reasonWords[reason]}</option>`,
        )}
      </select>
      ${faults.reason && html`<p class="fault" id="${prefix}reason-fault">${faults.reason}</p>`}
    </div>
    ${field({ name: 'note', prefix, label: 'Note', type: 'area', hint: `${reader} reads it, and so do moderators.`, maxlength: 500 }, filled)}`;
}

/** The link to the next page of a list. */
export function nextPage(url: string, query: Record<string, string>, cursor?: string): Html | '' {
  if (cursor === undefined) return '';
  const next = `${url}?${new URLSearchParams({ ...query, cursor })}`;
  return html`<p><a class="button quiet" href="${next}">Next page</a></p>`;
}
