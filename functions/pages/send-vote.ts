import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/base/auth-url.ts';
import { ApiError } from '../../shared/base/errors.ts';
import { ReviewPath } from '../../shared/core/http/request.ts';
import { deleteVote, saveVote } from '../../shared/core/vote/vote-repository.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import type { Page } from '../../shared/pages/frame/layout.ts';
import { nextSteps } from '../../shared/pages/frame/next-steps.ts';
import { ownUrl } from '../../shared/pages/frame/own-url.ts';
import { type Choice, VoteChoice } from '../../shared/pages/review/vote-form.ts';

export const request = signedIn({
  path: ReviewPath,
  query: v.object({ vote: VoteChoice }),
  body: v.object({
    /** The list to return to. The default is the page of the review. */
    return_to: v.optional(v.pipe(v.string(), v.maxLength(800, 'must have at most 800 characters'))),
  }),
});

/** Casts, changes or takes back a vote, and returns to the page where the form was. */
export const handler = page(request, async ({ caller, path: { review_id }, query, body }) => {
  const list = body.return_to === undefined ? undefined : ownUrl(body.return_to);
  try {
    await vote(review_id, caller.user_id, query.vote);
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 404].includes(error.status)) {
      const path = error.status === 404 ? '/' : `/review/${review_id}`;
      return refusal(error, list ?? authUrl() + path);
    }
    throw error;
  }
  return {
    location: list ? `${list}#review-${review_id}` : `/review/${review_id}#vote`,
    notice: query.vote === 'none' ? 'vote-taken-back' : 'vote-cast',
  };
});

/** The same form sent twice finds its vote taken back already, which is what it asks for. */
async function vote(reviewId: string, userId: string, choice: Choice): Promise<void> {
  if (choice !== 'none') {
    await saveVote(reviewId, userId, choice === 'up');
    return;
  }
  await deleteVote(reviewId, userId).catch((error) => {
    const isGone = error instanceof ApiError && error.message === 'Vote not found';
    if (!isGone) throw error;
  });
}

function refusal({ status, message, headers }: ApiError, href: string): Page {
  return {
    title: 'Nothing was changed',
    status,
    headers,
    content: html`<section>
      <p>${message}.</p>
      ${nextSteps({ href, text: 'Go back to the page' })}
    </section>`,
  };
}
