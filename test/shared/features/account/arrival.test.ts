import { hashOfAddress } from '../../../../shared/core/user/claimable.ts';
import type { Contact } from '../../../../shared/core/user/user.ts';
import type { Account } from '../../../../shared/core/user/user-repository.ts';
import { arrivalOf, type Claim, isOpen } from '../../../../shared/features/account/arrival.ts';
import type { StoredIdentity } from '../../../../shared/features/account/detach-identity.ts';
import { claimOutcome } from '../../../../shared/features/account/link.ts';
import { moveOutcome, undoOutcome } from '../../../../shared/features/account/move-identity.ts';
import { stopClock } from '../../../helpers/clock.ts';

const own = 'a'.repeat(64);
const other = 'b'.repeat(64);
const email = 'ann@example.org';
const now = Date.parse('2026-11-28T12:00:00Z');
const seconds = now / 1000;

beforeEach(() => stopClock(now));

const user = {
  id: 'ann',
  display_name: 'Ann',
  created: '2026-01-01T00:00:00.000Z',
  karma: 0,
};
const account = (contact: Partial<Contact> = {}): Account => ({
  user,
  contact: { email, email_verified: true, musicdb_username: null, identity: own, ...contact },
});
const claim = (contact: Partial<Contact> = {}, replaces?: string): Claim => ({
  ...account({ identity: undefined, ...contact }),
  claimable: { user_id: user.id, replaces },
  address: hashOfAddress(email),
});
const mark = { entity_id: 'e', entity_type: 'work', review_id: 'r', marked_at: 't' };
const hidden = [mark] as StoredIdentity['hidden'];
const moved = (until: number) => ({ from: own, from_email: email, until });

test.each<[string, StoredIdentity, Account | undefined, Claim | undefined, string]>([
  ['of somebody new', {}, undefined, undefined, 'new'],
  ['for whom an account waits', {}, undefined, claim(), 'claim'],
  ['with an account', { user_id: 'ann' }, account(), undefined, 'known'],
  ['with an account that is being deleted', { user_id: 'ann' }, undefined, undefined, 'gone'],
  [
    'with an account that has marks to come',
    { user_id: 'ann', hidden },
    account(),
    undefined,
    'carry',
  ],
  // Whoever was blocked or hidden goes on with a new account, and claims none.
  ['of a deleted account that was blocked', { blocked_at: 't' }, undefined, claim(), 'carry'],
  ['of a deleted account with hidden reviews', { hidden }, undefined, claim(), 'carry'],
  ['of a deleted account with reports', { reported: [] }, undefined, claim(), 'carry'],
  [
    'that can undo a move',
    { former_of: 'ann', expires_at: seconds + 60 },
    account({ identity: other, moved: moved(seconds + 60) }),
    undefined,
    'former',
  ],
  // The operator has linked another one since.
  [
    'whose move is forgotten',
    { former_of: 'ann', expires_at: seconds + 60 },
    account({ identity: other }),
    undefined,
    'new',
  ],
  [
    'whose moved account is gone',
    { former_of: 'ann', expires_at: seconds + 60 },
    undefined,
    claim(),
    'claim',
  ],
])('the identity %s', (_, record, its, waits, arrival) => {
  expect(arrivalOf(own, record, its, waits)).toBe(arrival);
});

test.each<[string, Claim, boolean]>([
  ['is as it was when the claim was opened', claim(), true],
  ['still has the identity to replace', claim({ identity: own }, own), true],
  ['has another identity', claim({ identity: other }, own), false],
  ['has an identity although none was to replace', claim({ identity: own }), false],
  ['has no identity any more', claim({}, own), false],
  ['writes the address in capitals', claim({ email: email.toUpperCase() }), true],
  ['has another address', claim({ email: 'ann@new.example' }), false],
  ['has no address', claim({ email: null }), false],
  ['has an address that nobody vouches for now', claim({ email_verified: undefined }), false],
])('a claim holds or not: the account %s', (_, opened, holds) => {
  expect(isOpen(opened)).toBe(holds);
});

test.each<[string, Partial<Contact>, StoredIdentity, boolean, string]>([
  ['one that nobody has', {}, {}, false, 'moved'],
  ['the present one', { identity: other }, { user_id: 'ann' }, false, 'same'],
  ['one with another account', {}, { user_id: 'ben' }, false, 'taken'],
  ['one for which another account waits', {}, {}, true, 'taken'],
  ['one whose deleted account was blocked', {}, { blocked_at: 't' }, false, 'taken'],
  ['one whose deleted account had hidden reviews', {}, { hidden }, false, 'taken'],
  ['one whose deleted account was reported', {}, { reported: [] }, false, 'taken'],
  ['one that can undo a move', {}, { former_of: 'ben', expires_at: seconds + 1 }, false, 'taken'],
  ['one that can undo it no longer', {}, { former_of: 'ben', expires_at: seconds }, false, 'moved'],
  ['any, while a move can be undone', { moved: moved(seconds + 1) }, {}, false, 'early'],
  ['any, when it can be undone no longer', { moved: moved(seconds) }, {}, false, 'moved'],
])('a move to an identity: %s', (_, contact, record, waits, outcome) => {
  expect(moveOutcome(account(contact).contact, other, record, waits)).toBe(outcome);
});

test.each<[string, Partial<Contact>, string]>([
  ['is undone within its time', { identity: other, moved: moved(seconds + 1) }, 'undo'],
  ['is not undone after it', { identity: other, moved: moved(seconds) }, 'over'],
  ['has been undone already', { identity: own }, 'undone'],
  ['is not undone after a word of the operator', { identity: other }, 'over'],
  [
    'is not undone by the identity of another move',
    { identity: other, moved: { from: 'c'.repeat(64), until: seconds + 1 } },
    'over',
  ],
])('a move %s', (_, contact, outcome) => {
  expect(undoOutcome(account(contact).contact, own)).toBe(outcome);
});

const from = 'https://old.example';
const to = 'https://new.example';
const linked = { user_id: 'ann', issuer: from };
const open = { from, to, isUndo: false };
const undo = { ...open, isUndo: true };

test.each<[string, Account, object | undefined, object | undefined, typeof open, string]>([
  ['with a verified address', account(), linked, undefined, open, 'open'],
  ['whose issuer is not noted', account(), { user_id: 'ann' }, undefined, open, 'open'],
  ['of another issuer', account(), { ...linked, issuer: to }, undefined, open, 'other-issuer'],
  [
    'without an identity',
    account({ identity: undefined }),
    undefined,
    undefined,
    open,
    'no-sign-in',
  ],
  [
    'whose identity has another account',
    account(),
    { user_id: 'ben' },
    undefined,
    open,
    'no-sign-in',
  ],
  ['without an address', account({ email: null }), linked, undefined, open, 'no-verified-address'],
  [
    'whose address nobody vouches for',
    account({ email_verified: undefined }),
    linked,
    undefined,
    open,
    'no-verified-address',
  ],
  ['that may be claimed already', account(), linked, { user_id: 'ann', issuer: to }, open, 'open'],
  // The other one would be lost.
  ['beside another that waits', account(), linked, { user_id: 'ben' }, open, 'address-waits'],
  ['that may be claimed', account(), linked, { user_id: 'ann', issuer: to }, undo, 'end'],
  [
    'that may be claimed elsewhere',
    account(),
    linked,
    { user_id: 'ann', issuer: from },
    undo,
    'not-open',
  ],
  [
    'beside another that waits',
    account(),
    linked,
    { user_id: 'ben', issuer: to },
    undo,
    'not-open',
  ],
  ['that may not be claimed', account(), linked, undefined, undo, 'not-open'],
])('a change of the issuer and an account %s', (_, its, identity, waiting, issuers, outcome) => {
  expect(claimOutcome(its, identity, waiting as never, issuers)).toBe(outcome);
});
