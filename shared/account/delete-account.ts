import { invalidToken } from '../errors.ts';
import { deleteGrants, listGrants, revoked } from '../oauth/grant-repository.ts';
import { batchDelete } from '../table/batch.ts';
import { contactKey, userKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { retryStale, transact } from '../table/transact.ts';
import { partIdentity } from '../user/identity-repository.ts';
import { isAlive, parseUser } from '../user/user.ts';

/** Grants that a transaction has room for. Few accounts have more. */
const maxGrants = 90;

/**
 * Ends an account at once: from now on it is found nowhere, its tokens are refused and the next sign-in makes another. The eraser, which sees
 * the change in the stream, takes away what the account has made. Throws ApiError 401 when it is gone already.
 */
export async function deleteAccount(userId: string): Promise<void> {
  const Key = userKey(userId);
  const hasRevokedAll = await retryStale(async () => {
    const item = await getItem(Key);
    const user = parseUser(item);
    if (!user) throw invalidToken();
    const { blocked_at } = user;
    const identity = (await getItem(contactKey(userId)))?.identity;
    const grants = await listGrants(userId);
    await transact([
      {
        Update: {
          Key,
          UpdateExpression:
            'SET deleted_at = :now ADD version :one REMOVE #all, #date, display_name',
          // A block that comes or ends meanwhile decides what stays of the identity.
          ConditionExpression: `${isAlive} AND ${blocked_at ? 'blocked_at = :blocked_at' : 'attribute_not_exists(blocked_at)'}`,
          ExpressionAttributeNames: { '#all': 'all', '#date': 'date' },
          ExpressionAttributeValues: {
            ':now': new Date().toISOString(),
            ':one': 1,
            ...(blocked_at && { ':blocked_at': blocked_at }),
          },
        },
      },
      { Delete: { Key: contactKey(userId) } },
      ...(typeof identity === 'string' ? await partIdentity(identity, user) : []),
      ...revoked(grants.slice(0, maxGrants)),
    ]);
    return grants.length <= maxGrants;
  });
  try {
    await deleteGrants(userId, undefined, batchDelete);
  } catch (error) {
    if (!hasRevokedAll) throw error;
    // The account is gone, and so are its tokens; the eraser does the rest.
    console.warn({
      message: 'What a deleted account has granted is left to the eraser',
      error: error instanceof Error ? error.name : typeof error,
    });
  }
}
