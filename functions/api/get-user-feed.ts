import * as v from 'valibot';
import { reviewFeed } from '../../shared/feed/atom.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { UserPath } from '../../shared/http/request.ts';
import { Answer, brieflyShared } from '../../shared/http/response.ts';
import { atomType } from '../../shared/links.ts';
import { getUser } from '../../shared/user/user-repository.ts';

export { AtomFeed as response } from '../../shared/review/presented.ts';
export const request = v.object({ path: UserPath });

export const docs = {
  tag: 'Users',
  summary: 'Follow the reviews by a user in a feed reader',
  description:
    'An Atom feed like that of an entity, with the 50 newest public reviews by the user.',
  type: 'application/atom+xml',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path: { user_id } }) => {
  const { display_name } = await getUser(user_id);
  const feed = await reviewFeed({ user_id }, () => `Reviews by ${display_name}`);
  return new Answer(feed, { type: atomType, headers: { 'Cache-Control': brieflyShared } });
});
