// A person's own reviews, in any state, as their account shows them.
import { html } from 'hono/html';
import { authUrl } from '../../../base/auth-url.ts';
import { nameOfEntity } from '../../../core/entity/entity-type.ts';
import type { Metadata } from '../../../core/entity/presented.ts';
import { isDraft, isHeld, isPublic, type Review } from '../../../core/review/review.ts';
import { aboutLine } from '../../../pages/entity/named-entity.ts';
import { pictureTile } from '../../../pages/entity/picture.ts';
import type { Html } from '../../../pages/frame/layout.ts';
import { nothingYet, toFind } from '../../../pages/frame/next-steps.ts';
import { dayOf } from '../../../pages/frame/words.ts';
import { inShort } from '../../../pages/review/written-parts.ts';
import { decisionOf, saying, stateOf } from '../../moderation/public.ts';
import { appealOn } from './appeal.ts';

/** An own review, and the name of its thing, if that has one. */
export interface OwnReview {
  review: Review;
  metadata: Metadata | null | undefined;
}

/**
 * Renders reviews, each with its state, votes and ways to change it. With a CSRF token, each also
 * has what a moderator wrote of it, and the form of an appeal.
 */
export function ownReviews(written: readonly OwnReview[], csrf?: string): Html {
  if (written.length === 0) {
    return nothingYet('You have not reviewed anything yet.', toFind(), {
      href: `${authUrl()}/reviews`,
      text: 'Read what others have reviewed',
    });
  }
  return html`<ul class="plain">${written.map((each) => html`<li class="thing">${ownReview(each, csrf)}</li>`)}</ul>`;
}

/** Buttons for all that its author may do with a review. */
export function ownButtons({ id }: Review): Html {
  const url = `${authUrl()}/review/${id}`;
  return html`<div class="buttons">
      <a class="button" href="${url}/edit">Edit your review</a>
      <a class="button danger" href="${url}/delete">Delete your review …</a>
      <a class="button quiet" href="${authUrl()}/account/reviews">All your reviews</a>
    </div>`;
}

function ownReview({ review, metadata }: OwnReview, csrf: string | undefined) {
  const url = `${authUrl()}/review/${review.id}`;
  const name = html`<bdi>${nameOfEntity(review, metadata)}</bdi>`;
  const { votes_positive: yes, votes_negative: no } = review;
  return html`${pictureTile(review, metadata)}
    <div>
      <h3>${isPublic(review) ? html`<a href="${url}">${name}</a>` : name}</h3>
      ${aboutLine(review, metadata)}
      <div class="cell">${inShort(review)}</div>
      <p class="soft">${stateIn(review)} · ${dayOf(review.published_on ?? review.created)}${yes + no > 0 && html` · Yes\u00a0${yes} · No\u00a0${no}`}</p>
      ${isHeld(review) && html`<p class="soft">Nobody else can see it until then.</p>`}
      ${csrf !== undefined && (review.is_hidden ? whyHidden(review, csrf) : refusal(review))}
      <ul class="row">
        <li><a href="${url}/edit">${isDraft(review) ? 'Edit or publish' : 'Edit'}</a></li>
        <li><a href="${url}/delete">Delete</a></li>
      </ul>
    </div>`;
}

/** The state in words. Any other than public stands out. */
function stateIn(review: Review) {
  const state = stateOf(review);
  return isPublic(review) && review.waiting_since === undefined
    ? state
    : html`<strong>${state}</strong>`;
}

/** The reason why the last edit was refused, until the next decision or edit. */
function refusal({ moderation, waiting_since }: Review) {
  if (moderation?.decision !== 'refuse' || waiting_since !== undefined) return '';
  return html`<p class="soft">${decisionOf(moderation)}</p>${saying(moderation.note)}`;
}

function whyHidden(review: Review, csrf: string) {
  if (isHeld(review)) return '';
  return html`${saying(review.moderation?.note ?? '')}${appealOn(review, csrf)}`;
}
