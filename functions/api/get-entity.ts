import * as v from 'valibot';
import { fitting } from '../../shared/base/answer-size.ts';
import { bytesOf } from '../../shared/base/bytes-of.ts';
import { linksOf } from '../../shared/base/links.ts';
import { knownEntity, presentMetadata, presentState } from '../../shared/core/entity/metadata.ts';
import { isPublicName } from '../../shared/core/entity/state.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { EntityPath, Flag } from '../../shared/core/http/request.ts';
import { Answer, brieflyShared } from '../../shared/core/http/response.ts';
import type { AuthoredReview } from '../../shared/core/review/read-reviews.ts';
import { presentReview, type WholeReview } from '../../shared/core/review/review.ts';
import { readEntity } from '../../shared/core/summary/summary.ts';

export { EntityOverview as response } from '../../shared/core/summary/presented.ts';
export const request = v.object({
  path: EntityPath,
  query: v.object({ include_metadata: Flag() }),
});

export const docs = {
  tag: 'Entities',
  summary: 'Read an entity',
  description:
    'Its public reviews in numbers, with the three latest and the three most popular. One with very long imported reviews may show fewer.',
  headers: ['Link'],
  fields: {
    include_metadata: '`true` adds the name of the entity, what tells it apart, and its page',
  },
} satisfies Docs<typeof request>;

/** Presents the latest and the popular reviews, as many as fit the answer. */
function present({ latest, popular }: Record<'latest' | 'popular', AuthoredReview<WholeReview>[]>) {
  const all = [...latest, ...popular].map(({ review, author }) => presentReview(review, author));
  const shown = all.slice(0, fitting(all.map(bytesOf)));
  return { latest: shown.slice(0, latest.length), popular: shown.slice(latest.length) };
}

export const handler = endpoint(request, async ({ path, query }) => {
  const { summary, record, ...reviews } = await readEntity(path.entity_id);
  const { led_from = [] } = record && isPublicName(record) ? record : {};
  const entity = { ...summary, ...presentState(record), led_from };
  const body = { entity, ...present(reviews) };
  const headers = { 'Cache-Control': brieflyShared, Link: linksOf(path) };
  if (query.include_metadata === 'false') return new Answer(body, { headers });
  const isShown = record && isPublicName(record);
  const metadata = isShown ? presentMetadata(knownEntity(record)) : null;
  return new Answer({ ...body, metadata }, { headers });
});
