// Mails that a person gets, and the settings for them.
import * as v from 'valibot';
import { notFound } from '../../base/errors.ts';
import { transact } from '../../base/table/transact.ts';
import { contactKey, userKey } from '../keys.ts';
import { type MailKind, mailKinds, mailsName } from './mail-kinds.ts';
import { type Contact, type User, whereAlive } from './user.ts';
import { canModerate } from './user-type.ts';

/** Milliseconds from one digest to the next. */
const digestPause = 7 * 86_400_000;

/** Settings by kind. Kinds that are left out stay as they are. */
export const MailSettings = v.partial(v.object(v.entriesFromList(mailKinds, v.boolean())));
export type MailSettings = v.InferOutput<typeof MailSettings>;

/** Returns true for a kind of mails that the person wants. Only a digest has to be asked for. */
export function wants(contact: Contact, kind: MailKind): boolean {
  return contact[mailsName(kind)] ?? kind !== 'digest';
}

/**
 * Returns the address for mails of a kind. Undefined unless it was verified, if the account is
 * blocked, or if the person does not want such mails.
 */
export function addressFor(
  { user, contact }: { user: User; contact: Contact },
  kind: MailKind,
): string | undefined {
  const { email, email_verified } = contact;
  if (email === null || !email_verified || user.blocked_at !== undefined) return undefined;
  if (kind === 'desk' && !canModerate(user)) return undefined;
  return wants(contact, kind) ? email : undefined;
}

/**
 * Returns true if a mail of a kind can still become sendable: its address is not verified now, and
 * may be again at the next sign-in.
 */
export function mayBeVerified(
  { user, contact }: { user: User; contact: Contact },
  kind: MailKind,
): boolean {
  const { email, email_verified } = contact;
  if (email === null || email_verified) return false;
  return addressFor({ user, contact: { ...contact, email_verified: true } }, kind) !== undefined;
}

/** Returns the index attributes that have a digest sent after `time` (epoch ms). */
export function digestAfter(id: string, time = Date.now() + digestPause) {
  return { all: 'DIGEST', date: `${new Date(time).toISOString()}#${id}` };
}

/** Makes the item of the private fields of an account. */
export function contactItem(id: string, contact: Contact) {
  return { ...contactKey(id), ...contact, ...(wants(contact, 'digest') && digestAfter(id)) };
}

/** Changes which mails a person gets. Throws `notFound` if the account is gone. */
export async function setMails(id: string, settings: MailSettings): Promise<void> {
  const changes = mailKinds.flatMap((kind) =>
    settings[kind] === undefined ? [] : [[mailsName(kind), settings[kind]]],
  );
  // DynamoDB refuses an update of nothing.
  if (changes.length === 0) return;
  const unlisted = { all: undefined, date: undefined };
  await transact([
    {
      ConditionCheck: { Key: userKey(id), where: whereAlive },
      otherwise: notFound('User'),
    },
    {
      Update: {
        Key: contactKey(id),
        set: { ...Object.fromEntries(changes), ...(settings.digest === false && unlisted) },
        // Who asks again does not wait for longer.
        begin: settings.digest ? digestAfter(id) : {},
      },
    },
  ]);
}
