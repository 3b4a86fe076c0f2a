import * as v from 'valibot';
import { entityGroups } from '../../shared/entity/entity-type.ts';
import { notFound } from '../../shared/errors.ts';
import { addEntity } from '../../shared/moderation/correction.ts';
import { namingFields } from '../../shared/moderation/naming.ts';
import { newEntityPage } from '../../shared/pages/entity/new-entity-page.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { withQuery } from '../../shared/pages/frame/own-url.ts';
import { oneOf, Uuid } from '../../shared/values.ts';

export const request = signedIn({
  body: v.object({
    /** Made with the form, so that a form that is sent twice adds one thing. */
    entity_id: Uuid,
    entity_type: oneOf(entityGroups.get('own') ?? []),
    ...namingFields,
  }),
});

/** Adds something of a type of this service, which has its page then. */
export const handler = page(
  request,
  async ({ body: { entity_id, entity_type, ...naming } }, { visitor }) => {
    if (!entityGroups.has('own')) throw notFound('Page');
    await addEntity({ entity_id, entity_type }, naming, visitor.user);
    const location = withQuery(`/entity/${entity_id}`, { entity_type });
    return { location, notice: 'entity-added' };
  },
  (_, filled, { visitor }) => newEntityPage(visitor, filled),
);
