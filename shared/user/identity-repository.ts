import { hash, randomUUID } from 'node:crypto';
import { identityKey } from '../table/keys.ts';
import { getItem } from '../table/query.ts';
import { retryStale, StaleRead, transact } from '../table/transact.ts';
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

/** The account of this person; the first sign-in creates it. */
export async function findOrCreateUser(identity: Identity): Promise<User> {
  const { issuer, subject, display_name, ...contact } = identity;
  const sha256 = hash('sha256', JSON.stringify([issuer, subject]));
  const Key = identityKey(sha256);
  return retryStale(async () => {
    const item = await getItem(Key);
    if (item) {
      const known = await findUser(String(item.user_id));
      // Deleted between the two reads, and its identity with it.
      if (!known) throw new StaleRead();
      return known;
    }
    const user: User = {
      display_name,
      id: randomUUID(),
      created: new Date().toISOString(),
      has_proposed_name: true,
      karma: 0,
    };
    await transact([
      {
        Put: {
          Item: { ...Key, user_id: user.id },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      ...accountWrites(user, { ...contact, identity: sha256 }),
    ]);
    return user;
  });
}
