import * as v from 'valibot';
import { EntityPath } from '../../shared/http/request.ts';
import { namingPage } from '../../shared/pages/entity/name-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { ReviewedType } from '../../shared/review/review.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
});

/** Shows the form to name something, or to correct its name. */
export const handler = page(request, ({ path, query }, { visitor }) =>
  namingPage({ ...path, ...query }, visitor),
);
