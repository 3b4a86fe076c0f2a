import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../shared/auth-url.ts';
import { findKeptMetadata } from '../shared/entity/metadata.ts';
import { readFromCursor } from '../shared/list/cursor.ts';
import { nextPage } from '../shared/pages/moderation.ts';
import { page } from '../shared/pages/page.ts';
import { reviewCell, rowsUnder } from '../shared/pages/review-table.ts';
import { Session } from '../shared/pages/session.ts';
import { ownTabs } from '../shared/pages/tabs.ts';
import { dayOf } from '../shared/pages/words.ts';
import { listVotes } from '../shared/vote/cast-votes.ts';

const limit = 20;

export const request = v.object({
  caller: Session,
  query: v.object({ cursor: v.optional(v.string()) }),
});

/** Page of the votes that the person has cast. */
export const handler = page(request, async ({ caller: { user_id }, query }) => {
  const at = authUrl();
  const list = { list: 'own-votes', user_id, sort: 'date' };
  const { page, cursor } = await readFromCursor(
    list,
    { offset: 0, limit, cursor: query.cursor },
    ({ after }) => listVotes(user_id, limit, after),
  );
  const voted = page.votes.flatMap(({ on }) => (on ? [on.review] : []));
  const metadata = await findKeptMetadata(voted);
  const rows = page.votes.map(({ vote, on }) => [
    on
      ? reviewCell(on.review, metadata[voted.indexOf(on.review)], `${at}/review/${on.review.id}`)
      : html`<span class="soft">A review that is not public any more</span>`,
    on
      ? html`<a href="${at}/user/${on.author.id}"><bdi>${on.author.display_name}</bdi></a>`
      : 'unknown',
    vote.vote ? 'Up' : 'Down',
    dayOf(vote.voted_at),
  ]);
  return {
    title: 'Your votes',
    isWide: true,
    content: html`${ownTabs('votes')}<section>
      ${rows.length > 0 ? rowsUnder(['Review', 'Author', 'Vote', 'Cast'], rows) : html`<p>You have not voted on any review yet.</p>`}
      ${nextPage(`${at}/account/votes`, {}, cursor)}
    </section>`,
  };
});
