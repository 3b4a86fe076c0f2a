import * as v from 'valibot';
import { EntityPath } from '../../shared/http/request.ts';
import { recordUrl } from '../../shared/pages/entity/naming-form.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { requireModerator } from '../../shared/pages/moderation/moderation.ts';
import { ReviewedType } from '../../shared/review/review.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
});

/** Redirects moderators to the page of the thing, which has what people want to correct. */
export const handler = page(request, ({ path, query }, { visitor }) => {
  requireModerator(visitor);
  return { location: recordUrl({ ...path, ...query }) };
});
