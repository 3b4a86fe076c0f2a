import * as v from 'valibot';
import { scopes } from '../../shared/base/routes.ts';
import { Name } from '../../shared/base/values.ts';
import { bodyOf } from '../../shared/core/http/request.ts';
import {
  createPersonalToken,
  lifetimes,
} from '../../shared/core/oauth/personal-token-repository.ts';
import { newTokenPage, tokensPage } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

const Ticked = v.optional(v.literal('yes', 'must be ticked or not'));

export const request = signedIn({
  body: bodyOf({
    name: Name(64),
    days: v.picklist(lifetimes.map(String), `must be ${lifetimes.join(', ')} days`),
    review: Ticked,
    vote: Ticked,
    user: Ticked,
  }),
});

/** Creates a token and shows it once. If the response is lost, the token has to be revoked. */
export const handler = page(
  request,
  async ({ caller: { user_id }, body }) => {
    const { name } = body;
    const choice = scopes.filter((scope) => body[scope]);
    const days = lifetimes.find((each) => `${each}` === body.days) ?? lifetimes[0];
    const token = await createPersonalToken({ user_id, name, scopes: choice, days });
    return newTokenPage(name, token, choice);
  },
  (_, filled, { visitor }) => tokensPage(visitor, filled),
);
