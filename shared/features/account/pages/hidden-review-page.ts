// The page of an own review that nobody else can see, where the others read "not found".
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { ApiError } from '../../../base/errors.ts';
import { nameOfEntity } from '../../../core/entity/entity-type.ts';
import { findMetadata } from '../../../core/entity/metadata.ts';
import { getReviewBy } from '../../../core/review/read-reviews.ts';
import { isDraft, isHeld, type Review } from '../../../core/review/review.ts';
import { entityLine } from '../../../pages/entity/named-entity.ts';
import type { Redirect } from '../../../pages/frame/html-response.ts';
import type { Html, Page, Visitor } from '../../../pages/frame/layout.ts';
import { viewerOf } from '../../../pages/frame/person.ts';
import { inFull } from '../../../pages/review/written-parts.ts';
import { saying, stateOf } from '../../moderation/public.ts';
import { appealOn } from './appeal.ts';
import { ownButtons } from './own-reviews.ts';

/** The page for the author after the error of the public page, which it throws for anyone else. */
export async function hiddenReviewPage(
  reviewId: string,
  visitor: Visitor | undefined,
  error: unknown,
): Promise<Page | Redirect> {
  const isMissing = error instanceof ApiError && error.status === 404;
  if (!isMissing || !visitor) throw error;
  const review = await getReviewBy(visitor.user.id, reviewId);
  if (isDraft(review)) return { location: `/review/${reviewId}/edit` };
  const [metadata = null] = await findMetadata([review], viewerOf(visitor));
  const name = nameOfEntity(review, metadata);
  const address = `${authUrl()}/review/${reviewId}`;
  return {
    title: `Your review: ${name}`,
    heading: html`Your review: <bdi>${name}</bdi>`,
    content: html`<section>
        <h2>${stateOf(review)}</h2>
        ${why(review, visitor)}
      </section>
      <section>
        ${entityLine(review, metadata)}
        ${inFull(review, html`<a href="${address}/edit">Read the whole text where you edit it</a>`)}
        ${ownButtons(review)}
      </section>`,
  };
}

function why(review: Review, { csrf }: Visitor): Html {
  if (isHeld(review)) {
    return html`<p>A moderator looks at the first reviews of everybody new. Until then only you and moderators can see it.</p>`;
  }
  return html`<p class="warning">Only you and moderators can see this review.</p>
    ${saying(review.moderation?.note ?? '')}
    ${appealOn(review, csrf)}`;
}
