import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { licenseOf } from '../../shared/base/licenses.ts';
import { version } from '../../shared/base/routes.ts';
import { nameOfEntity, titleOfEntity } from '../../shared/core/entity/entity-type.ts';
import { ReviewPath } from '../../shared/core/http/request.ts';
import type { AuthoredReview } from '../../shared/core/review/read-reviews.ts';
import { currentRevision, type Review } from '../../shared/core/review/review.ts';
import { findBallot } from '../../shared/core/vote/vote-repository.ts';
import { hiddenReviewPage, ownButtons } from '../../shared/features/account/public.ts';
import { entityLine, oembedUrl } from '../../shared/pages/entity/named-entity.ts';
import { pictureTile } from '../../shared/pages/entity/picture.ts';
import { reviewData } from '../../shared/pages/entity/structured-data.ts';
import { headOf } from '../../shared/pages/frame/head.ts';
import { nameOfLanguage } from '../../shared/pages/frame/language-names.ts';
import type { Page, Visitor } from '../../shared/pages/frame/layout.ts';
import { authorLine } from '../../shared/pages/frame/person.ts';
import { visitedPage } from '../../shared/pages/frame/public-page.ts';
import { dayOf } from '../../shared/pages/frame/words.ts';
import { getReviewWithMore } from '../../shared/pages/review/more-reviews.ts';
import { reviewCard, thingHead } from '../../shared/pages/review/review-card.ts';
import { voteSection } from '../../shared/pages/review/vote-form.ts';
import { excerptOf, inFull } from '../../shared/pages/review/written-parts.ts';

export const request = v.object({ path: ReviewPath });

export const handler = visitedPage(request, ({ path: { review_id } }, reading) =>
  reviewPage(review_id, reading).catch(async (error) =>
    hiddenReviewPage(review_id, await reading, error),
  ),
);

/** The page of a public review. Throws ApiError 404 for any other. */
async function reviewPage(review_id: string, reading: Promise<Visitor | undefined>): Promise<Page> {
  const [authored, visitor, ballot] = await Promise.all([
    getReviewWithMore(review_id),
    reading,
    reading.then((person) => person && findBallot(review_id, person.user)),
  ]);
  const { review, author, metadata } = authored;
  const name = nameOfEntity(review, metadata);
  const base = authUrl();
  const { rating, text, published_on, created } = review;
  const title = `${titleOfEntity(review, metadata)}, reviewed by ${author.display_name}`;
  const href = oembedUrl(`${base}/review/${review_id}`);
  return {
    title,
    top: html`<div class="about">
      ${pictureTile(review, metadata)}
      <div><h1><a href="${base}/entity/${review.entity_id}"><bdi>${name}</bdi></a></h1>${entityLine(review, metadata)}</div>
    </div>`,
    description: text === null ? `${rating} of 5 stars.` : excerptOf(text),
    shownAt: html`<a href="${base}/entity/${review.entity_id}">See it on the page of <bdi>${name}</bdi></a>`,
    head: headOf({
      path: `/review/${review_id}`,
      type: 'article',
      alternates: [{ type: 'application/json+oembed', href, title }],
      data: reviewData(authored, metadata),
    }),
    isWide: true,
    content: html`<div class="desk">
      <div>
      <section>
        ${inFull(review, html`<a href="${base}${version}/review/${review_id}">Read the whole text as JSON</a>`)}
        ${authorLine(author, dayOf(published_on ?? created))}
      </section>
      ${visitor?.user.id === author.id ? ownSection(review) : voteSection(review, visitor, ballot)}
      ${smallPrint(authored, titleOfEntity(review, metadata), visitor?.user.id === author.id)}
      </div>
      <div>${moreReviews(authored, name)}</div>
    </div>`,
  };
}

/** Links for the author of the review. */
function ownSection(review: Review) {
  return html`<section>
    <h2>Your review</h2>
    ${ownButtons(review)}
  </section>`;
}

/** Other reviews of the entity and by the author, and ways to all of them. */
function moreReviews(
  { review, author, ofEntity, byAuthor }: Awaited<ReturnType<typeof getReviewWithMore>>,
  name: string,
) {
  const base = authUrl();
  const isOfOneEntity = true;
  const isOfOneAuthor = true;
  return html`<section class="more">
    <h2>More about <bdi>${name}</bdi></h2>
    ${ofEntity.length > 0 && html`<ul class="plain">${ofEntity.map((each) => html`<li>${reviewCard(each, { isOfOneEntity })}</li>`)}</ul>`}
    <p><a href="${base}/entity/${review.entity_id}">All reviews of <bdi>${name}</bdi></a></p>
  </section>
  <section class="more">
    <h2>More by <bdi>${author.display_name}</bdi></h2>
    ${byAuthor && html`<div>${thingHead(byAuthor.review, byAuthor.metadata)}${reviewCard(byAuthor, { isOfOneAuthor })}</div>`}
    <p><a href="${base}/user/${author.id}">All reviews by <bdi>${author.display_name}</bdi></a></p>
  </section>`;
}

/** The language, revisions and licence in a line each, and the credit for those who quote. */
function smallPrint({ review, author }: AuthoredReview, name: string, isOwn: boolean) {
  const { id, language } = review;
  const { full_name, info_url } = licenseOf(review);
  const address = `${authUrl()}/review/${id}`;
  const revisions = currentRevision(review);
  return html`<section class="small">
    <p>Language: ${nameOfLanguage(language)}${revisions > 1 && html` · ${revisions} revisions, the latest on ${dayOf(review.last_updated)}: <a href="${address}/revisions">see all revisions</a>`}</p>
    <p>Licence: <a rel="license" href="${info_url}">${full_name}</a></p>
    <details>
      <summary>Quote this review</summary>
      <p>Credit its author and this page:</p>
      <p class="copy">“<bdi>${name}</bdi>”, a review by <bdi>${author.display_name}</bdi>, ${address}, ${full_name}, ${info_url}</p>
    </details>
    ${!isOwn && html`<p><a rel="nofollow" href="${address}/report">Report this review</a></p>`}
  </section>`;
}
