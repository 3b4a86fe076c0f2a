// The address of an account: who gave it, and whether somebody vouches for it now.
import { hashOfAddress } from './claimable.ts';
import type { Identity } from './identity.ts';
import type { Contact } from './user.ts';

type Address = Pick<Contact, 'email' | 'email_from' | 'email_verified' | 'sign_in_email'>;

/**
 * Returns the address after a sign-in. What the provider gave follows the provider. What the person
 * gave stays, and is verified as long as the provider vouches for the same address.
 */
export function followed(
  contact: Address,
  { email, email_verified = false }: Pick<Identity, 'email' | 'email_verified'>,
): Address {
  if (email === undefined) return contact;
  const sign_in_email = email !== null && email_verified ? email : undefined;
  return isOfProvider(contact, email)
    ? vouched({ email, email_from: 'provider', sign_in_email })
    : vouched({ email: contact.email, email_from: 'person', sign_in_email });
}

/** Returns the address after the person has changed it. The one that signs in is the provider's. */
export function edited({ sign_in_email }: Address, email: string | null): Address {
  const email_from = isSame(email, sign_in_email) ? 'provider' : 'person';
  return vouched({ email, email_from, sign_in_email });
}

/** Returns the address of an account whose identity changes: nobody vouches for it any more. */
export function unvouched({ email, email_verified, email_from }: Address): Address {
  return vouched({ email, email_from: email_from ?? (email_verified ? 'provider' : undefined) });
}

/**
 * Older code has not noted who gave an address. A verified one, or the one that the provider gives
 * now, came from the provider. Any other, and a missing one, may be the person's choice.
 */
function isOfProvider({ email, email_verified, email_from }: Address, given: string | null) {
  if (email_from !== undefined) return email_from === 'provider';
  return given !== null && (email_verified === true || isSame(email, given));
}

function vouched(address: Omit<Address, 'email_verified'>): Address {
  const { email, email_from, sign_in_email } = address;
  const email_verified = isSame(email, sign_in_email) || undefined;
  return { email, email_from, email_verified, sign_in_email };
}

/** Compares as claims do: letters of ASCII count as one in both cases. */
function isSame(one: string | null, other: string | null | undefined): boolean {
  return one !== null && other != null && hashOfAddress(one) === hashOfAddress(other);
}
