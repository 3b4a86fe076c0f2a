import * as v from 'valibot';
import { invalidRequest } from '../../shared/base/errors.ts';
import { isVisible, oneOf, Text } from '../../shared/base/values.ts';
import { EntityTypeIn, entityTypes } from '../../shared/core/entity/entity-type.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { nextLink } from '../../shared/core/http/paged.ts';
import { CursorParameter, IntegerParameter } from '../../shared/core/http/request.ts';
import { Answer, brieflyShared } from '../../shared/core/http/response.ts';
import {
  findThings,
  listThings,
  mostLatest,
  presentThing,
  prior,
  thingSorts,
} from '../../shared/features/things/public.ts';

export { ThingPage as response } from '../../shared/features/things/public.ts';

const Name = v.pipe(Text(1, 200), v.check(isVisible, 'must have some visible character'));

export const request = v.object({
  query: v.object({
    q: v.optional(Name),
    sort: v.optional(oneOf(thingSorts)),
    entity_type: v.optional(EntityTypeIn(entityTypes)),
    limit: v.optional(IntegerParameter(1, 50), '50'),
    cursor: CursorParameter(),
  }),
});

export const docs = {
  tag: 'Entities',
  summary: 'Find or list entities',
  description:
    'With `q`, entities by name, 8 on a page: those with at least 100 reviews first, then 10, then 1. Case, accents and punctuation make no difference. A name is found by the beginning of any word of it or of its line (`about`). With `sort`, entities that have public reviews and a name. A page may end before its limit. By `reviews` and `rating`, a walk may miss or repeat an entity that is reviewed meanwhile.',
  headers: ['Link'],
  fields: {
    q: 'The name, or the beginning of one or more words of it. Not together with `sort`',
    sort: `\`reviews\`: by the number of reviews. \`rating\`: by the weighted mean, (sum of the ratings + ${prior.ratings * prior.stars}) / (number of ratings + ${prior.ratings}), so few ratings weigh little. \`latest\`: by the time of the first review, ${mostLatest} on a page. The highest and the newest first`,
    entity_type: 'Only entities of this type',
  },
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ query }) => {
  const { cursor, ...search } = query;
  const { things, next } = await pageOf(query);
  const headers = {
    'Cache-Control': brieflyShared,
    ...(next && { Link: nextLink({ ...search, cursor: next }) }),
  };
  return new Answer({ entities: things.map(presentThing), next }, { headers });
});

function pageOf({ q, sort, entity_type, limit, cursor }: v.InferOutput<typeof request>['query']) {
  if ((q === undefined) === (sort === undefined)) {
    throw invalidRequest(
      'Either q or sort must be sent: q finds entities by name, sort lists them',
    );
  }
  if (q !== undefined) return findThings(q, { type: entity_type, cursor });
  return listThings({ sort: sort ?? 'reviews', entity_type, limit, cursor });
}
