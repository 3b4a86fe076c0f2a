import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { eraseAccount } from '../../../shared/account/erase-account.ts';
import { findOrCreateUser } from '../../../shared/account/identity-repository.ts';
import { linkIdentity, relink } from '../../../shared/account/link.ts';
import { allDecisions } from '../../../shared/moderation/decision-log.ts';
import { contactKey } from '../../../shared/table/keys.ts';
import { importRecords } from '../../../shared/transfer/import.ts';
import type { UserRecord } from '../../../shared/transfer/record.ts';
import type { Identity } from '../../../shared/user/identity.ts';
import { updateProfile } from '../../../shared/user/name-repository.ts';
import { readItem, scanTable } from '../../helpers/items.ts';
import { exported, recordTime, sourced } from '../../helpers/transfer.ts';
import { operator, Person } from '../../helpers/world.ts';

const issuer = 'https://id.example';
let people = 0;

/** The record of an account of another system, with an address that nobody else has. */
function imported(contact: Partial<NonNullable<UserRecord['contact']>> = {}): UserRecord {
  people++;
  const email = `ann${people}@old.example`;
  return {
    kind: 'user',
    id: randomUUID(),
    display_name: `Ann ${people}`,
    created: recordTime,
    contact: { email, email_verified: true, musicdb_username: null, ...contact },
  };
}

/** Imports an account. Returns its id and its address. */
async function waiting(contact?: Parameters<typeof imported>[0]) {
  const record = imported(contact);
  expect((await importRecords(sourced([record]))).written).toEqual({ user: 1 });
  return { id: record.id, email: `${record.contact?.email}` };
}

const signIn = (email: string | null, more: Partial<Identity> = {}) =>
  findOrCreateUser({
    issuer,
    subject: randomUUID(),
    display_name: 'Somebody',
    email,
    email_verified: true,
    musicdb_username: null,
    ...more,
  });

const addresses = async () => (await scanTable()).filter(({ sk }) => sk === 'ADDRESS');

describe('an imported account with a verified address', () => {
  test('is claimed at the first sign-in by that address, and stays claimed', async () => {
    const { id, email } = await waiting();
    const subject = randomUUID();
    const mine = { subject };
    expect((await signIn(email.toUpperCase(), mine)).id).toBe(id);
    expect((await signIn(email, mine)).id).toBe(id);
    expect((await signIn(email)).id).not.toBe(id);
    expect(await addresses()).toEqual([]);
  });

  test.each([
    ['that the provider has not verified', { email_verified: false }],
    ['of which the provider says nothing', { email_verified: undefined }],
    ['that is another one', { email: 'eve@old.example' }],
    // KELVIN SIGN, which is k in lower case.
    ['that looks alike', { email: '\u212aate@old.example' }],
    ['that is missing', { email: null }],
  ])('is not claimed by an address %s', async (_, claims) => {
    const { id } = await waiting({ email: 'kate@old.example' });
    expect((await signIn('kate@old.example', claims)).id).not.toBe(id);
    expect((await signIn('kate@old.example')).id).toBe(id);
  });

  test.each([
    ['whose address nobody has verified', { email_verified: false }],
    ['that says nothing of its address', { email_verified: undefined }],
    ['that has an identity', { identity: 'f'.repeat(64) }],
  ])('is not claimed: one %s', async (_, contact) => {
    const { id, email } = await waiting(contact);
    expect((await signIn(email)).id).not.toBe(id);
  });

  test('is claimed by one of ten who try at once, and by one of a person’s two windows', async () => {
    const { id, email } = await waiting();
    const claims = await Promise.all(Array.from({ length: 10 }, () => signIn(email)));
    expect(claims.filter((user) => user.id === id)).toHaveLength(1);
    expect(new Set(claims.map((user) => user.id)).size).toBe(10);
    const other = await waiting();
    const subject = randomUUID();
    const windows = await Promise.all([1, 2, 3].map(() => signIn(other.email, { subject })));
    expect(windows.map((user) => user.id)).toEqual([other.id, other.id, other.id]);
  });

  test('is gone with its address when it is deleted, also beside a claim', async () => {
    const { id, email } = await waiting();
    await new Person(id).leaves();
    expect((await signIn(email)).id).not.toBe(id);
    await eraseAccount(id);
    expect(await addresses()).toEqual([]);
  });

  test('is not for a person whose earlier account was blocked', async () => {
    const subject = randomUUID();
    const { id } = await signIn(null, { subject, email_verified: false });
    const { decideUser } = await import('../../../shared/moderation/account-decisions.ts');
    await decideUser(id, 'block', operator);
    await new Person(id).leaves();
    const { id: waits, email } = await waiting();
    const next = await signIn(email, { subject });
    expect(next).toMatchObject({ id: expect.not.stringMatching(waits) });
    expect(next.blocked_at).toBeDefined();
  });

  test('survives an export, and its address is no longer verified after a change', async () => {
    const { id, email } = await waiting();
    const record = (await exported()).find((one) => one.kind === 'user' && one.id === id);
    expect(record).toMatchObject({ contact: { email, email_verified: true } });
    await signIn(email);
    await updateProfile(id, { email });
    expect(await readItem(contactKey(id))).toMatchObject({ email, email_verified: true });
    await updateProfile(id, { email: 'victim@old.example' });
    expect(await readItem(contactKey(id))).not.toHaveProperty('email_verified');
  });

  test('is refused beside another one of the same address that waits', async () => {
    const { email } = await waiting();
    const again = imported({ email });
    const { refused } = await importRecords(sourced([again]));
    expect(Object.keys(refused)).toEqual([
      expect.stringMatching(/^contact\.email is the verified/),
    ]);
    expect(
      (await importRecords(sourced([imported({ email, email_verified: false })]))).refused,
    ).toEqual({});
    await signIn(email);
  });
});

test('a provider that has verified the address since is believed, for this address alone', async () => {
  const subject = randomUUID();
  const { id } = await signIn('late@new.example', { subject, email_verified: false });
  await signIn('other@new.example', { subject });
  expect(await readItem(contactKey(id))).not.toHaveProperty('email_verified');
  await signIn('late@new.example', { subject });
  expect(await readItem(contactKey(id))).toMatchObject({ email_verified: true });
});

describe('the operator', () => {
  test('links an identity, goes back, and unlinks', async () => {
    const { id, email } = await waiting();
    const first = { issuer, subject: randomUUID() };
    const second = { issuer, subject: randomUUID() };
    expect(await linkIdentity(id, first)).toMatchObject({ before: null });
    // Whoever has the address cannot claim it any more.
    expect((await signIn(email)).id).not.toBe(id);
    const { before, after } = await linkIdentity(id, second);
    expect((await signIn(null, second)).id).toBe(id);
    await linkIdentity(id, { sha256: `${before}` });
    expect((await signIn(null, first)).id).toBe(id);
    await expect(linkIdentity((await waiting()).id, first)).rejects.toThrow(
      / signs in to the account /,
    );
    expect(await linkIdentity(id, null)).toEqual({ before, after: null });
    expect((await signIn(null, first)).id).not.toBe(id);
    const log = [];
    for await (const page of allDecisions()) log.push(...page);
    const note = `${before} → ${after}`;
    expect(log).toContainEqual(expect.objectContaining({ decision: 'link', user_id: id, note }));
  });

  test('changes the issuer, without orphans: at the new one alone, by the address, once', async () => {
    const from = 'https://old-id.example';
    const to = 'https://new-id.example';
    const email = 'member@mail.example';
    const old = { issuer: from, subject: randomUUID() };
    const { id } = await signIn(email, old);
    const other = await signIn('here@mail.example', { issuer: to });
    const unverified = await signIn('x@mail.example', { issuer: from, email_verified: false });
    expect((await relink(from, to)).accounts).toBe(1);
    expect((await relink(from, to)).accounts).toBe(1);
    expect((await signIn(email, old)).id).toBe(id);
    expect((await signIn(email)).id).not.toBe(id);
    expect((await signIn('here@mail.example', { issuer: to })).id).not.toBe(other.id);
    expect((await signIn('x@mail.example', { issuer: to })).id).not.toBe(unverified.id);
    expect((await relink(from, to, true)).accounts).toBe(1);
    expect((await signIn(email, { issuer: to })).id).not.toBe(id);
    await relink(from, to);
    const next = { issuer: to, subject: randomUUID() };
    expect((await signIn(email, next)).id).toBe(id);
    expect((await signIn(email, { issuer: to })).id).not.toBe(id);
    expect((await signIn(email, old)).id).not.toBe(id);
    expect((await signIn(null, next)).id).toBe(id);
  });
});
