import * as v from 'valibot';
import { Filled } from '../../shared/base/values.ts';
import { isOwnType } from '../../shared/core/entity/entity-type.ts';
import { readRecord } from '../../shared/core/entity/record.ts';
import { newReview, type WholeReview } from '../../shared/core/review/review.ts';
import { insertReview } from '../../shared/core/review/review-repository.ts';
import type { User } from '../../shared/core/user/user.ts';
import { firstName, mayBeNamed, namingFields } from '../../shared/features/names/public.ts';
import { ReviewedEntity, refilledReview } from '../../shared/features/things/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { FieldError } from '../../shared/pages/form/way-back.ts';
import { newReviewEntries } from '../../shared/pages/review/review-fields.ts';
import { insertNamed, requireContent, saveNew } from '../../shared/pages/review/sent-review.ts';

const { name, ...otherNaming } = namingFields;

const ReviewForm = v.object({
  ...newReviewEntries,
  is_draft: v.optional(v.string()),
  /** Of the thing, if it had no name when the form was shown. */
  name: Filled(name),
  ...otherNaming,
});

/** Publishes a review, or saves a draft. */
export const handler = page(
  signedIn({ query: ReviewedEntity, body: ReviewForm }),
  async ({ caller: { user_id }, query, body }, { visitor: { user } }) => {
    requireContent(body);
    const review = newReview(user_id, { ...query, ...body, is_draft: body.is_draft === 'yes' });
    // Something of a type of this service was named when it was added.
    if (isOwnType(review.entity_type)) return saveNew(review);
    const { name, about, url } = body;
    if (name === undefined) return saveNew(review, () => insertKnown(review, user));
    const naming = { name, about, url };
    return saveNew(review, () => insertNamed(review, user, () => firstName(query, naming, user)));
  },
  ({ query }, filled, { visitor }) => refilledReview(query, filled, visitor),
  { longField: 'text' },
);

/** Stores the review, unless the form has to name its thing. */
async function insertKnown(review: WholeReview, user: User): Promise<WholeReview> {
  const record = await readRecord(review);
  if (mayBeNamed(record, user)) throw new FieldError('name', 'Please fill this in.');
  return insertReview(review);
}
