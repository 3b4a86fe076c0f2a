import { randomUUID } from 'node:crypto';
import { invalidRequest, invalidToken } from '../../base/errors.ts';
import { putNew, retryStale, transact, type Write } from '../../base/table/transact.ts';
import { contactKey, userKey } from '../keys.ts';
import { edited } from './address.ts';
import { endClaim } from './claimable.ts';
import { spendRename } from './daily-limit.ts';
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
 * longer a proposal, and nobody claims the account by the address before. Throws ApiError 401 if
 * the account was deleted, 403 if it is blocked or was renamed too often today, 400 for the name of
 * a moderator or of a role. A person who has that name already may keep it.
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
    const own = { Key: userKey(id), where: mayWrite, was: dependencyOf(user, display_name) };
    const writes: Write[] = [];
    if (display_name === undefined) {
      writes.push({ ConditionCheck: own });
    } else {
      const set = { display_name, has_proposed_name: undefined };
      writes.push({ Update: { ...own, set } }, ...(await renaming(user, display_name)));
      if (display_name !== user.display_name) writes.push(spendRename(id));
    }
    const address = email !== undefined && email !== contact.email ? edited(contact, email) : {};
    // A name that was chosen is no longer proposed.
    const hasProposal = display_name !== undefined && contact.proposed_name !== undefined;
    const set = hasProposal ? { ...address, proposed_name: undefined } : address;
    if (Object.keys(set).length > 0) {
      const was = { identity: contact.identity, sign_in_email: contact.sign_in_email };
      writes.push({ Update: { Key: contactKey(id), set, was } });
    }
    if ('email' in address) writes.push(...(await endClaim(id, contact.email)));
    await transact(writes);
  });
}

/**
 * Returns the attributes that a change to this name depends on. The name before counts only if it
 * is held, or looks like the new one: many changes at once then do not fail each other.
 */
function dependencyOf(user: User, name: string | undefined) {
  const { display_name, is_moderator } = user;
  const isApart =
    name === undefined || newKeysOf(name, display_name).length === keysOfName(name).length;
  return isApart && !is_moderator ? { is_moderator } : named(user);
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
          where: isModerator ? mayWrite : whereAlive,
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
