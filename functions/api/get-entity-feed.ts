import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { EntityPath } from '../../shared/core/http/request.ts';
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

export const handler = endpoint(request, ({ path: { entity_id } }) => {
  const titleOf = (name = 'an entity without reviews') => `Reviews of ${name}`;
  return reviewFeed({ entity_id }, titleOf);
});
