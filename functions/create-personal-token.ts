import * as v from 'valibot';
import { bodyOf } from '../shared/http/request.ts';
import { createPersonalToken, lifetimes } from '../shared/oauth/personal-token-repository.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { newTokenPage, tokensPage } from '../shared/pages/tokens-page.ts';
import { scopes } from '../shared/routes.ts';
import { Name } from '../shared/values.ts';

const Ticked = v.optional(v.literal('yes', 'must be ticked or not'));

export const request = v.object({
  caller: Session,
  body: bodyOf({
    name: Name(64),
    days: v.picklist(lifetimes.map(String), `must be ${lifetimes.join(', ')} days`),
    review: Ticked,
    vote: Ticked,
    user: Ticked,
  }),
});

/** Makes a personal access token, and shows it this once: an answer that is lost is a token to revoke. */
export const handler = page(
  request,
  async ({ caller: { user_id }, body }) => {
    const { name } = body;
    const asked = scopes.filter((scope) => body[scope]);
    const days = lifetimes.find((each) => `${each}` === body.days) ?? lifetimes[0];
    const made = await createPersonalToken({ user_id, name, scopes: asked, days });
    return newTokenPage(name, made, asked);
  },
  ({ caller }, filled, { visitor }) => tokensPage(caller.user_id, visitor.csrf, filled),
);
