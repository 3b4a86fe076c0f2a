import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Item } from '../../../../shared/base/table/item.ts';
import { addressKey, contactKey } from '../../../../shared/core/keys.ts';
import { allDecisions } from '../../../../shared/core/report/decision-log.ts';
import { hashOfAddress } from '../../../../shared/core/user/claimable.ts';
import type { Identity } from '../../../../shared/core/user/identity.ts';
import { addressFor } from '../../../../shared/core/user/mails.ts';
import { updateProfile } from '../../../../shared/core/user/name-repository.ts';
import {
  type Account,
  findAccount,
  findUser,
} from '../../../../shared/core/user/user-repository.ts';
import { eraseAccount } from '../../../../shared/features/account/erase-account.ts';
import { findOrCreateUser } from '../../../../shared/features/account/identity-repository.ts';
import { linkIdentity, relink } from '../../../../shared/features/account/link.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import type { UserRecord } from '../../../../shared/features/transfer/record.ts';
import { readItem, scanTable, storeItems } from '../../../helpers/items.ts';
import { beforeTransaction } from '../../../helpers/sends.ts';
import { exported, recordTime, sourced } from '../../../helpers/transfer.ts';
import { beginErasure, operator, Person } from '../../../helpers/world.ts';

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
    expect((await signIn(email.toUpperCase(), { subject })).id).toBe(id);
    expect((await signIn(email, { subject })).id).toBe(id);
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
    expect(await contactOf(id)).toMatchObject({ email, email_verified: true });
    await updateProfile(id, { email: 'victim@old.example' });
    expect(await contactOf(id)).not.toHaveProperty('email_verified');
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

/** An address that a person writes in the form of the account. */
const mine = 'me@home.example';
const contactOf = (id: string) => readItem(contactKey(id));

describe('what the provider says of an address is followed at each sign-in', () => {
  const chris = 'chris.old@mail.example';
  const chrisNew = 'chris.new@mail.example';

  /** Signs in somebody with a verified address. Then the provider says something else. */
  async function follows(said: Partial<Identity>) {
    const subject = randomUUID();
    const { id } = await signIn(chris, { subject });
    expect((await signIn(chris, { subject, ...said })).id).toBe(id);
    const { user, contact } = (await findAccount(id)) as Account;
    return { id, contact, mails: addressFor({ user, contact }, 'news') };
  }

  test('an address that changes: the new one gets the mails', async () => {
    const { contact, mails } = await follows({ email: chrisNew });
    expect(contact).toMatchObject({ email: chrisNew, email_verified: true });
    expect(mails).toBe(chrisNew);
  });

  test('an address that is no longer verified gets no mails', async () => {
    const { contact, mails } = await follows({ email_verified: false });
    expect(contact.email).toBe(chris);
    expect(contact).not.toHaveProperty('email_verified');
    expect(mails).toBeUndefined();
  });

  test('an address that could not be asked for stays', async () => {
    const { mails } = await follows({ email: undefined, email_verified: false });
    expect(mails).toBe(chris);
  });

  test('an address that the person wrote stays, and is verified if it signs in', async () => {
    const subject = randomUUID();
    const { id } = await signIn(chris, { subject });
    await updateProfile(id, { email: mine });
    await signIn(chrisNew, { subject });
    expect(await contactOf(id)).toMatchObject({ email: mine, sign_in_email: chrisNew });
    expect(await contactOf(id)).not.toHaveProperty('email_verified');
    await signIn(mine, { subject });
    await updateProfile(id, { email: null });
    await updateProfile(id, { email: mine });
    expect(await contactOf(id)).toMatchObject({ email_verified: true });
  });

  test('writes nothing if nothing has changed', async () => {
    const subject = randomUUID();
    await signIn(chris, { subject });
    let writes = 0;
    beforeTransaction(() => {
      writes++;
    });
    await signIn(chris, { subject });
    expect(writes).toBe(0);
  });

  test('an account of 1.2.0 follows the address that was verified', async () => {
    const subject = randomUUID();
    const { id } = await signIn(chris, { subject });
    const { email_from: _, sign_in_email: __, ...former } = (await contactOf(id)) as Item;
    await storeItems([former]);
    await signIn(chrisNew, { subject });
    const followed = { email: chrisNew, email_from: 'provider', email_verified: true };
    expect(await contactOf(id)).toMatchObject(followed);
  });

  test('a word that comes between the read and the write of another sign-in is not lost', async () => {
    const subject = randomUUID();
    const { id } = await signIn(chris, { subject });
    beforeTransaction(() => updateProfile(id, { email: mine }));
    await signIn(chrisNew, { subject });
    const both = { email: mine, email_from: 'person', sign_in_email: chrisNew };
    expect(await contactOf(id)).toMatchObject(both);
  });

  test('who was given an address of somebody else’s gets no account by it', async () => {
    const from = 'https://first.example';
    const to = 'https://second.example';
    const old = { issuer: from, subject: randomUUID() };
    const { id } = await signIn('chris@first.example', old);
    await signIn('chris@second.example', old);
    await relink(from, to);
    expect((await signIn('chris@first.example', { issuer: to })).id).not.toBe(id);
    expect((await signIn('chris@second.example', { issuer: to })).id).toBe(id);
  });
});

describe('a claim ends when the address changes by which it was opened', () => {
  const from = 'https://before.example';
  const to = 'https://after.example';

  async function relinked() {
    people++;
    const email = `gone${people}@mail.example`;
    const old = { issuer: from, subject: randomUUID() };
    const { id } = await signIn(email, old);
    await relink(from, to);
    return { id, email, old };
  }

  test.each<[string, (id: string, old: Partial<Identity>) => Promise<unknown>]>([
    ['by the person', (id) => updateProfile(id, { email: mine })],
    ['by its removal', (id) => updateProfile(id, { email: null })],
    ['at the provider', (_, old) => signIn('chris@home.example', old)],
    [
      'to unverified',
      (_, old) => signIn(`gone${people}@mail.example`, { ...old, email_verified: false }),
    ],
  ])('%s', async (_, changes) => {
    const { id, email, old } = await relinked();
    await changes(id, old);
    expect((await addresses()).filter(({ user_id }) => user_id === id)).toEqual([]);
    const stranger = await signIn(email, { issuer: to });
    expect(stranger.id).not.toBe(id);
    // The owner is not locked out.
    expect((await signIn(email, old)).id).toBe(id);
  });

  test('also one that older code has left behind', async () => {
    const { id, email, old } = await relinked();
    const left = (await addresses()).find(({ user_id }) => user_id === id) as Item;
    await updateProfile(id, { email: mine });
    await storeItems([left]);
    expect((await signIn(email, { issuer: to })).id).not.toBe(id);
    expect((await signIn(null, old)).id).toBe(id);
    // It does not keep another account from waiting for the address.
    const next = await signIn(email, { issuer: from });
    await relink(from, to);
    expect((await signIn(email, { issuer: to })).id).toBe(next.id);
  });

  test('also while somebody claims it', async () => {
    const { id, email } = await relinked();
    beforeTransaction(() => updateProfile(id, { email: mine }));
    expect((await signIn(email, { issuer: to })).id).not.toBe(id);
  });
});

describe('a change of the issuer, while', () => {
  const to = 'https://next.example';

  /** Makes an account of an issuer that no other account has. */
  async function signedIn() {
    people++;
    const from = `https://id${people}.example`;
    const email = `pat${people}@mail.example`;
    const { id } = await signIn(email, { issuer: from });
    return { id, from, email };
  }

  const claimantsOf = async (email: string) => {
    const key = addressKey(hashOfAddress(email));
    return (await addresses()).filter(({ pk }) => pk === key.pk).map(({ user_id }) => user_id);
  };

  test('an account is imported with the address, keeps the claim of that', async () => {
    const { from, email } = await signedIn();
    let other: string | undefined;
    beforeTransaction(async () => {
      other = (await waiting({ email })).id;
    });
    expect(await relink(from, to)).toMatchObject({ accounts: 0, left_out: { changes: 1 } });
    expect(await claimantsOf(email)).toEqual([other]);
  });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['the address changes', (id) => updateProfile(id, { email: mine })],
    ['the account begins to be deleted', (id) => beginErasure(new Person(id))],
  ])('%s, opens no claim', async (_, changes) => {
    const { id, from, email } = await signedIn();
    beforeTransaction(() => changes(id));
    expect(await relink(from, to)).toMatchObject({ accounts: 0, left_out: { changes: 1 } });
    expect(await claimantsOf(email)).toEqual([]);
  });

  test('the claim passes to another account, keeps that when it is undone', async () => {
    const { id, from, email } = await signedIn();
    await relink(from, to);
    expect(await claimantsOf(email)).toEqual([id]);
    let other: string | undefined;
    beforeTransaction(async () => {
      await updateProfile(id, { email: mine });
      other = (await waiting({ email })).id;
    });
    expect(await relink(from, to, true)).toMatchObject({ accounts: 0, left_out: { changes: 1 } });
    expect(await claimantsOf(email)).toEqual([other]);
  });
});

describe('the operator', () => {
  test('links an identity to an account that gets another one meanwhile: one signs in', async () => {
    // No claim by an address is in the way.
    const { id } = await waiting({ email_verified: undefined });
    const first = { issuer, subject: randomUUID() };
    const second = { issuer, subject: randomUUID() };
    beforeTransaction(() => linkIdentity(id, first));
    await linkIdentity(id, second);
    expect((await signIn(null, second)).id).toBe(id);
    expect((await signIn(null, first)).id).not.toBe(id);
  });

  test('links an identity, goes back, and unlinks', async () => {
    const { id, email } = await waiting();
    const first = { issuer, subject: randomUUID() };
    const second = { issuer, subject: randomUUID() };
    expect(await linkIdentity(id, first)).toMatchObject({ before: null });
    expect((await addresses()).filter(({ user_id }) => user_id === id)).toEqual([]);
    // Nobody vouches for the address of the account before the next sign-in.
    expect(await contactOf(id)).not.toHaveProperty('email_verified');
    // Whoever has the address cannot claim it any more.
    expect((await signIn(email)).id).not.toBe(id);
    const session = { signed_in: Date.now() };
    const { before, after } = await linkIdentity(id, second);
    // Sessions until now are over.
    expect((await findUser(id))?.signed_out).toBeGreaterThanOrEqual(session.signed_in);
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
