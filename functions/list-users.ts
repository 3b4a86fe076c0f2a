import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { pagedAnswer, pagedParameters } from '../shared/http/paged.ts';
import { presentUser } from '../shared/user/user.ts';
import { listUsers } from '../shared/user/user-list.ts';

export const request = v.object({ query: v.object(pagedParameters) });

export const handler = endpoint(request, ({ query }) =>
  pagedAnswer(
    query,
    (position) => listUsers({ ...position, limit: query.limit }),
    ({ count, users }) => ({ count, users: users.map(presentUser) }),
  ),
);
