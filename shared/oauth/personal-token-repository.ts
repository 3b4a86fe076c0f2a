import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { invalidRequest, notFound } from '../errors.ts';
import type { Scope } from '../routes.ts';
import { batchDelete } from '../table/batch.ts';
import { grantKey } from '../table/keys.ts';
import { collect, queryItems } from '../table/query.ts';
import { putNew, transact } from '../table/transact.ts';
import { epochSeconds } from '../time.ts';
import { checkWriter, writeAs } from '../user/writer.ts';
import { sealToken } from './credentials.ts';
import { Grant, newGrant } from './grant.ts';

/**
 * A personal access token is a grant of a user to nobody else: an access token for scripts that a person makes on a page, without an
 * application and without a refresh token. Whatever ends all grants of a user ends these too.
 */
export const PersonalToken = v.object({
  ...Grant.entries,
  /** What the person calls it. */
  name: v.string(),
  /** Epoch seconds. */
  expires_at: v.number(),
});
export type PersonalToken = v.InferOutput<typeof PersonalToken>;

/** Names a personal access token to its owner: the grant id. */
export const TokenId = v.pipe(v.string(), v.regex(/^[\da-f]{32}$/, 'must be the id of a token'));

/** Days that a personal access token can be asked to live. */
export const lifetimes = [7, 30, 90, 365] as const;

/** How many a person may have, those that have expired left out. */
export const mostPersonalTokens = 20;

/** Stands for the application in keys and tokens; client ids are random, so that no application has it. */
export const nobody = '0'.repeat(32);

/**
 * Makes a token that lives so many days, and says it this once: the table holds nothing that it follows from without the key. Throws
 * ApiError 404 when the user does not exist, 403 when the account is blocked, 400 when there are too many tokens.
 */
export async function createPersonalToken({
  user_id,
  name,
  scopes,
  days,
}: {
  user_id: string;
  name: string;
  scopes: Scope[];
  days: (typeof lifetimes)[number];
}): Promise<{ access_token: string; expires_at: number }> {
  const grant_id = randomBytes(16).toString('hex');
  const token: PersonalToken = {
    ...newGrant({ grant_id, user_id, client_id: nobody, scopes }),
    name,
    expires_at: epochSeconds(days * 86_400),
  };
  await writeAs(
    user_id,
    (writer) => transact([putNew({ ...keyOf(token), ...token }), checkWriter(user_id, writer)]),
    notFound('User'),
  );
  // Of those who ask at once all may be refused, and there are never too many.
  if ((await listPersonalTokens(user_id)).length > mostPersonalTokens) {
    await deletePersonalToken(token);
    throw invalidRequest(
      `You have ${mostPersonalTokens} personal access tokens already; revoke one that you no longer need`,
    );
  }
  return { access_token: await sealToken('access', token), expires_at: token.expires_at };
}

/** The personal access tokens of a user that have not expired, newest first. */
export async function listPersonalTokens(userId: string): Promise<PersonalToken[]> {
  const items = await collect(queryItems(grantKey(userId, nobody, ''), { pageSize: 100 }));
  return items
    .map((item) => v.parse(PersonalToken, item))
    .filter(({ expires_at }) => expires_at > Date.now() / 1000)
    .sort((a, b) => (a.created > b.created ? -1 : 1));
}

/** Revokes one; one that is gone stays gone. */
export async function deletePersonalToken(
  token: Pick<PersonalToken, 'user_id' | 'grant_id'>,
): Promise<void> {
  await batchDelete([keyOf(token)]);
}

function keyOf({ user_id, grant_id }: Pick<PersonalToken, 'user_id' | 'grant_id'>) {
  return grantKey(user_id, nobody, grant_id);
}
