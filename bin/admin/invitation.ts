import { Matching } from '../../shared/base/values.ts';
import { IntegerParameter } from '../../shared/core/http/request.ts';
import {
  createInvitation,
  endOf,
  type Invitation,
  InvitationNote,
  invitationLimits,
  listInvitations,
  revokeInvitation,
} from '../../shared/features/members/public.ts';
import { invitationUrl } from '../../shared/features/moderation/public.ts';
import { type AdminCommand, as } from './command.ts';

const { people: mostPeople, days: mostDays } = invitationLimits;

export function addInvitationCommands(admin: AdminCommand): void {
  const invitation = admin
    .command('invitation')
    .description(
      'links with which people may open an account, where MEMBERS has the entry invited',
    );

  invitation
    .command('create')
    .description('creates an invitation and prints its link, which is stored nowhere')
    .option(
      '--people <number>',
      `the most people who may join, up to ${mostPeople}`,
      as(IntegerParameter(1, mostPeople)),
      10,
    )
    .option(
      '--days <number>',
      `the days until it expires, up to ${mostDays}`,
      as(IntegerParameter(1, mostDays)),
      7,
    )
    .option('--note <text>', 'what it is for; moderators read it', as(InvitationNote))
    .answer(async (options: { people: number; days: number; note?: string }) => {
      const { token, invitation } = await createInvitation(options);
      return { link: invitationUrl(token), ...present(invitation) };
    });

  invitation
    .command('list')
    .description('lists the invitations and how many people joined by each, the newest first')
    .answer(async () => ({ invitations: (await listInvitations()).map(present) }));

  invitation
    .command('revoke')
    .description('ends an invitation; the people who joined stay')
    .argument(
      '<invitation id>',
      'the invitation',
      as(Matching(/^[\da-f]{32}$/, 'must be 32 hexadecimal digits')),
    )
    .answer(async (id: string) => {
      await revokeInvitation(id);
      return { id, is_revoked: true };
    });
}

function present(invitation: Invitation) {
  const { id, note, created, ends_at, people, joined, revoked_at = null } = invitation;
  const is_open = endOf(invitation) === undefined;
  return { id, note, created, ends_at, people, joined, revoked_at, is_open };
}
