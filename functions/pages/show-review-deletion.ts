import { html } from 'hono/html';
import { authUrl } from '../../shared/base/auth-url.ts';
import { nameOfEntity } from '../../shared/core/entity/entity-type.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import { ReviewPath } from '../../shared/core/http/request.ts';
import { getReviewBy } from '../../shared/core/review/read-reviews.ts';
import { currentRevision, isDraft, isHeld, type Review } from '../../shared/core/review/review.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { csrfField } from '../../shared/pages/frame/layout.ts';
import { viewerOf } from '../../shared/pages/frame/person.ts';
import { backupsInWords } from '../../shared/pages/frame/words.ts';
import { reviewCell } from '../../shared/pages/review/review-card.ts';
import { blockedHelp, obstaclePage } from '../../shared/pages/review/review-obstacle.ts';

/** Says what goes with an own review before its author deletes it. */
export const handler = page(signedIn({ path: ReviewPath }), async ({ path }, { visitor }) => {
  const { user, csrf } = visitor;
  const review = await getReviewBy(user.id, path.review_id);
  const [metadata = null] = await findMetadata([review], viewerOf(visitor));
  const noun = isDraft(review) ? 'draft' : 'review';
  const title = `Delete your ${noun}: ${nameOfEntity(review, metadata)}`;
  if (user.blocked_at !== undefined) return obstaclePage(title, blockedHelp());
  const url = `${authUrl()}/review/${review.id}`;
  return {
    title,
    heading: html`Delete your ${noun}: <bdi>${nameOfEntity(review, metadata)}</bdi>`,
    content: html`<section>
        ${reviewCell(review, metadata)}
      </section>
      <section>
        <h2>What is deleted permanently</h2>
        <ul>${goesWith(review).map((each) => html`<li>${each}</li>`)}</ul>
        ${
          !isDraft(review) &&
          html`<p>Copies that other people have made under the licence stay, and so do backups${backupsInWords()}.</p>`
        }
        ${
          review.is_hidden &&
          !isHeld(review) &&
          html`<p class="warning">A moderator has hidden this review. If you delete it, you can no longer appeal, and cannot write another one about this.</p>`
        }
      </section>
      <section class="end">
        <form method="post" action="${url}/delete">
          ${csrfField(csrf)}
          <button class="danger">Delete ${noun}</button>
        </form>
        <p><a href="${authUrl()}/account/reviews">Keep ${noun}</a></p>
      </section>`,
  };
});

/** Everything that is deleted with a review. */
function goesWith(review: Review): string[] {
  const { text, rating, votes_positive, votes_negative } = review;
  const revisions = currentRevision(review);
  const content = text === null ? 'Your stars' : `Your text${rating === null ? '' : ' and stars'}`;
  if (isDraft(review)) return [content];
  return [
    revisions > 1 ? `${content}, with all ${revisions} revisions` : content,
    `The votes on it: ${votes_positive} yes, ${votes_negative} no. Your karma changes with them`,
    'Its page: links to it lead nowhere',
  ];
}
