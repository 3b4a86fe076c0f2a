import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { pagedAnswer, pagedParameters } from '../../shared/core/http/paged.ts';
import { listedOf } from '../../shared/core/review/listed-users.ts';
import { presentUser } from '../../shared/core/user/user.ts';
import { listUsers } from '../../shared/core/user/user-list.ts';

export { UserPage as response } from '../../shared/core/user/presented.ts';
export const request = v.object({ query: v.object(pagedParameters) });

export const docs = {
  tag: 'Users',
  summary: 'List users',
  description:
    'Oldest first. A service may list only people with a public review. Its pages are then shorter, and `count` and `offset` still count everybody.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, ({ query }) =>
  pagedAnswer(
    query,
    (position) => listUsers({ ...position, limit: query.limit }),
    async ({ count, users }) => ({
      count,
      items: { users: (await listedOf(users)).map(presentUser) },
    }),
  ),
);
