import { userKey } from '../../../../shared/core/keys.ts';
import { findOrCreateUser } from '../../../../shared/features/account/identity-repository.ts';
import { mayJoin, readMembers } from '../../../../shared/features/members/members.ts';
import { readItem } from '../../../helpers/items.ts';

const verified = (email: string) => ({ email, email_verified: true });

test.each([
  ['', 'eva@any.example', true],
  ['@club.example', 'eva@club.example', true],
  ['@club.example', 'Eva@CLUB.example', true],
  ['@club.example', 'eva@sub.club.example', false],
  ['@club.example', 'eva@notclub.example', false],
  ['@club.example', 'eva@club.example.org', false],
  [' @b\u00fccher.example ,ann@mail.example', 'eva@xn--bcher-kva.example', true],
  ['@bücher.example, ann@mail.example', 'ANN@mail.example', true],
  ['ann@mail.example', 'bob@mail.example', false],
  ['invited', 'ann@mail.example', false],
  ['@club.example,invited', 'eva@club.example', true],
])('of the members %j is %s: %s', (members, email, isMember) => {
  process.env.MEMBERS = members;
  expect(mayJoin(verified(email))).toBe(isMember);
});

test('an address that nobody vouches for is of no member, unless everybody may join', () => {
  const unverified = { email: 'eva@club.example' };
  expect(mayJoin(unverified)).toBe(true);
  process.env.MEMBERS = '@club.example';
  expect(mayJoin(unverified)).toBe(false);
  expect(mayJoin({ email: null })).toBe(false);
});

test.each(['club.example', '@club', 'ann@', '@', 'a b@club.example'])('refuses %j', (text) => {
  expect(() => readMembers(text)).toThrow(
    'must be an address, a domain such as @club.example, or invited',
  );
});

test('members open accounts, others do not, and accounts that are there stay', async () => {
  const identity = (subject: string, email: string) => ({
    issuer: 'https://id.example',
    subject,
    display_name: null,
    musicdb_username: null,
    ...verified(email),
  });
  const before = await findOrCreateUser(identity('before', 'ben@any.example'));
  process.env.MEMBERS = '@club.example';
  expect((await findOrCreateUser(identity('before', 'ben@any.example'))).id).toBe(before.id);
  await expect(findOrCreateUser(identity('eva', 'eva@any.example'))).rejects.toMatchObject({
    status: 403,
  });
  const member = await findOrCreateUser(identity('dora', 'dora@club.example'));
  expect(await readItem(userKey(member.id))).toBeDefined();
});
