import * as v from 'valibot';
import { reviewFeed } from '../../shared/feed/atom.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { Answer, brieflyShared } from '../../shared/http/response.ts';
import { atomType } from '../../shared/links.ts';

export { AtomFeed as response } from '../../shared/review/presented.ts';
export const request = v.object({});

export const docs = {
  tag: 'Reviews',
  summary: 'Follow all reviews in a feed reader',
  description: 'An Atom feed like that of an entity, with the 50 newest public reviews of all.',
  type: 'application/atom+xml',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async () => {
  const feed = await reviewFeed('site', () => 'Reviews');
  return new Answer(feed, { type: atomType, headers: { 'Cache-Control': brieflyShared } });
});
