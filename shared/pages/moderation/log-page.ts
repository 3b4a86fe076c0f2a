// The page of the log of decisions, with a form to undo each correction of a name.
import { html } from 'hono/html';
import { authUrl } from '../../auth-url.ts';
import type { Decision } from '../../moderation/decision.ts';
import { listDecisions } from '../../moderation/decision-log.ts';
import type { User } from '../../user/user.ts';
import { findUsers } from '../../user/user-repository.ts';
import { blank, type FormState, faultOf } from '../form/fields.ts';
import { csrfField, type Page, type Visitor } from '../frame/layout.ts';
import { nextPage, readDated, rowsUnder } from '../frame/lists.ts';
import { withQuery } from '../frame/own-url.ts';
import { minuteOf } from '../frame/words.ts';
import {
  decisionOf,
  linkTo,
  moderationTabs,
  moderationUrl,
  nameOfPerson,
  requireModerator,
  saying,
} from './moderation.ts';
import { wordsBeforeAndAfter } from './names-page.ts';

/** A page of the log, the newest first. Throws ApiError 404 for anyone but moderators. */
export async function logPage(
  visitor: Visitor,
  query: { cursor?: string | undefined },
  filled: FormState = blank,
): Promise<Page> {
  requireModerator(visitor);
  const { decisions, cursor } = await readDated(
    { list: 'decisions' },
    query.cursor,
    (limit, after) => listDecisions(limit, { after }),
  );
  const users = await findUsers(
    decisions.flatMap(({ user_id, moderator_id }) => [user_id ?? [], moderator_id ?? []].flat()),
  );
  const rows = decisions.map((decision) => [
    html`<strong>${decisionOf(decision)}</strong>${saying(decision.note)}${correctionOf(decision, visitor.csrf)}`,
    aboutOf(decision, users),
    `${decision.reports}`,
    html`<bdi>${nameOfPerson(decision.moderator_id, users)}</bdi>`,
    minuteOf(decision.decided_at),
  ]);
  const none = html`<p>Nothing has been decided yet.</p>`;
  return {
    title: 'Log of moderation',
    isWide: true,
    content: html`${moderationTabs('/log')}
      ${faultOf(filled)}
      <section>
        ${rowsUnder(['Decision', 'About', 'Reports', 'By', 'When'], rows, none)}
        ${nextPage(moderationUrl('/log'), cursor)}
      </section>`,
  };
}

/** The words of a correction before and after, and the button to undo it. */
function correctionOf({ id, decision, before, after }: Decision, csrf: string) {
  if (!after) return '';
  return html`${wordsBeforeAndAfter(before, after)}
    ${
      decision === 'correct' &&
      html`<form method="post" action="${moderationUrl('/log')}">
        ${csrfField(csrf)}
        <input type="hidden" name="id" value="${id}">
        <button class="quiet">Undo</button>
      </form>`
    }`;
}

function aboutOf(
  { user_id, review_id, entity_id, entity_type, after }: Decision,
  users: ReadonlyMap<string, User>,
) {
  if (entity_id !== undefined) {
    const href = withQuery(`${authUrl()}/entity/${entity_id}`, { entity_type });
    return html`<a href="${href}"><bdi>${after?.name ?? 'a name'}</bdi></a>${user_id !== null && html` by ${linkTo(user_id, users)}`}`;
  }
  const review = users.has(user_id ?? '')
    ? html`<a href="${moderationUrl(`/reviews/${review_id}`)}">a review</a>`
    : 'a review';
  return html`${review_id && html`${review} of `}${linkTo(user_id, users)}`;
}
