import * as v from 'valibot';
import { reviewFeed } from '../../shared/feed/atom.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { EntityPath } from '../../shared/http/request.ts';
import { Answer, brieflyShared } from '../../shared/http/response.ts';
import { atomType } from '../../shared/links.ts';

export { AtomFeed as response } from '../../shared/review/presented.ts';
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
