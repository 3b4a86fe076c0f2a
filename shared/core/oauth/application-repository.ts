import { hash, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { invalidRequest, invalidToken, notFound } from '../../base/errors.ts';
import { batchDelete, batchGet } from '../../base/table/batch.ts';
import { deleteItems, eraseWhile } from '../../base/table/erase.ts';
import { idIn } from '../../base/table/item.ts';
import { findItem, parseItems } from '../../base/table/parse.ts';
import { collect, getItem, queryIndex, scanItems } from '../../base/table/query.ts';
import {
  putNew,
  retryStale,
  transact,
  type Update,
  type Write,
} from '../../base/table/transact.ts';
import { absentOr } from '../../base/table/write.ts';
import { applicationKey, userKey, webhookKeys } from '../keys.ts';
import { parseUser, whereAlive } from '../user/user.ts';
import { checkWriter, mayWrite, refuseBlocked, type Writer, writeAs } from '../user/writer.ts';
import {
  Application,
  ClientId,
  type ClientType,
  isPublicClient,
  newSecretId,
  previousSecret,
  type Registration,
  registrationNames,
  withNewSecret,
} from './application.ts';

/** Maximum number of applications of a user. */
export const mostApplications = 25;
/** Grants revoked within the request. The eraser revokes the others. */
const mostAtOnce = 2000;
const maxCounted = 500;

/** Returns undefined also for an invalid id. */
export async function findApplication(clientId: string): Promise<Application | undefined> {
  if (!v.is(ClientId, clientId)) return undefined;
  return findItem(Application, applicationKey(clientId));
}

/** If a moderator has blocked the owner, the application gets no new consent. */
export async function isOwnerBlocked({ user_id }: Application): Promise<boolean> {
  const owner = parseUser(await getItem(userKey(user_id)));
  return owner?.blocked_at !== undefined;
}

/** Throws ApiError 404 if there is none or another user owns it. */
export async function getOwnApplication(clientId: string, userId: string): Promise<Application> {
  const application = await findApplication(clientId);
  if (application?.user_id !== userId) throw notFound('Application');
  return application;
}

/** Returns the existing applications with these ids, by id. */
export async function findApplications(ids: readonly string[]): Promise<Map<string, Application>> {
  const items = await batchGet([...new Set(ids)].map(applicationKey), { consistent: true });
  const applications = parseItems(Application, items.values());
  return new Map(applications.map((application) => [application.client_id, application]));
}

/** Lists a user's own applications, oldest first. */
export async function listApplications(userId: string): Promise<Application[]> {
  const entries = await collect(queryIndex('author-by-date', `OWNER#${userId}`));
  const ids = entries.map(idIn);
  const applications = await findApplications(ids);
  return ids.flatMap((id) => applications.get(id) ?? []);
}

/** Lists all applications, page by page, unordered. Scans the table: for operators. */
export async function* scanApplications(): AsyncGenerator<Application[]> {
  for await (const { items } of scanItems({ sk: applicationKey('').sk })) {
    yield parseItems(Application, items);
  }
}

/**
 * Registers an application, the same form only once. Throws ApiError 404 if there is no such user,
 * 403 if the account is blocked, 400 if the user has the maximum number.
 */
export async function insertApplication(
  userId: string,
  registration: Registration,
  formId: string = randomUUID(),
  clientType: ClientType = 'confidential',
): Promise<Application> {
  const application: Application = {
    client_id: clientIdOf(userId, registration, `${formId} ${clientType}`),
    user_id: userId,
    ...registration,
    ...(clientType === 'confidential' && { secret_id: newSecretId() }),
    created: new Date().toISOString(),
  };
  return retryStale(async () => {
    const existing = await findApplication(application.client_id);
    if (existing) return existing;
    await transact([
      putNew({
        ...applicationKey(application.client_id),
        author: `OWNER#${userId}`,
        date: `${application.created}#${application.client_id}`,
        ...application,
      }),
      await countApplication(userId),
    ]);
    return application;
  });
}

/** Throws ApiError 404 if another user owns the application, 403 on a blocked account. */
export async function updateApplication(
  clientId: string,
  userId: string,
  registration: Registration,
): Promise<void> {
  await writeAs(userId, (writer) =>
    changeApplication(clientId, userId, () => registration, writer),
  );
}

/**
 * Makes a new secret; the old one stays valid for a day. A third is refused, because a form sent
 * twice would end the secret in use. Throws ApiError 400 while two are valid or if there is none,
 * 404 if another user owns the application.
 */
export async function rotateSecret(clientId: string, userId: string): Promise<void> {
  await changeApplication(clientId, userId, (before) => {
    const { secret_id } = before;
    if (secret_id === undefined) throw invalidRequest('A public application has no secret');
    if (previousSecret(before)) {
      throw invalidRequest('There are two secrets already: end the old one first');
    }
    return withNewSecret(secret_id);
  });
}

/**
 * Makes an application public or confidential; idempotent. A public one loses its secrets, and all
 * its access, because people have allowed an application that could prove its name. A confidential
 * one gets a secret, which its refresh tokens need from then on. Throws ApiError 404 if another
 * user owns it.
 */
export async function setClientType(
  clientId: string,
  userId: string,
  clientType: ClientType,
): Promise<void> {
  const isPublic = clientType === 'public';
  const before = await getOwnApplication(clientId, userId);
  if (isPublicClient(before) === isPublic) return;
  await changeApplication(clientId, userId, ({ secret_id }) => {
    if (!isPublic) return { secret_id: secret_id ?? newSecretId() };
    const revoked_at = new Date().toISOString();
    return { secret_id: undefined, previous_secret: undefined, revoked_at };
  });
  if (isPublic) await deleteGrantsOf(clientId, mostAtOnce);
}

/** Ends the previous secret at once. Throws ApiError 404 if another user owns the application. */
export async function endPreviousSecret(clientId: string, userId: string): Promise<void> {
  await changeApplication(clientId, userId, () => ({ previous_secret: undefined }));
}

/**
 * Deletes an application with its webhooks, and revokes all its grants. The eraser repeats this
 * for grants of the last second. Throws ApiError 404 if another user owns it, 401 if the account
 * was deleted.
 */
export async function deleteApplication(clientId: string, userId: string): Promise<void> {
  const owner: Update = {
    Key: userKey(userId),
    amounts: { applications: -1 },
    isOwner: true,
    where: whereAlive,
  };
  await retryStale(async () => {
    await getOwnApplication(clientId, userId);
    await transact([
      { Delete: { Key: applicationKey(clientId), was: { user_id: userId } } },
      ...webhookKeys(clientId).map((Key) => ({ Delete: { Key } })),
      { Update: owner, otherwise: invalidToken() },
    ]);
  });
  await deleteGrantsOf(clientId);
}

/**
 * Revokes all grants to an application. Codes and refresh tokens are refused at once, access tokens
 * when their grants are deleted. The eraser deletes grants of the last second, or beyond 2,000.
 * Throws ApiError 404 if another user owns the application.
 */
export async function revokeApplication(clientId: string, userId: string): Promise<void> {
  await changeApplication(clientId, userId, () => ({ revoked_at: new Date().toISOString() }));
  await deleteGrantsOf(clientId, mostAtOnce);
}

/** Sets only given fields and removes undefined ones, so simultaneous changes persist. */
async function changeApplication(
  clientId: string,
  userId: string,
  changeOf: (before: Application) => Partial<Application>,
  writer: Writer = { where: whereAlive, otherwise: invalidToken() },
): Promise<void> {
  await retryStale(async () => {
    const before = await getOwnApplication(clientId, userId);
    const { secret_id, previous_secret } = before;
    const Key = applicationKey(clientId);
    await transact([
      { Update: { Key, set: changeOf(before), was: { secret_id, previous_secret } } },
      checkWriter(userId, writer),
    ]);
  });
}

/** The same form gives the same 32 hexadecimal digits, which nobody else can produce. */
function clientIdOf(userId: string, registration: Registration, formId: string): string {
  const entered = registrationNames.map((name) => registration[name]);
  const parts = JSON.stringify([userId, formId, ...entered]);
  return hash('sha256', parts).slice(0, 32);
}

/** Counts a new application. As a stale read, the write fails if another took the last place. */
async function countApplication(userId: string): Promise<Write> {
  const Key = userKey(userId);
  const item = await getItem(Key);
  const user = parseUser(item);
  if (!user) throw notFound('User');
  refuseBlocked(user);
  if (Number(item?.applications ?? 0) >= mostApplications) {
    throw invalidRequest(
      `An account can have at most ${mostApplications} applications: delete one first`,
    );
  }
  return {
    Update: {
      Key,
      amounts: { applications: 1 },
      isOwner: true,
      where: [...mayWrite, absentOr('applications', '<', mostApplications)],
    },
  };
}

async function deleteGrantsOf(clientId: string, most?: number) {
  await batchDelete(await collect(grantsOf(clientId), most));
}

/** Lists users' grants, at most those up to `until` (ISO 8601). In the index, ids follow times. */
function grantsOf(clientId: string, until?: string) {
  const high = until && `${until}#~`;
  return queryIndex('author-by-date', `CLIENT#${clientId}`, { range: { high } });
}

/** Revokes remaining grants of a deleted or revoked application, unless it was restored. */
export async function eraseGrants(clientId: string): Promise<number> {
  const Key = applicationKey(clientId);
  const application = await findItem(Application, Key);
  const until = application?.revoked_at;
  if (application && !until) return 0;
  let revoked = 0;
  const was = until ? { revoked_at: until } : { pk: undefined };
  await eraseWhile({ Key, was }, async (isGone) => {
    const grants = await collect(grantsOf(clientId, until));
    await deleteItems(grants, isGone);
    revoked = grants.length;
  });
  return revoked;
}

/** Counts people that an application acts for, up to a maximum. Costs at most 12 read units. */
export async function countPeople(clientId: string): Promise<{ count: number; isMore: boolean }> {
  const pages = queryIndex('author-by-date', `CLIENT#${clientId}`, { pageSize: maxCounted });
  const grants = await collect(pages, maxCounted);
  const count = new Set(grants.map(({ pk }) => pk)).size;
  return { count, isMore: grants.length === maxCounted };
}
