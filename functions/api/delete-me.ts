import * as v from 'valibot';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Caller } from '../../shared/core/http/request.ts';
import { processed } from '../../shared/core/http/response.ts';
import { deleteAccount } from '../../shared/features/account/public.ts';

export { Processed as response } from '../../shared/core/http/presented.ts';
export const request = v.object({ caller: Caller });

export const docs = {
  tag: 'Own account',
  summary: 'Delete your account',
  description:
    'Deletes the account and all its reviews, votes, reports, applications and grants. This cannot be undone. If a moderator has blocked the account, a hash of the identity stays, and the person’s next account is blocked too.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller }) => {
  await deleteAccount(caller.user_id);
  return processed;
});
