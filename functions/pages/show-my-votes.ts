import { html } from 'hono/html';
import { authUrl } from '../../shared/base/auth-url.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import { listVotes } from '../../shared/core/vote/vote-repository.ts';
import { ownTabs } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { CursorQuery, nextPage, readDated, rowsUnder } from '../../shared/pages/frame/lists.ts';
import { personLink } from '../../shared/pages/frame/person.ts';
import { dayOf } from '../../shared/pages/frame/words.ts';
import { reviewCell } from '../../shared/pages/review/review-card.ts';

export const handler = page(signedIn({ query: CursorQuery }), async ({ caller, query }) => {
  const base = authUrl();
  const { user_id } = caller;
  const { votes, cursor } = await readDated(
    { list: 'own-votes', user_id },
    query.cursor,
    (limit, after) => listVotes(user_id, limit, after),
  );
  const reviews = votes.flatMap(({ on }) => (on ? [on.review] : []));
  const metadata = await findMetadata(reviews);
  const rows = votes.map(({ vote, on }) => [
    ...(on
      ? [
          reviewCell(
            on.review,
            metadata[reviews.indexOf(on.review)],
            `${base}/review/${on.review.id}`,
          ),
          personLink(on.author),
        ]
      : [html`<span class="soft">A review that is not public any more</span>`, 'unknown']),
    vote.vote ? 'Yes' : 'No',
    dayOf(vote.voted_at),
  ]);
  const none = html`<p>You have not voted on any review yet.</p>
    <p><a class="button" href="${base}/reviews">Find reviews to vote on</a></p>`;
  return {
    title: 'Your votes',
    isWide: true,
    content: html`${ownTabs('votes')}<section>
      ${rowsUnder(['Review', 'Author', 'Helpful', 'Said on'], rows, none)}
      ${nextPage(`${base}/account/votes`, cursor)}
    </section>`,
  };
});
