import { html } from 'hono/html';
import type { Decision } from '../../shared/moderation/decision.ts';
import { listDecisions } from '../../shared/moderation/decision-log.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery, nextPage, readDated, rowsUnder } from '../../shared/pages/frame/lists.ts';
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
    decisions.flatMap(({ user_id, moderator_id }) => [user_id, moderator_id ?? []].flat()),
  );
  const rows = decisions.map((decision) => [
    html`<strong>${decisionOf(decision)}</strong>${saying(decision.note)}`,
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

function aboutOf({ user_id, review_id }: Decision, users: ReadonlyMap<string, User>) {
  const review = users.has(user_id)
    ? html`<a href="${moderationUrl(`/reviews/${review_id}`)}">a review</a>`
    : 'a review';
  return html`${review_id && html`${review} of `}${linkTo(user_id, users)}`;
}
