import * as v from 'valibot';
import { invalidRequest } from '../../shared/base/errors.ts';
import { bodyOf, IntegerParameter } from '../../shared/core/http/request.ts';
import {
  createInvitation,
  InvitationNote,
  invitationLimits,
  takesInvitations,
} from '../../shared/features/members/public.ts';
import {
  invitationDays,
  invitationsPage,
  newInvitationPage,
  requireModerator,
} from '../../shared/features/moderation/public.ts';
import { page, signedIn } from '../../shared/pages/form/page.ts';

export const request = signedIn({
  body: bodyOf({
    people: IntegerParameter(1, invitationLimits.people),
    days: v.picklist(invitationDays.map(String), `must be ${invitationDays.join(', ')} days`),
    note: v.optional(v.union([v.literal(''), InvitationNote]), ''),
  }),
});

/** Creates an invitation and shows its link once. If the answer is lost, revoke the invitation. */
export const handler = page(
  request,
  async ({ body: { people, days, note } }, { visitor }) => {
    requireModerator(visitor);
    if (!takesInvitations()) throw invalidRequest('The operator has not allowed invitations here');
    const options = { people, days: Number(days), note: note || null };
    const { token, invitation } = await createInvitation(options);
    return newInvitationPage(token, invitation);
  },
  (_, filled, { visitor }) => invitationsPage(visitor, filled),
);
