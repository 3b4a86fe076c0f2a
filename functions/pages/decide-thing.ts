import * as v from 'valibot';
import { oneOf, Uuid } from '../../shared/base/values.ts';
import { SeenVersion } from '../../shared/core/entity/record.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
import { type Decider, Grounds } from '../../shared/core/report/decision.ts';
import { ReviewedType } from '../../shared/core/review/review.ts';
import { requireModerator, thingPage } from '../../shared/features/moderation/public.ts';
import {
  confirmName,
  leadThing,
  removeThing,
  returnThing,
} from '../../shared/features/names/public.ts';
import { recordUrl } from '../../shared/features/things/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
  body: v.object({
    decision: oneOf(['confirm', 'remove', 'lead', 'return']),
    /** Version of the record that the moderator has seen, empty if older code stored it. */
    seen: SeenVersion,
    /** The thing that it is the same as. */
    other: v.optional(Uuid),
    hides_reviews: v.optional(v.string()),
    reason: v.optional(Grounds.entries.reason, 'other'),
    note: v.optional(Grounds.entries.note, ''),
  }),
});

/** Confirms a name, removes a thing, joins it with another, or undoes either. */
export const handler = page(
  request,
  async ({ caller, path, query, body }, { visitor }) => {
    requireModerator(visitor);
    const entity = { ...path, ...query };
    const { decision, seen, other = '', hides_reviews, reason, note } = body;
    const by: Decider = { reason, note, moderator_id: caller.user_id };
    const decider = { by, seen };
    switch (decision) {
      case 'confirm':
        await confirmName(entity, decider);
        break;
      case 'remove':
        await removeThing(entity, decider, { hidesReviews: hides_reviews === 'yes' });
        break;
      case 'lead':
        await leadThing(entity, other, decider);
        break;
      case 'return':
        await returnThing(entity, decider);
    }
    return { location: recordUrl(entity), notice: `thing-${decision}` };
  },
  ({ path, query }, filled, { visitor }) => thingPage({ ...path, ...query }, visitor, { filled }),
);
