import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { invalidRequest, notFound } from '../../base/errors.ts';
import { batchDelete } from '../../base/table/batch.ts';
import { parseItems } from '../../base/table/parse.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { putNew, transact } from '../../base/table/transact.ts';
import { epochSeconds } from '../../base/time.ts';
import { Matching } from '../../base/values.ts';
import { grantKey } from '../keys.ts';
import { checkWriter, writeAs } from '../user/writer.ts';
import { sealToken } from './credentials.ts';
import { Grant, newGrant, nobody } from './grant.ts';

/**
 * A personal access token: a user's grant without application or refresh token. A person makes it
 * on a page, for scripts. Revoking all of a user's grants revokes it too.
 */
export const PersonalToken = v.object({
  ...Grant.entries,
  name: v.string(),
  /** Epoch seconds. */
  expires_at: v.number(),
});
export type PersonalToken = v.InferOutput<typeof PersonalToken>;
type TokenKey = Pick<PersonalToken, 'user_id' | 'grant_id'>;

/** Id of a personal access token: its grant id. */
export const TokenId = Matching(/^[\da-f]{32}$/, 'must be the id of a token');

/** Lifetimes to choose from, in days. */
export const lifetimes = [7, 30, 90, 365] as const;
/** Maximum number of a person's unexpired tokens. */
export const mostPersonalTokens = 20;
/**
 * Makes a token for `days` days and returns it, this once: the stored item does not reveal it
 * without the key. Throws ApiError 404 if the user does not exist, 403 if the account is blocked,
 * 400 if there are too many tokens.
 */
export async function createPersonalToken(
  request: Pick<PersonalToken, 'user_id' | 'name' | 'scopes'> & {
    days: (typeof lifetimes)[number];
  },
): Promise<{ access_token: string; expires_at: number }> {
  const { user_id, name, scopes, days } = request;
  const grant_id = randomBytes(16).toString('hex');
  const grant = newGrant({ grant_id, user_id, client_id: nobody, scopes });
  const token: PersonalToken = { ...grant, name, expires_at: epochSeconds(days * 86_400) };
  await writeAs(
    user_id,
    (writer) => transact([putNew({ ...keyOf(token), ...token }), checkWriter(user_id, writer)]),
    notFound('User'),
  );
  // Simultaneous requests may all be refused, but there are never too many.
  if ((await listPersonalTokens(user_id)).length > mostPersonalTokens) {
    await deletePersonalToken(token);
    throw invalidRequest(
      `You have ${mostPersonalTokens} personal access tokens already; revoke one that you no longer need`,
    );
  }
  return { access_token: await sealToken('access', token), expires_at: token.expires_at };
}

/** Lists a user's unexpired personal access tokens, newest first. */
export async function listPersonalTokens(userId: string): Promise<PersonalToken[]> {
  const items = await collect(queryItems(grantKey(userId, nobody, ''), { pageSize: 100 }));
  return parseItems(PersonalToken, items)
    .filter(({ expires_at }) => expires_at > Date.now() / 1000)
    .sort((a, b) => (a.created > b.created ? -1 : 1));
}

/** Idempotent. */
export async function deletePersonalToken(token: TokenKey): Promise<void> {
  await batchDelete([keyOf(token)]);
}

const keyOf = ({ user_id, grant_id }: TokenKey) => grantKey(user_id, nobody, grant_id);
