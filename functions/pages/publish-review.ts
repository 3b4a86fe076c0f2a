import * as v from 'valibot';
import { isOwnType } from '../../shared/entity/entity-type.ts';
import { readRecord } from '../../shared/entity/record.ts';
import { ApiError } from '../../shared/errors.ts';
import {
  firstName,
  mayBeNamed,
  type Naming,
  namingFields,
} from '../../shared/moderation/naming.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { FieldError } from '../../shared/pages/form/way-back.ts';
import { afterSaving } from '../../shared/pages/review/edit-review-page.ts';
import { ReviewedEntity, refilledReview } from '../../shared/pages/review/new-review-page.ts';
import { typedFields } from '../../shared/pages/review/review-fields.ts';
import { findOwnReview } from '../../shared/review/own-reviews.ts';
import {
  isDraft,
  Language,
  LicenseChoice,
  newReview,
  type WholeReview,
} from '../../shared/review/review.ts';
import { getReviewBy, insertReview } from '../../shared/review/review-repository.ts';
import { isSameWritten } from '../../shared/review/written.ts';
import { retryStale } from '../../shared/table/transact.ts';
import { spendNaming } from '../../shared/user/daily-limit.ts';
import type { User } from '../../shared/user/user.ts';

const { name, ...otherNaming } = namingFields;

const ReviewForm = v.object({
  ...typedFields,
  language: Language,
  license_choice: LicenseChoice,
  is_draft: v.optional(v.string()),
  /** Of the thing, if it had no name when the form was shown. */
  name: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text || undefined),
      v.optional(name),
    ),
  ),
  ...otherNaming,
});

/** Publishes a review, or saves a draft. */
export const handler = page(
  signedIn({ query: ReviewedEntity, body: ReviewForm }),
  async ({ caller: { user_id }, query, body }, { visitor }) => {
    const isPublication = body.is_draft !== 'yes';
    const review = newReview(user_id, { ...query, ...body, is_draft: !isPublication });
    try {
      return afterSaving(await insertNamed(review, body, visitor.user), isPublication);
    } catch (error) {
      const earlier = error instanceof ApiError && error.status < 500 && (await findSame(review));
      if (!earlier) throw error;
      return afterSaving(earlier, isPublication);
    }
  },
  ({ query }, filled, { visitor }) => refilledReview(query, filled, visitor),
  { longField: 'text' },
);

/** Stores the review, and the name of the thing if it has none yet. */
function insertNamed(
  review: WholeReview,
  { name, about, url }: Partial<Naming>,
  user: User,
): Promise<WholeReview> {
  // Something of a type of this service was named when it was added.
  if (isOwnType(review.entity_type)) return insertReview(review);
  return retryStale(async () => {
    if (name === undefined) {
      await requireName(review, user);
      return insertReview(review);
    }
    const [naming, spent] = await Promise.all([
      firstName(review, { name, about, url }, user),
      spendNaming('publications', user),
    ]);
    return insertReview(review, naming, naming.length > 0 ? spent : undefined);
  });
}

async function requireName(review: WholeReview, user: User): Promise<void> {
  const record = await readRecord(review);
  if (mayBeNamed(record, user)) throw new FieldError('name', 'Please fill this in.');
}

/** Finds the review that the same form has made before, if it was sent twice. */
async function findSame(review: WholeReview): Promise<WholeReview | undefined> {
  const own = await findOwnReview(review.user_id, review.entity_id);
  if (!own || own === 'hidden') return undefined;
  const stored = await getReviewBy(review.user_id, own.review_id);
  const isSame =
    isSameWritten(stored, review) &&
    stored.language === review.language &&
    stored.license === review.license &&
    isDraft(stored) === isDraft(review);
  return isSame ? stored : undefined;
}
