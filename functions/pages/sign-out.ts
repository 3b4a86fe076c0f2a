import { endSessions } from '../../shared/core/user/user-repository.ts';
import { farewell, findProviderSignOut } from '../../shared/features/account/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { readIdToken } from '../../shared/pages/session/session.ts';

/** Ends all sessions of the person, stolen cookies too, and then that at the identity provider. */
export const handler = page(signedIn({}), async ({ caller }, { event }) => {
  await endSessions(caller.user_id);
  return farewell('sign-out', await findProviderSignOut(readIdToken(event)));
});
