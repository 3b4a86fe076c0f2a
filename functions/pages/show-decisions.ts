import { html } from 'hono/html';
import { authUrl } from '../../shared/auth-url.ts';
import type { Decision } from '../../shared/moderation/decision.ts';
import { listDecisions } from '../../shared/moderation/decision-log.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { csrfField } from '../../shared/pages/frame/layout.ts';
import { CursorQuery, nextPage, readDated, rowsUnder } from '../../shared/pages/frame/lists.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { minuteOf } from '../../shared/pages/frame/words.ts';
import {
  decisionOf,
  linkTo,
  moderationTabs,
  moderationUrl,
  nameOfPerson,
  requireModerator,
  saying,
} from '../../shared/pages/moderation/moderation.ts';
import { wordsBeforeAndAfter } from '../../shared/pages/moderation/proposals-page.ts';
import type { User } from '../../shared/user/user.ts';
import { findUsers } from '../../shared/user/user-repository.ts';

/** Shows moderators the log of decisions. */
export const handler = page(signedIn({ query: CursorQuery }), async ({ query }, { visitor }) => {
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
      <section>
        ${rowsUnder(['Decision', 'About', 'Reports', 'By', 'When'], rows, none)}
        ${nextPage(moderationUrl('/log'), cursor)}
      </section>`,
  };
});

/** The words of a correction before and after, and the button to undo it. */
function correctionOf({ id, decision, before, after }: Decision, csrf: string) {
  if (!after) return '';
  return html`${wordsBeforeAndAfter(before, after)}
    ${
      decision === 'correct' &&
      html`<form method="post" action="${moderationUrl('/names')}">
        ${csrfField(csrf)}
        <input type="hidden" name="id" value="${id}">
        <button class="quiet" name="decision" value="undo">Undo</button>
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
