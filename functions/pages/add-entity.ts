import * as v from 'valibot';
import { oneOf, Uuid } from '../../shared/base/values.ts';
import { entityGroups } from '../../shared/core/entity/entity-type.ts';
import { newReview } from '../../shared/core/review/review.ts';
import type { WrittenName } from '../../shared/core/review/written.ts';
import { addEntity, addition, namingFields } from '../../shared/features/names/public.ts';
import {
  findNamesakes,
  isOther,
  ReviewedEntity,
  refilledReview,
  refilledThing,
  requireOwnTypes,
} from '../../shared/features/things/public.ts';
import { entityUrl } from '../../shared/pages/entity/addresses.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { FieldError } from '../../shared/pages/form/way-back.ts';
import { newReviewEntries } from '../../shared/pages/review/review-fields.ts';
import { insertNamed, requireContent, saveNew } from '../../shared/pages/review/sent-review.ts';

const thing = {
  /** Made with the form, so that a form that is sent twice adds one thing. */
  entity_id: Uuid,
  entity_type: oneOf(entityGroups.get('own') ?? []),
  ...namingFields,
  /** The thing of the same name that the person means. */
  same_as: v.optional(v.union([Uuid, v.literal(isOther)])),
};

/** A field of a review that is not saved. */
const Unwritten = (otherwise: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.check((text) => text.trim() === '', otherwise),
    ),
  );

const unwritten = {
  text: Unwritten('would be lost. Publish it, save it as a draft, or empty this field'),
  rating: Unwritten('would be lost. Publish it, save it as a draft, or choose “No stars”'),
} satisfies Record<WrittenName, v.GenericSchema>;

const ThingForm = v.variant('review', [
  v.object({
    ...thing,
    review: v.optional(v.literal('none'), 'none'),
    ...unwritten,
  }),
  v.object({ ...thing, review: v.picklist(['publish', 'draft']), ...newReviewEntries }),
]);

/** Adds something of a type of this service, with a review or without one. */
export const handler = page(
  signedIn({ body: ThingForm }),
  async ({ caller: { user_id }, body }, { visitor: { user } }) => {
    requireOwnTypes();
    const { name, about, url, same_as, ...sent } = body;
    const added = { entity_id: body.entity_id, entity_type: body.entity_type };
    const namesakes = same_as === isOther ? [] : await findNamesakes(added, name);
    const meant = namesakes.find(({ entity_id }) => entity_id === same_as);
    if (namesakes.length > 0 && !meant) throw new FieldError('same_as', 'Please choose one.');
    const entity = meant ?? added;
    if (sent.review === 'none') {
      if (meant) return { location: entityUrl(meant) };
      await addEntity(added, { name, about, url }, user);
      return { location: entityUrl(added), notice: 'entity-added' };
    }
    requireContent(sent);
    const { entity_id, entity_type } = entity;
    const is_draft = sent.review === 'draft';
    const review = newReview(user_id, { ...sent, entity_id, entity_type, is_draft });
    if (meant) return saveNew(review);
    const naming = { name, about, url };
    return saveNew(review, () => insertNamed(review, user, () => addition(added, naming, user)));
  },
  (_, filled, { visitor }) => {
    const { same_as, entity_type } = filled.values;
    const meant = v.safeParse(ReviewedEntity, { entity_id: same_as, entity_type });
    if (meant.success) return refilledReview(meant.output, filled, visitor);
    return refilledThing(visitor, filled);
  },
  { longField: 'text' },
);
