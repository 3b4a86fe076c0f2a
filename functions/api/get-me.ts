import * as v from 'valibot';
import { invalidToken } from '../../shared/base/errors.ts';
import { listOf } from '../../shared/base/values.ts';
import { type Docs, endpoint } from '../../shared/core/http/endpoint.ts';
import { Caller } from '../../shared/core/http/request.ts';
import { readActivity } from '../../shared/core/user/activity.ts';
import { OwnProfileResponse } from '../../shared/core/user/presented.ts';
import { presentOwnProfile } from '../../shared/core/user/user.ts';
import { findAccount } from '../../shared/core/user/user-repository.ts';
import { userTypeOf } from '../../shared/core/user/user-type.ts';

export const request = v.object({
  caller: Caller,
  query: v.object({ inc: v.optional(listOf(['user_type', 'stats']), '') }),
});

export const response = OwnProfileResponse;

export const docs = {
  tag: 'Own account',
  summary: 'Get your profile',
  description:
    'The profile of the user whom the access token acts for. Any token will do, whatever its scopes. The email address is not verified.',
  fields: {
    inc: 'Also include `user_type` (what the karma allows) and `stats` (reviews and votes by day), separated by commas or spaces',
  },
} satisfies Docs<typeof request>;

type Body = v.InferOutput<typeof response>;

export const handler = endpoint(request, async ({ caller, query: { inc } }): Promise<Body> => {
  const [account, stats] = await Promise.all([
    findAccount(caller.user_id),
    inc.includes('stats') ? readActivity(caller.user_id) : undefined,
  ]);
  if (!account) throw invalidToken();
  const { user, contact } = account;
  const { label, votes_per_day } = userTypeOf(user);
  return {
    user: {
      ...presentOwnProfile(user, contact),
      ...(inc.includes('user_type') && { user_type: { label, votes_per_day } }),
      stats,
    },
  };
});
