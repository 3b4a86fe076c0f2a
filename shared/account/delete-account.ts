import { invalidToken } from '../errors.ts';
import { deleteGrants, listGrants, revoked } from '../oauth/grant-repository.ts';
import { batchDelete } from '../table/batch.ts';
import { userKey } from '../table/keys.ts';
import { transact } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { partIdentity } from './identity-repository.ts';

/** Grants that a transaction has room for. Few accounts have more. */
const maxGrants = 90;

/**
 * Ends an account at once: from now on it is found nowhere, its tokens are refused and the next
 * sign-in makes another. No moderator decides on it or its reviews any more. The eraser, which sees
 * the change in the stream, takes away what the account has made. Throws ApiError 401 when it is
 * gone already.
 */
export async function deleteAccount(userId: string): Promise<void> {
  const grants = await listGrants(userId);
  const deleted_at = new Date().toISOString();
  await transact([
    {
      Update: {
        Key: userKey(userId),
        set: { deleted_at, all: undefined, date: undefined, display_name: undefined },
        amounts: { version: 1 },
        ConditionExpression: isAlive,
      },
      otherwise: invalidToken(),
    },
    ...revoked(grants.slice(0, maxGrants)),
  ]);
  try {
    await partIdentity(userId);
    await deleteGrants(userId, undefined, batchDelete);
  } catch (error) {
    if (grants.length > maxGrants) throw error;
    // The account is gone, and so are its tokens; the eraser does the rest.
    console.warn({
      message: 'What a deleted account has left is left to the eraser',
      error: error instanceof Error ? error.name : typeof error,
    });
  }
}
