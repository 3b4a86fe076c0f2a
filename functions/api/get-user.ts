import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { UserPath } from '../../shared/http/request.ts';
import { Answer } from '../../shared/http/response.ts';
import { linksOf } from '../../shared/links.ts';
import { presentUser } from '../../shared/user/user.ts';
import { getUser } from '../../shared/user/user-repository.ts';

export { UserResponse as response } from '../../shared/user/presented.ts';
export const request = v.object({ path: UserPath });

export const docs = {
  tag: 'Users',
  summary: "Read a user's profile",
  description:
    'The public name and karma. The header `Link` leads to the feed of the reviews and to the page for people.',
  headers: ['Link'],
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ path }) => {
  const user = presentUser(await getUser(path.user_id));
  return new Answer({ user }, { headers: { Link: linksOf(path) } });
});
