import * as v from 'valibot';
import { EntityPath } from '../../shared/http/request.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { namesPage } from '../../shared/pages/moderation/names-page.ts';
import { ReviewedType } from '../../shared/review/review.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
});

/** Shows moderators the name of an entity, and what people want to correct. */
export const handler = page(request, ({ path, query }, { visitor }) =>
  namesPage({ ...path, ...query }, visitor),
);
