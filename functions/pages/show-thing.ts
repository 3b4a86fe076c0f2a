import * as v from 'valibot';
import { EntityPath } from '../../shared/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { thingPage } from '../../shared/pages/moderation/thing-page.ts';
import { ReviewedType } from '../../shared/review/review.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType, q: v.optional(v.string()) }),
});

/** Shows moderators who named a thing, and the forms to remove it or join it with another. */
export const handler = page(request, ({ path, query: { entity_type, q } }, { visitor }) =>
  thingPage({ ...path, entity_type }, visitor, { q }),
);
