import { html } from 'hono/html';
import * as v from 'valibot';
import { readFromCursor } from '../shared/list/cursor.ts';
import type { Decision } from '../shared/moderation/decision.ts';
import { listDecisions } from '../shared/moderation/decision-log.ts';
import {
  decisionOf,
  linkTo,
  moderationTabs,
  moderationUrl,
  nameOf,
  nextPage,
  requireModerator,
  saying,
} from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { rowsUnder } from '../shared/pages/review-table.ts';
import { Session } from '../shared/pages/session.ts';
import { minuteOf } from '../shared/pages/words.ts';
import type { User } from '../shared/user/user.ts';
import { findUsers } from '../shared/user/user-repository.ts';

const limit = 20;
const log = { list: 'decisions', sort: 'date' };

export const request = v.object({
  caller: Session,
  query: v.object({ cursor: v.optional(v.string()) }),
});

/** Log of all decisions, for moderators. */
export const handler = page(request, async ({ query }, { visitor }) => {
  requireModerator(visitor);
  const { page, cursor } = await readFromCursor(
    log,
    { offset: 0, limit, cursor: query.cursor },
    ({ after }) => listDecisions(limit, { after }),
  );
  const { decisions } = page;
  const users = await findUsers(
    decisions.flatMap(({ user_id, moderator_id }) => [user_id, moderator_id ?? []].flat()),
  );
  const rows = decisions.map((decision) => [
    html`<strong>${decisionOf(decision)}</strong>${saying(decision.note)}`,
    aboutOf(decision, users),
    `${decision.reports}`,
    html`<bdi>${nameOf(decision.moderator_id, users)}</bdi>`,
    minuteOf(decision.decided_at),
  ]);
  return {
    title: 'Log of moderation',
    isWide: true,
    content: html`${moderationTabs('/log')}
      <section>
        ${rows.length > 0 ? rowsUnder(['Decision', 'About', 'Reports', 'By', 'When'], rows) : html`<p>Nothing has been decided yet.</p>`}
        ${nextPage(moderationUrl('/log'), {}, cursor)}
      </section>`,
  };
});

/** A person, or a review by that person. */
function aboutOf({ user_id, review_id }: Decision, users: ReadonlyMap<string, User>) {
  const review = users.has(user_id)
    ? html`<a href="${moderationUrl(`/reviews/${review_id}`)}">a review</a>`
    : 'a review';
  return html`${review_id && html`${review} of `}${linkTo(user_id, users)}`;
}
