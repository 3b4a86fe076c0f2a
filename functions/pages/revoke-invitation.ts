import * as v from 'valibot';
import { Matching } from '../../shared/base/values.ts';
import { PathParameter } from '../../shared/core/http/request.ts';
import { revokeInvitation } from '../../shared/features/members/public.ts';
import { moderationUrl, requireModerator } from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  path: v.object({ invitation_id: PathParameter('Page', Matching(/^[\da-f]{32}$/)) }),
});

/** Ends an invitation. */
export const handler = page(request, async ({ path: { invitation_id } }, { visitor }) => {
  requireModerator(visitor);
  await revokeInvitation(invitation_id);
  return { location: moderationUrl('/invitations'), notice: 'invitation-revoked' };
});
