import * as v from 'valibot';
import { findMetadata } from '../../shared/core/entity/metadata.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
import { ReviewedType } from '../../shared/core/review/review.ts';
import { askForMetadata } from '../../shared/features/databases/public.ts';
import { namingPage } from '../../shared/features/things/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { viewerOf } from '../../shared/pages/frame/person.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
});

/** Shows the form to name something, or to correct its name. */
export const handler = page(request, async ({ path, query }, { visitor }) => {
  const entity = { ...path, ...query };
  const [known] = await findMetadata([entity], viewerOf(visitor));
  if (!known && visitor.user.blocked_at === undefined) await askForMetadata(entity);
  return namingPage(entity, visitor);
});
