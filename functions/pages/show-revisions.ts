import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { nameOfEntity, titleOfEntity } from '../../shared/core/entity/entity-type.ts';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import { IntegerParameter, ReviewPath } from '../../shared/core/http/request.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import type { Review } from '../../shared/core/review/review.ts';
import type { Revision } from '../../shared/core/review/revision.ts';
import { listRevisions } from '../../shared/core/review/revision-repository.ts';
import { aboutLine } from '../../shared/pages/entity/named-entity.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { authorLine } from '../../shared/pages/frame/person.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { minuteOf } from '../../shared/pages/frame/words.ts';
import { inFull } from '../../shared/pages/review/written-parts.ts';

/** Bytes of a page's revisions: at least two of the longest texts. */
const maxBytes = 64 * 1024;

export const request = v.object({
  path: ReviewPath,
  query: v.object({ before: v.optional(IntegerParameter(1)) }),
});

/** Shows the revisions of a review. */
export const handler = visitedPage(request, async ({ path: { review_id }, query }) => {
  const { review, author } = await getPublicReview(review_id);
  const [revisions, [metadata = null]] = await Promise.all([
    listRevisions(review, { ...query, maxBytes }),
    findMetadata([review]),
  ]);
  const name = nameOfEntity(review, metadata);
  const address = `${authUrl()}/review/${review_id}`;
  const oldest = revisions.at(-1)?.id ?? 1;
  return {
    title: `Revisions of ${titleOfEntity(review, metadata)}, reviewed by ${author.display_name}`,
    heading: html`Revisions of <a href="${address}"><bdi>${name}</bdi></a>`,
    head: headOf({ path: `/review/${review_id}/revisions`, type: 'article', isUnlisted: true }),
    content: html`<section>
        ${aboutLine(review, metadata)}
        ${authorLine(author)}
        <p class="soft">The newest revision comes first.</p>
      </section>
      ${revisions.map((revision) => sectionOf(review, revision))}
      ${oldest > 1 && html`<section><p><a class="button quiet" rel="next" href="${withQuery(`${address}/revisions`, { before: oldest })}">Earlier revisions</a></p></section>`}`,
  };
});

function sectionOf({ language }: Review, revision: Revision) {
  return html`<section>
    <h2>Revision ${revision.id}</h2>
    <p class="soft">${minuteOf(revision.timestamp)}</p>
    ${inFull({ ...revision, language })}
  </section>`;
}
