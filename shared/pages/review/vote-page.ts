import { html } from 'hono/html';
import { authUrl } from '../../base/auth-url.ts';
import type { AuthoredReview } from '../../core/review/read-reviews.ts';
import type { Ballot } from '../../core/vote/vote-repository.ts';
import type { Page, Visitor } from '../frame/layout.ts';
import { nameWithRole } from '../frame/person.ts';
import { type Choice, ownVote } from './vote-form.ts';
import { excerptOf } from './written-parts.ts';

/**
 * Page to confirm a vote, for a person who signed in to cast it. An address alone casts no vote,
 * because any site can link to it.
 */
export function votePage(
  { review, author }: AuthoredReview,
  visitor: Visitor,
  ballot: Ballot,
  choice: Choice | undefined,
): Page {
  const href = `${authUrl()}/review/${review.id}`;
  const { text, language } = review;
  return {
    title: 'Was this review helpful?',
    content: html`<section>
        <p>The review by <a href="${href}">${nameWithRole(author)}</a>:</p>
        ${text !== null && html`<p class="review" lang="${language}" dir="auto">${excerptOf(text)}</p>`}
      </section>
      <section>
        ${ownVote(review, visitor, ballot, choice)}
        <p><a href="${href}">Go to the review</a></p>
      </section>`,
  };
}
