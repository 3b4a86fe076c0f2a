import { hash, randomUUID } from 'node:crypto';
import { identityKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { assign, retryStale, StaleRead, transact, type Write } from '../table/transact.ts';
import type { User } from './user.ts';
import { accountWrites, findUser } from './user-repository.ts';

/** What an identity provider says of a person. `issuer` and `subject` together never change. */
export interface Identity {
  issuer: string;
  subject: string;
  /** A proposal: the person decides. */
  display_name: string;
  email: string | null;
  musicdb_username: string | null;
}

/**
 * The account of this person. The first sign-in creates it, and so does the first after its deletion. It is then blocked since the same time
 * as the account that was deleted, if that was.
 */
export async function findOrCreateUser(identity: Identity): Promise<User> {
  const { issuer, subject, display_name, ...contact } = identity;
  const sha256 = hash('sha256', JSON.stringify([issuer, subject]));
  const Key = identityKey(sha256);
  return retryStale(async () => {
    const item = await getItem(Key);
    if (item?.user_id !== undefined) {
      const known = await findUser(String(item.user_id));
      // Deleted between the two reads, and parted from its identity.
      if (!known) throw new StaleRead();
      return known;
    }
    const blocked_at = item && String(item.blocked_at);
    const user: User = {
      display_name,
      id: randomUUID(),
      created: new Date().toISOString(),
      has_proposed_name: true,
      karma: 0,
      ...(blocked_at && { blocked_at }),
    };
    await transact([
      {
        Put: {
          Item: { ...Key, user_id: user.id },
          ...(blocked_at
            ? {
                ConditionExpression: 'attribute_not_exists(user_id) AND blocked_at = :blocked_at',
                ExpressionAttributeValues: { ':blocked_at': blocked_at },
              }
            : { ConditionExpression: 'attribute_not_exists(pk)' }),
        },
      },
      ...accountWrites(user, { ...contact, identity: sha256 }),
    ]);
    return user;
  });
}

/**
 * The write that parts an identity from its account, which is being deleted. That of a blocked one stays with the time of the block, so that
 * the next account is blocked as well. Nothing where the identity leads to another account, or there is none.
 */
export async function partIdentity(
  sha256: string,
  { id, blocked_at }: Pick<User, 'id' | 'blocked_at'>,
): Promise<Write[]> {
  const Key = identityKey(sha256);
  const item = await getItem(Key);
  if (item?.user_id !== id) return [];
  return blocked_at === undefined
    ? [
        {
          Delete: {
            Key,
            ConditionExpression: 'user_id = :user_id',
            ExpressionAttributeValues: { ':user_id': id },
          },
        },
      ]
    : [{ Update: assign(Key, { blocked_at, user_id: undefined }, { user_id: id }) }];
}
