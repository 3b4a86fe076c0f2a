import { hashOfAddress } from '../../core/user/claimable.ts';
import type { Identity } from '../../core/user/identity.ts';

// Who may open an account here: everybody, or the addresses that the operator has listed, and
// people with an invitation.

/** The entry that allows invitations. */
const invited = 'invited';

const isAddress = (entry: string) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(entry);
const isDomain = (entry: string) => /^@[^@\s]+\.[^@\s]+$/.test(entry);

/**
 * Reads MEMBERS, addresses and domains separated by commas: `@club.example,ann@mail.example`. The
 * entry `invited` allows invitations. An empty text is everybody. Throws a sentence for the
 * operator.
 */
export function readMembers(text: string): readonly string[] {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const isEntry = (entry: string) => isAddress(entry) || isDomain(entry) || entry === invited;
  const fault = entries.find((entry) => !isEntry(entry));
  if (fault === undefined) return entries;
  throw new Error(
    `MEMBERS: ${fault} must be an address, a domain such as @club.example, or ${invited}`,
  );
}

/** Returns true if people with an invitation may open an account, beside those on the list. */
export function takesInvitations(): boolean {
  return readMembers(process.env.MEMBERS ?? '').includes(invited);
}

/** Returns true for an address of somebody who may open an account here. */
export function mayJoin({ email, email_verified }: Pick<Identity, 'email' | 'email_verified'>) {
  const members = readMembers(process.env.MEMBERS ?? '');
  if (members.length === 0) return true;
  if (!email || !email_verified) return false;
  // As claims compare addresses: one domain has several spellings.
  const [domain = ''] = email.split('@').slice(-1);
  return members.some((entry) =>
    isDomain(entry)
      ? hashOfAddress(`x${entry}`) === hashOfAddress(`x@${domain}`)
      : hashOfAddress(entry) === hashOfAddress(email),
  );
}
