import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { pageParameters } from '../shared/http/request.ts';
import { presentUser } from '../shared/user/user.ts';
import { listUsers } from '../shared/user/user-list.ts';

export const request = v.object({ query: v.object(pageParameters) });

export const handler = endpoint(request, async ({ query: { limit, offset } }) => {
  const { count, users } = await listUsers(limit, offset);
  return { count, limit, offset, users: users.map(presentUser) };
});
