import * as v from 'valibot';
import { atomType } from '../../shared/base/links.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
import { Answer, brieflyShared } from '../../shared/core/http/response.ts';
import { reviewFeed } from '../../shared/features/feed/public.ts';

export { AtomFeed as response } from '../../shared/core/review/presented.ts';
export const request = v.object({ path: EntityPath });

export const docs = {
  tag: 'Entities',
  summary: 'Follow the reviews of an entity in a feed reader',
  description:
    'The 50 newest public reviews in Atom 1.0 (RFC 4287), with the names of entities. Errors are JSON.',
  type: 'application/atom+xml',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path: { entity_id } }) => {
  const titleOf = (name = 'an entity without reviews') => `Reviews of ${name}`;
  const feed = await reviewFeed({ entity_id }, titleOf);
  return new Answer(feed, { type: atomType, headers: { 'Cache-Control': brieflyShared } });
});
