import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { UserPath } from '../../shared/core/http/request.ts';
import { getUser } from '../../shared/core/user/user-repository.ts';
import { reviewFeed } from '../../shared/features/feed/public.ts';

export { AtomFeed as response } from '../../shared/core/review/presented.ts';
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
  return reviewFeed({ user_id }, () => `Reviews by ${display_name}`);
});
