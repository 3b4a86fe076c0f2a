import { deleteAccount } from '../../../../shared/features/account/delete-account.ts';
import { findOrCreateUser } from '../../../../shared/features/account/identity-repository.ts';
import {
  createInvitation,
  findInvitation,
  type Invitation,
  listInvitations,
  revokeInvitation,
} from '../../../../shared/features/members/invitation.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { scanTable } from '../../../helpers/items.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';

beforeEach(async () => {
  await enterEmptyTable();
  process.env.MEMBERS = '@club.example,invited';
});

/** Signs in somebody of this name whom no list has. */
const join = (
  subject: string,
  invitation?: string,
  email: string | null = `${subject}@any.example`,
) =>
  findOrCreateUser(
    {
      issuer: 'https://id.example',
      subject,
      display_name: null,
      musicdb_username: null,
      email,
      email_verified: email !== null,
    },
    invitation,
  );

const refused = (message: string) => ({ status: 403, message });
const current = async () => (await listInvitations())[0] as Invitation;

test('as many people join as there are places, and the list shows how many did', async () => {
  const { token } = await createInvitation({ people: 2, days: 7, note: 'Club night' });
  await join('ann', token);
  // Not even an address is needed.
  await join('ben', token, null);
  await expect(join('cid', token)).rejects.toMatchObject(
    refused('All places of this invitation are taken'),
  );
  expect(await current()).toMatchObject({ note: 'Club night', people: 2, joined: 2 });
});

test('of people who come at once, only as many join as there are places', async () => {
  const { token } = await createInvitation({ people: 3, days: 7 });
  const names = Array.from({ length: 12 }, (_, i) => `person${i}`);
  const results = await Promise.allSettled(names.map((name) => join(name, token)));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  const reasons = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(reasons.map(({ status }) => status)).toEqual(Array(9).fill(403));
  expect((await current()).joined).toBe(3);
  const accounts = (await scanTable()).filter(({ sk }) => sk === 'USER');
  expect(accounts).toHaveLength(3);
});

test('members of the list, and who has an account, take no place', async () => {
  const { token } = await createInvitation({ people: 1, days: 7 });
  await join('dora', token, 'dora@club.example');
  const { id } = await join('ann', token);
  expect((await join('ann', token)).id).toBe(id);
  expect((await current()).joined).toBe(1);
});

test('who has joined stays, also after the end, and comes back only with another one', async () => {
  const { token, invitation } = await createInvitation({ people: 5, days: 7 });
  const { id } = await join('ann', token);
  await revokeInvitation(invitation.id);
  expect((await join('ann')).id).toBe(id);
  await expect(join('ben', token)).rejects.toMatchObject(refused('This invitation was revoked'));
  await deleteAccount(id);
  await expect(join('ann', token)).rejects.toMatchObject(refused('This invitation was revoked'));
});

test('somebody blocked stays blocked, with any invitation', async () => {
  const { token } = await createInvitation({ people: 5, days: 7 });
  const { id } = await join('ann', token);
  await decideUser(id, 'block', { reason: 'spam', note: '', moderator_id: null });
  await deleteAccount(id);
  expect((await join('ann', token)).blocked_at).toBeDefined();
  expect((await current()).joined).toBe(2);
});

test('an invitation ends at its time, and is listed for 30 days more', async () => {
  const start = Date.now();
  const { token } = await createInvitation({ people: 5, days: 7 });
  stopClock(start + 7 * 86_400_000 - 2_000);
  await join('ann', token);
  stopClock(start + 7 * 86_400_000 + 1_000);
  await expect(join('ben', token)).rejects.toMatchObject(refused('This invitation has expired'));
  stopClock(start + 36 * 86_400_000);
  expect(await listInvitations()).toHaveLength(1);
  stopClock(start + 38 * 86_400_000);
  expect(await listInvitations()).toEqual([]);
});

test('nobody comes without one, with another token, or where the operator takes none', async () => {
  const { token, invitation } = await createInvitation({ people: 5, days: 7 });
  const onlyMembers = refused('Only members can open an account here');
  await expect(join('ann')).rejects.toMatchObject(onlyMembers);
  // The table does not hold what the link has.
  for (const other of ['x'.repeat(22), invitation.id]) {
    await expect(join('ann', other)).rejects.toHaveStatus(403);
  }
  expect(JSON.stringify(await scanTable())).not.toContain(token);
  process.env.MEMBERS = '@club.example';
  await expect(join('ann', token)).rejects.toMatchObject(onlyMembers);
});

test('an invitation that nobody made is not revoked, and none appears', async () => {
  await expect(revokeInvitation('f'.repeat(32))).rejects.toHaveStatus(404);
  expect(await scanTable()).toEqual([]);
  expect(await findInvitation('x'.repeat(22))).toBeUndefined();
});

test('at most a hundred are open at a time, and those that have ended do not count', async () => {
  const create = () => createInvitation({ people: 1, days: 1 });
  const { invitation } = await create();
  for (let i = 1; i < 100; i++) await create();
  await expect(create()).rejects.toHaveStatus(400);
  await revokeInvitation(invitation.id);
  await create();
  await expect(create()).rejects.toHaveStatus(400);
});
