import { invalidToken } from '../../base/errors.ts';
import { retryStale, transact, type Update } from '../../base/table/transact.ts';
import { countsKey, userKey } from '../../core/keys.ts';
import {
  deleteGrants,
  listGrants,
  mostRevoked,
  revoked,
} from '../../core/oauth/grant-repository.ts';
import { keysOfName, releaseName } from '../../core/user/moderator-name.ts';
import { whereAlive } from '../../core/user/user.ts';
import { findUser, named } from '../../core/user/user-repository.ts';
import { detachIdentity, reviewsOfRequest } from './detach-identity.ts';

/**
 * Deletes an account at once: its tokens are refused, and the next sign-in creates a new account.
 * The eraser sees the change in the stream and deletes what the account has made. Throws ApiError
 * 401 if the account was already deleted.
 */
export async function deleteAccount(userId: string): Promise<void> {
  const grants = await listGrants(userId);
  const deleted_at = new Date().toISOString();
  await retryStale(async () => {
    const user = await findUser(userId);
    if (!user) throw invalidToken();
    const deletion: Update = {
      Key: userKey(userId),
      set: { deleted_at, all: undefined, date: undefined, display_name: undefined },
      amounts: { version: 1 },
      where: whereAlive,
      was: named(user),
    };
    await transact([
      { Update: deletion },
      { Delete: { Key: countsKey(userId) } },
      ...(user.is_moderator ? await releaseName(keysOfName(user.display_name)) : []),
      ...revoked(grants),
    ]);
  });
  try {
    await detachIdentity(userId, reviewsOfRequest);
    await deleteGrants(userId);
  } catch (error) {
    if (grants.length > mostRevoked) throw error;
    console.warn({
      message: 'A deleted account has items left; the eraser will delete them',
      error: error instanceof Error ? error.name : typeof error,
    });
  }
}
