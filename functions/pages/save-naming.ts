import * as v from 'valibot';
import { SeenVersion } from '../../shared/entity/record.ts';
import { EntityPath } from '../../shared/http/request.ts';
import { correctName } from '../../shared/moderation/correction.ts';
import { namingFields } from '../../shared/moderation/naming-fields.ts';
import { namingPage } from '../../shared/pages/entity/name-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { ReviewedType } from '../../shared/review/review.ts';
import { Text } from '../../shared/values.ts';

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
