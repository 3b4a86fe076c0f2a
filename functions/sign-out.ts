import * as v from 'valibot';
import { farewell } from '../shared/http/farewell.ts';
import { page } from '../shared/http/page.ts';
import { Session } from '../shared/http/session.ts';
import { findProviderSignOut } from '../shared/user/provider-sign-out.ts';
import { endSessions } from '../shared/user/user-repository.ts';

export const request = v.object({ caller: Session });

/** Ends every session of the person, also one whose cookie somebody else has got hold of; then that of the identity provider. */
export const handler = page(request, async ({ caller }) => {
  await endSessions(caller.user_id);
  return farewell('sign-out', await findProviderSignOut());
});
