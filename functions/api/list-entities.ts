import * as v from 'valibot';
import { EntityTypeIn, entityTypes } from '../../shared/entity/entity-type.ts';
import { knownEntity, presentMetadata } from '../../shared/entity/metadata.ts';
import { findByName } from '../../shared/entity/name-index.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { Answer, brieflyShared } from '../../shared/http/response.ts';
import { isVisible, Text } from '../../shared/values.ts';

export { FoundEntities as response } from '../../shared/entity/presented.ts';

const Query = v.pipe(Text(1, 200), v.check(isVisible, 'must have some visible character'));

export const request = v.object({
  query: v.object({ q: Query, entity_type: v.optional(EntityTypeIn(entityTypes)) }),
});

export const docs = {
  tag: 'Entities',
  summary: 'Find entities by name',
  description:
    'At most 8 entities whose name is known here, the very name first. Case, accents and punctuation make no difference. A name is found by the beginning of any of its first 8 words, or by several of its words.',
  fields: {
    q: 'The name, or the beginning of one or more words of it',
    entity_type: 'Only entities of this type',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ query }) => {
  const records = await findByName(query.q, query.entity_type);
  const entities = records.map((record) => presentMetadata(knownEntity(record)));
  return new Answer({ entities }, { headers: { 'Cache-Control': brieflyShared } });
});
