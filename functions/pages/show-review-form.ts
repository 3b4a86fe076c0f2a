import * as v from 'valibot';
import { ReviewedEntity, startReview } from '../../shared/features/things/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

const { entity_id, entity_type } = ReviewedEntity.entries;

export const request = signedIn({
  query: v.object({ entity_id: v.optional(entity_id), entity_type: v.optional(entity_type) }),
});

/**
 * Shows the form to write a review of an entity. Other sites link to it. Without an entity it leads
 * to the search, and without a type to the page that asks for one.
 */
export const handler = page(request, ({ query: { entity_id, entity_type } }, { visitor }) => {
  if (entity_id === undefined) return { location: '/find' };
  if (entity_type === undefined) return { location: `/entity/${entity_id}` };
  return startReview({ entity_id, entity_type }, visitor);
});
