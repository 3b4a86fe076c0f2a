import * as v from 'valibot';
import { linksOf } from '../../shared/base/links.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { UserPath } from '../../shared/core/http/request.ts';
import { Answer } from '../../shared/core/http/response.ts';
import { presentUser } from '../../shared/core/user/user.ts';
import { getUser } from '../../shared/core/user/user-repository.ts';

export { UserResponse as response } from '../../shared/core/user/presented.ts';
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
