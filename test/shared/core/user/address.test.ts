import { edited, followed, unvouched } from '../../../../shared/core/user/address.ts';
import type { Contact } from '../../../../shared/core/user/user.ts';

type Address = Pick<Contact, 'email' | 'email_from' | 'email_verified' | 'sign_in_email'>;

const old = 'chris.old@example.org';
const next = 'chris.new@example.org';
const own = 'chris@home.example';

const ofProvider: Address = {
  email: old,
  email_from: 'provider',
  email_verified: true,
  sign_in_email: old,
};
const nextOfProvider: Address = { ...ofProvider, email: next, sign_in_email: next };
const unverified: Address = { email: old, email_from: 'provider' };
const ofPerson: Address = { email: own, email_from: 'person', sign_in_email: old };
const removed: Address = { email: null, email_from: 'person', sign_in_email: old };
const none: Address = { email: null, email_from: 'provider' };
/** As 1.2.0 has stored them, without a word on who gave the address. */
const formerVerified: Address = { email: old, email_verified: true };
const formerUnverified: Address = { email: old };
const formerNone: Address = { email: null };

test.each<[string, Address, string | null | undefined, boolean, Address]>([
  // What the provider says of the address that it gave.
  ['says the same', ofProvider, old, true, ofProvider],
  ['says another one', ofProvider, next, true, nextOfProvider],
  ['no longer vouches', ofProvider, old, false, unverified],
  ['has removed it', ofProvider, null, false, none],
  ['has one now', none, next, true, nextOfProvider],
  ['has one now, unverified', none, old, false, unverified],
  ['could not be asked', ofProvider, undefined, false, ofProvider],
  // What the person gave stays.
  ['says another one than the person', ofPerson, next, true, { ...ofPerson, sign_in_email: next }],
  [
    'vouches for the address of the person',
    ofPerson,
    own.toUpperCase(),
    true,
    { ...ofPerson, email_verified: true, sign_in_email: own.toUpperCase() },
  ],
  [
    'vouches for it no longer',
    { ...ofPerson, email_verified: true, sign_in_email: own },
    old,
    true,
    ofPerson,
  ],
  ['says one to a person who wants none', removed, old, true, removed],
  // Data of 1.2.0.
  ['says another one than the verified one before', formerVerified, next, true, nextOfProvider],
  ['no longer vouches for the one before', formerVerified, old, false, unverified],
  // The address may be the choice of the person, and stays.
  ['has removed the one before', formerVerified, null, false, { email: old, email_from: 'person' }],
  ['vouches for the one before', formerUnverified, old, true, ofProvider],
  [
    'says another one than the unverified one before',
    formerUnverified,
    next,
    true,
    { email: old, email_from: 'person', sign_in_email: next },
  ],
  // A person may have removed it, so that applications do not read it.
  [
    'says one where there was none before',
    formerNone,
    next,
    true,
    { email: null, email_from: 'person', sign_in_email: next },
  ],
])('after a sign-in where the provider %s', (_, before, email, email_verified, after) => {
  expect(followed(before, { email, email_verified })).toEqual(after);
});

test.each<[string, Address, string | null, Address]>([
  ['another one', ofProvider, own, ofPerson],
  ['none', ofProvider, null, removed],
  [
    'the one that signs in',
    ofPerson,
    old.toUpperCase(),
    { ...ofProvider, email: old.toUpperCase() },
  ],
  ['another one, without a verified one', none, own, { email: own, email_from: 'person' }],
])('after a person has chosen %s', (_, before, email, after) => {
  expect(edited(before, email)).toEqual(after);
});

test.each<[string, Address, Address]>([
  ['of the provider', ofProvider, unverified],
  ['of the person', ofPerson, { email: own, email_from: 'person' }],
  ['of 1.2.0, verified', formerVerified, unverified],
  ['of 1.2.0, unverified', formerUnverified, { email: old }],
])('nobody vouches for an address %s when the identity changes', (_, before, after) => {
  expect(unvouched(before)).toEqual(after);
});
