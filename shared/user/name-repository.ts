import { randomUUID } from 'node:crypto';
import { invalidRequest, invalidToken } from '../errors.ts';
import { contactKey, userKey } from '../table/keys.ts';
import { putNew, retryStale, transact, type Write } from '../table/transact.ts';
import { contactItem } from './mails.ts';
import {
  checkName,
  holdFreeName,
  holdName,
  isModeratorName,
  keysOfName,
  nameAsRead,
  namesRole,
  newKeysOf,
  releaseName,
} from './moderator-name.ts';
import { type Contact, type User, whereAlive } from './user.ts';
import { findAccount, getUser, moderatorList, named, userItem } from './user-repository.ts';
import { mayWrite, refuseBlocked } from './writer.ts';

// Writes of an account that depend on its name. They are apart from the others of a user, because
// the letters that look alike take 72 KB of every bundle with them.

/** Creates an account with a new id. Throws ApiError 400 for the name of a moderator, or a role. */
export async function insertUser(profile: Pick<User, 'display_name'> & Contact): Promise<User> {
  const { display_name, ...contact } = profile;
  const user = { display_name, id: randomUUID(), created: new Date().toISOString(), karma: 0 };
  if (namesRole(display_name)) throw nameOfRole();
  return retryStale(async () => {
    if (await isModeratorName(keysOfName(display_name))) throw nameOfModerator();
    await transact(accountWrites(user, contact));
    return user;
  });
}

/**
 * Returns the writes of a new account. They fail, as a stale read, if a moderator has the name.
 * `version` must exceed that of a deleted one with this id.
 */
export function accountWrites(user: User, contact: Contact | null, version = 1): Write[] {
  const keys = keysOfName(user.display_name);
  const writes: Write[] = [
    putNew(userItem(user, version)),
    ...(user.is_moderator ? holdName(keys) : checkName(keys)),
  ];
  if (contact) writes.push({ Put: { Item: contactItem(user.id, contact) } });
  return writes;
}

/**
 * Changes the given fields of a profile. Null removes the email address. A changed name is no
 * longer a proposal. Throws ApiError 401 if the account was deleted, 403 if it is blocked, 400 for
 * the name of a moderator or of a role. A person who has that name already may keep it.
 */
export async function updateProfile(
  id: string,
  { display_name, email }: Partial<Pick<User, 'display_name'> & Pick<Contact, 'email'>>,
): Promise<void> {
  if (display_name === undefined && email === undefined) return;
  await retryStale(async () => {
    const account = await findAccount(id);
    if (!account) throw invalidToken();
    const { user, contact } = account;
    refuseBlocked(user);
    const own = { Key: userKey(id), ConditionExpression: mayWrite, was: named(user) };
    const writes: Write[] = [];
    if (display_name === undefined) {
      writes.push({ ConditionCheck: own });
    } else {
      const set = { display_name, has_proposed_name: undefined };
      writes.push({ Update: { ...own, set } }, ...(await renaming(user, display_name)));
    }
    if (email !== undefined && email !== contact.email) {
      // Nobody has verified what a person writes.
      const set = { email, email_verified: undefined };
      writes.push({ Update: { Key: contactKey(id), set } });
    }
    await transact(writes);
  });
}

/** Returns the writes that the new name of a user needs. Throws ApiError 400 like its caller. */
async function renaming({ display_name, is_moderator }: User, name: string): Promise<Write[]> {
  if (!is_moderator && nameAsRead(name) === nameAsRead(display_name)) return [];
  if (!is_moderator && namesRole(name)) throw nameOfRole();
  const added = newKeysOf(name, display_name);
  if (await isModeratorName(added)) throw nameOfModerator();
  if (!is_moderator) return checkName(added);
  return [...holdFreeName(added), ...(await releaseName(newKeysOf(display_name, name)))];
}

/**
 * Makes somebody a moderator, whose name nobody else can take from then on, or ends that.
 * Idempotent. Throws ApiError 404 if there is no such user, 403 if the account is blocked.
 */
export async function setModerator(id: string, isModerator: boolean): Promise<void> {
  await retryStale(async () => {
    const user = await getUser(id);
    if (isModerator) refuseBlocked(user);
    if ((user.is_moderator ?? false) === isModerator) return;
    const keys = keysOfName(user.display_name);
    await transact([
      {
        Update: {
          Key: userKey(id),
          set: {
            is_moderator: isModerator || undefined,
            author: isModerator ? moderatorList : undefined,
          },
          ConditionExpression: isModerator ? mayWrite : whereAlive,
          was: named(user),
        },
      },
      ...(isModerator ? holdName(keys) : await releaseName(keys)),
    ]);
  });
}

const nameOfRole = () =>
  invalidRequest('display_name must not name a role, such as moderator or admin');

const nameOfModerator = () =>
  invalidRequest('display_name must be another name: a moderator of this service has it');
