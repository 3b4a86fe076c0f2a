import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { reviewFeed } from '../../shared/features/feed/public.ts';

export { AtomFeed as response } from '../../shared/core/review/presented.ts';
export const request = v.object({});

export const docs = {
  tag: 'Reviews',
  summary: 'Follow all reviews in a feed reader',
  description: 'An Atom feed like that of an entity, with the 50 newest public reviews of all.',
  type: 'application/atom+xml',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, () => reviewFeed('site', () => 'Reviews'));
