import * as v from 'valibot';
import { endpoint } from '../shared/http/endpoint.ts';
import { PathId } from '../shared/http/request.ts';
import { presentUser } from '../shared/user/user.ts';
import { getUser } from '../shared/user/user-repository.ts';

export const request = v.object({ path: v.object({ user_id: PathId('User') }) });

export const handler = endpoint(request, async ({ path }) => ({
  user: presentUser(await getUser(path.user_id)),
}));
