// Who may open an account.
export {
  createInvitation,
  endOf,
  findInvitation,
  type Invitation,
  InvitationNote,
  InvitationToken,
  invitationLimits,
  joinWrite,
  listInvitations,
  revokeInvitation,
} from './invitation.ts';
export { kinds } from './kinds.ts';
export { mayJoin, readMembers, takesInvitations } from './members.ts';
