import * as v from 'valibot';
import { farewell } from '../shared/pages/farewell.ts';
import { page } from '../shared/pages/page.ts';
import { Session } from '../shared/pages/session.ts';
import { findProviderSignOut } from '../shared/user/provider-sign-out.ts';
import { endSessions } from '../shared/user/user-repository.ts';

export const request = v.object({ caller: Session });

/**
 * Ends every session of the person, including those of stolen cookies, and then the one at the
 * identity provider.
 */
export const handler = page(request, async ({ caller }) => {
  await endSessions(caller.user_id);
  return farewell('sign-out', await findProviderSignOut());
});
