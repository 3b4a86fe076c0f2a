import { farewell } from '../../shared/pages/account/leaving.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';
import { findProviderSignOut } from '../../shared/user/provider-sign-out.ts';
import { endSessions } from '../../shared/user/user-repository.ts';

/** Ends all sessions of the person, stolen cookies too, and then that at the identity provider. */
export const handler = page(signedIn({}), async ({ caller }) => {
  await endSessions(caller.user_id);
  return farewell('sign-out', await findProviderSignOut());
});
