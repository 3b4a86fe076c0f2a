import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import { nameOfEntity, titleOfEntity } from '../../shared/entity/entity-type.ts';
import { findMetadata } from '../../shared/entity/metadata.ts';
import { ReviewPath } from '../../shared/http/request.ts';
import { hiddenReviewPage } from '../../shared/pages/account/hidden-review-page.ts';
import { entityLine, oembedUrl } from '../../shared/pages/entity/named-entity.ts';
import { reviewData } from '../../shared/pages/entity/structured-data.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { nameOfLanguage } from '../../shared/pages/frame/language-names.ts';
import type { Page, Visitor } from '../../shared/pages/frame/layout.ts';
import { authorLine } from '../../shared/pages/frame/person.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { dayOf } from '../../shared/pages/frame/words.ts';
import { voteSection } from '../../shared/pages/review/vote-form.ts';
import { excerptOf, inFull } from '../../shared/pages/review/written-parts.ts';
import { licenseOf } from '../../shared/review/licenses.ts';
import { currentRevision, type Review } from '../../shared/review/review.ts';
import { type AuthoredReview, getPublicReview } from '../../shared/review/review-repository.ts';
import { findBallot } from '../../shared/vote/vote-repository.ts';

export const request = v.object({ path: ReviewPath });

export const handler = visitedPage(request, ({ path: { review_id } }, reading) =>
  reviewPage(review_id, reading).catch(async (error) =>
    hiddenReviewPage(review_id, await reading, error),
  ),
);

/** The page of a public review. Throws ApiError 404 for any other. */
async function reviewPage(review_id: string, reading: Promise<Visitor | undefined>): Promise<Page> {
  const [authored, visitor, ballot] = await Promise.all([
    getPublicReview(review_id),
    reading,
    reading.then((person) => person && findBallot(review_id, person.user)),
  ]);
  const { review, author } = authored;
  const [metadata = null] = await findMetadata([review]);
  const name = nameOfEntity(review, metadata);
  const base = authUrl();
  const { rating, text, published_on, created } = review;
  const title = `${titleOfEntity(review, metadata)}, reviewed by ${author.display_name}`;
  const href = oembedUrl(`${base}/review/${review_id}`);
  return {
    title,
    heading: html`<a href="${base}/entity/${review.entity_id}"><bdi>${name}</bdi></a>`,
    description: text === null ? `${rating} of 5 stars.` : excerptOf(text),
    head: headOf({
      path: `/review/${review_id}`,
      type: 'article',
      alternates: [{ type: 'application/json+oembed', href, title }],
      data: reviewData(authored, metadata),
    }),
    content: html`<section>
        ${entityLine(review, metadata)}
        ${authorLine(author, dayOf(published_on ?? created))}
        ${inFull(review)}
      </section>
      ${visitor?.user.id === author.id ? ownLinks(review) : voteSection(review, visitor, ballot)}
      ${facts(review)}
      ${attribution(authored, titleOfEntity(review, metadata))}
      ${
        visitor?.user.id !== author.id &&
        html`<section>
          <p><a class="button quiet" rel="nofollow" href="${base}/review/${review_id}/report">Report this review</a></p>
        </section>`
      }`,
  };
}

/** Links for the author of the review. */
function ownLinks({ id }: Review) {
  const address = `${authUrl()}/review/${id}`;
  return html`<section>
    <h2>Your review</h2>
    <div class="buttons">
      <a class="button" href="${address}/edit">Edit your review</a>
      <a class="button danger" href="${address}/delete">Delete your review …</a>
      <a class="button quiet" href="${authUrl()}/account/reviews">All your reviews</a>
    </div>
  </section>`;
}

function facts(review: Review) {
  const { id, language } = review;
  const revisions = currentRevision(review);
  return html`<section>
    <h2>About this review</h2>
    <dl>
      <dt>Language</dt><dd>${nameOfLanguage(language)}</dd>
      ${
        revisions > 1 &&
        html`<dt>Revisions</dt>
          <dd>${revisions}, the latest on ${dayOf(review.last_updated)}: <a href="${authUrl()}/review/${id}/revisions">see all revisions</a></dd>`
      }
    </dl>
  </section>`;
}

/** The licence, and a line to credit the review (title, author, source, licence). */
function attribution({ review, author }: AuthoredReview, name: string) {
  const { full_name, info_url } = licenseOf(review);
  return html`<section>
    <h2>Quote this review</h2>
    <p>You may use this review under this licence: <a rel="license" href="${info_url}">${full_name}</a>. Credit its author and this page:</p>
    <p class="copy">“<bdi>${name}</bdi>”, a review by <bdi>${author.display_name}</bdi>, ${authUrl()}/review/${review.id}, ${full_name}, ${info_url}</p>
  </section>`;
}
