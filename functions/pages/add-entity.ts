import * as v from 'valibot';
import { entityGroups } from '../../shared/entity/entity-type.ts';
import { folded } from '../../shared/entity/folded.ts';
import { type KnownEntity, knownEntity } from '../../shared/entity/metadata.ts';
import { findByName } from '../../shared/entity/name-index.ts';
import type { Entity } from '../../shared/entity/record.ts';
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
    /** Set by a person who has seen what is here by that name, and adds another thing. */
    is_other: v.optional(v.string()),
  }),
});

/** Adds something of a type of this service, which has its page then. */
export const handler = page(
  request,
  async ({ body: { entity_id, entity_type, is_other, ...naming } }, { visitor }) => {
    if (!entityGroups.has('own')) throw notFound('Page');
    const entity = { entity_id, entity_type };
    const same = is_other === 'yes' ? [] : await findSame(entity, naming.name);
    if (same.length > 0) {
      const { name, about = '', url = '' } = naming;
      const values = { ...entity, name, about, url };
      return newEntityPage(visitor, { values, faults: {} }, { same });
    }
    await addEntity(entity, naming, visitor.user);
    const location = withQuery(`/entity/${entity_id}`, { entity_type });
    return { location, notice: 'entity-added' };
  },
  (_, filled, { visitor }) => newEntityPage(visitor, filled),
);

/** Finds other things of the type that have this name, but for case, accents and punctuation. */
async function findSame({ entity_id, entity_type }: Entity, name: string): Promise<KnownEntity[]> {
  const found = await findByName(name, entity_type);
  const others = found.filter((record) => record.entity_id !== entity_id);
  return others.filter((record) => folded(record.name) === folded(name)).map(knownEntity);
}
