import * as v from 'valibot';
import { EntityPath } from '../../shared/core/http/request.ts';
import { ReviewedType } from '../../shared/core/review/review.ts';
import { thingPage } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType, q: v.optional(v.string()) }),
});

/** Shows moderators who named a thing, and the forms to remove it or join it with another. */
export const handler = page(request, ({ path, query: { entity_type, q } }, { visitor }) =>
  thingPage({ ...path, entity_type }, visitor, { q }),
);
