import * as v from 'valibot';
import { Text } from '../../shared/base/values.ts';
import { SeenVersion } from '../../shared/core/entity/record.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
import { ReviewedType } from '../../shared/core/review/review.ts';
import { correctName, namingFields } from '../../shared/features/names/public.ts';
import { namingPage } from '../../shared/features/things/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';

export const request = signedIn({
  path: EntityPath,
  query: v.object({ entity_type: ReviewedType }),
  body: v.object({
    ...namingFields,
    note: v.optional(Text(0, 500), ''),
    /** Version of the record that the form showed, empty if there was none. */
    seen: SeenVersion,
  }),
});

/** Names something, corrects its name, or proposes a correction to moderators. */
export const handler = page(
  request,
  async ({ path, query, body: { note, seen, ...naming } }, { visitor }) => {
    const entity = { ...path, ...query };
    const outcome = await correctName(entity, { naming, note, seen }, visitor.user);
    return {
      location: withQuery(`/entity/${path.entity_id}`, query),
      notice: outcome === 'named' ? 'name-saved' : `name-${outcome}`,
    };
  },
  ({ path, query }, filled, { visitor }) => namingPage({ ...path, ...query }, visitor, filled),
);
