import { html } from 'hono/html';
import * as v from 'valibot';
import { nameOfEntity } from '../shared/entity/entity-type.ts';
import { findKeptMetadata } from '../shared/entity/metadata.ts';
import { notFound } from '../shared/errors.ts';
import { bodyOf, UserPath } from '../shared/http/request.ts';
import { type Decider, Grounds } from '../shared/moderation/decision.ts';
import { findHistory } from '../shared/moderation/decision-log.ts';
import { decideUser } from '../shared/moderation/decision-repository.ts';
import { allowReview } from '../shared/moderation/hidden-claims.ts';
import { hideReviews, stepSize } from '../shared/moderation/hide-reviews.ts';
import { authorPage } from '../shared/pages/author-page.ts';
import { csrfField, type Page, type Visitor } from '../shared/pages/layout.ts';
import { readDated } from '../shared/pages/lists.ts';
import { moderationUrl, requireModerator } from '../shared/pages/moderation.ts';
import { page, signedIn } from '../shared/pages/page.ts';
import { oneOf, Uuid } from '../shared/values.ts';

export const request = signedIn({
  path: UserPath,
  body: bodyOf({
    decision: oneOf(['block', 'unblock', 'allow', 'hide']),
    /** Entity that the user may review again. */
    entity_id: v.optional(Uuid),
    /** ISO 8601 time of the page that shows what to hide. By default long ago, to hide nothing. */
    seen_at: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, 'must be a time'),
        v.transform((time) => [time, new Date().toISOString()].sort()[0] as string),
      ),
      new Date(0).toISOString(),
    ),
    cursor: v.optional(v.string()),
    ...Grounds.entries,
  }),
});

/** Blocks or unblocks an account, allows a review after a deleted hidden one, or hides reviews. */
export const handler = page(
  request,
  async ({ caller, path, body }, { visitor }) => {
    requireModerator(visitor);
    const { decision, entity_id, seen_at, cursor, ...why } = body;
    const by = { ...why, moderator_id: caller.user_id };
    if (decision === 'hide') return hide(path.user_id, by, { seen_at, cursor }, visitor);
    if (decision === 'allow') await allowReview(path.user_id, entity_id ?? '', by);
    else await decideUser(path.user_id, decision, by);
    return { location: moderationUrl(`/users/${path.user_id}`), notice: `user-${decision}` };
  },
  ({ path }, filled, { visitor }) => authorPage(path.user_id, visitor, { filled }),
);

/** Hides as many reviews as one request can, then offers the next step. Idempotent. */
async function hide(
  userId: string,
  by: Decider,
  { seen_at, cursor: from }: { seen_at: string; cursor?: string | undefined },
  { csrf }: Visitor,
): Promise<Page> {
  const { hidden, left, cursor } = await readDated(
    { list: 'hide', user_id: userId, seen_at },
    from,
    (_, after) => hideReviews(userId, by, seen_at, after),
    stepSize,
  );
  const [history, metadata] = await Promise.all([
    findHistory(userId),
    findKeptMetadata(left.map(({ review }) => review)),
  ]);
  if (!history) throw notFound('User');
  const { user, reviews } = history;
  const fields = { decision: 'hide', seen_at, cursor, reason: by.reason, note: by.note };
  return {
    title: `Reviews by ${user.display_name}`,
    content: html`<section>
      <p class="notice" role="status">
        ${hidden === 1 ? '1 review is' : `${hidden} reviews are`} hidden.
        ${reviews || 'None'} of this author ${reviews === 1 ? 'is' : 'are'} still public.
      </p>
      ${
        left.length > 0 &&
        html`<p>These stay public:</p>
          <ul>${left.map(
            ({ review, why }, i) =>
              html`<li><a href="${moderationUrl(`/reviews/${review.id}`)}"><bdi>${nameOfEntity(review, metadata[i])}</bdi></a>: ${why}</li>`,
          )}</ul>`
      }
      ${
        cursor &&
        html`<form method="post" action="${moderationUrl(`/users/${userId}`)}">
          ${csrfField(csrf)}
          ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
          <button class="danger">Hide the next reviews</button>
        </form>`
      }
      <p><a class="button quiet" href="${moderationUrl(`/users/${userId}`)}">Back to the author</a></p>
    </section>`,
  };
}
