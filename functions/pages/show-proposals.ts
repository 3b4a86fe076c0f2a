import * as v from 'valibot';
import { EntityPath } from '../../shared/core/http/request.ts';
import { ReviewedType } from '../../shared/core/review/review.ts';
import { requireModerator } from '../../shared/features/moderation/public.ts';
import { recordUrl } from '../../shared/features/things/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
});

/** Redirects moderators to the page of the thing, which has what people want to correct. */
export const handler = page(request, ({ path, query }, { visitor }) => {
  requireModerator(visitor);
  return { location: recordUrl({ ...path, ...query }) };
});
