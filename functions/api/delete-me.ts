import * as v from 'valibot';
import { deleteAccount } from '../../shared/account/delete-account.ts';
import { type Docs, endpoint } from '../../shared/http/endpoint.ts';
import { Caller } from '../../shared/http/request.ts';
import { processed } from '../../shared/http/response.ts';

export { Processed as response } from '../../shared/http/presented.ts';
export const request = v.object({ caller: Caller });

export const docs = {
  tag: 'Own account',
  summary: 'Delete your account',
  description:
    'Deletes the account and all its reviews, votes, reports, applications and grants. This cannot be undone. If a moderator has blocked the account, a hash of the identity stays, and the next account of the same person is blocked too.',
} satisfies Docs<typeof request>;

export const handler = endpoint(request, async ({ caller }) => {
  await deleteAccount(caller.user_id);
  return processed;
});
