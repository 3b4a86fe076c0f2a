import { hash, randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type ApiError, invalidRequest, invalidToken, notFound } from '../errors.ts';
import { batchGet } from '../table/batch.ts';
import { applicationKey, idIn, userKey } from '../table/keys.ts';
import { collect, getItem, queryIndex, scanItems } from '../table/query.ts';
import { putNew, retryStale, transact, type Write } from '../table/transact.ts';
import { isAlive, parseUser } from '../user/user.ts';
import { checkWriter, mayWrite, refuseBlocked, type Writer, writeAs } from '../user/writer.ts';
import { Application, ClientId, previousSecret, type Registration } from './application.ts';
import { deleteGrantsOf } from './application-grants.ts';

/** How many applications a user may have. */
export const mostApplications = 25;
/** How many grants are revoked while somebody waits; the eraser revokes the others. */
const mostAtOnce = 2000;
/** Milliseconds. */
const day = 24 * 60 * 60 * 1000;

/** Undefined when there is none, whatever the text. */
export async function findApplication(clientId: string): Promise<Application | undefined> {
  if (!v.is(ClientId, clientId)) return undefined;
  const item = await getItem(applicationKey(clientId));
  return item && v.parse(Application, item);
}

/** Tells of an application whose owner a moderator has blocked: it gets no new consent. */
export async function isOwnerBlocked({ user_id }: Application): Promise<boolean> {
  const owner = parseUser(await getItem(userKey(user_id)));
  return owner?.blocked_at !== undefined;
}

/** An application of this owner. Throws ApiError 404, also when it is another's. */
export async function getOwnApplication(clientId: string, userId: string): Promise<Application> {
  const application = await findApplication(clientId);
  if (application?.user_id !== userId) throw notFound('Application');
  return application;
}

/** The applications with these ids, by id; those that do not exist are left out. */
export async function findApplications(ids: readonly string[]): Promise<Map<string, Application>> {
  const items = await batchGet([...new Set(ids)].map(applicationKey), { consistent: true });
  return new Map(
    [...items.values()].map((item) => [String(item.client_id), v.parse(Application, item)]),
  );
}

/** A user's own applications, oldest first. */
export async function listApplications(userId: string): Promise<Application[]> {
  const entries = await collect(queryIndex('author-by-date', `OWNER#${userId}`));
  const ids = entries.map(idIn);
  const applications = await findApplications(ids);
  return ids.flatMap((id) => applications.get(id) ?? []);
}

/** All applications, page by page, in no order. It reads the whole table: for operators. */
export async function* scanApplications(): AsyncGenerator<Application[]> {
  const filter = {
    FilterExpression: 'sk = :application',
    ExpressionAttributeValues: { ':application': applicationKey('').sk },
  };
  for await (const { items } of scanItems(filter)) {
    yield items.map((item) => v.parse(Application, item));
  }
}

/**
 * Registers an application of this user. The same form sent again leads to the same application. Throws ApiError 404 when there is no such
 * user, 403 when the account is blocked, 400 when the user has as many as there may be.
 */
export async function insertApplication(
  userId: string,
  registration: Registration,
  formId: string = randomUUID(),
): Promise<Application> {
  const application: Application = {
    client_id: clientIdOf(userId, registration, formId),
    user_id: userId,
    ...registration,
    secret_id: randomBytes(16).toString('hex'),
    created: new Date().toISOString(),
  };
  return retryStale(async () => {
    const known = await findApplication(application.client_id);
    if (known) return known;
    await transact([
      putNew({
        ...applicationKey(application.client_id),
        author: `OWNER#${userId}`,
        date: `${application.created}#${application.client_id}`,
        ...application,
      }),
      await counted(userId, 1, notFound('User')),
    ]);
    return application;
  });
}

/** Changes what the owner tells of an application. Throws ApiError 404 when it is not this owner's, 403 when the account is blocked. */
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
 * Makes a new secret. The old one is good for a day more, and there is no third: a form that is sent twice would end the one in use. Throws
 * ApiError 400 while there are two, 404 when it is not this owner's.
 */
export async function rotateSecret(clientId: string, userId: string): Promise<void> {
  await changeApplication(clientId, userId, (before) => {
    if (previousSecret(before)) {
      throw invalidRequest('There are two secrets already: end the old one first');
    }
    return {
      secret_id: randomBytes(16).toString('hex'),
      previous_secret: {
        secret_id: before.secret_id,
        until: new Date(Date.now() + day).toISOString(),
      },
    };
  });
}

/** Refuses the secret before the current one from now on. Throws ApiError 404 when it is not this owner's. */
export async function endPreviousSecret(clientId: string, userId: string): Promise<void> {
  await changeApplication(clientId, userId, () => ({ previous_secret: undefined }));
}

/**
 * Deletes an application and revokes all that was granted to it. A grant of the last second may be found only by the eraser, which does
 * the same again. Throws ApiError 404 when it is not this owner's, 401 when the account is gone.
 */
export async function deleteApplication(clientId: string, userId: string): Promise<void> {
  await retryStale(async () => {
    await getOwnApplication(clientId, userId);
    await transact([
      { Delete: { Key: applicationKey(clientId), was: { user_id: userId } } },
      await counted(userId, -1, invalidToken()),
    ]);
  });
  await deleteGrantsOf(clientId);
}

/**
 * Revokes all that everybody has granted to an application: codes and refresh tokens at once, access tokens as their grants are found, those
 * of the last second and of a crowd by the eraser. Throws ApiError 404 when it is not this owner's.
 */
export async function revokeApplication(clientId: string, userId: string): Promise<void> {
  await changeApplication(clientId, userId, () => ({ revoked_at: new Date().toISOString() }));
  await deleteGrantsOf(clientId, mostAtOnce);
}

/** Changes what is given and takes away what is undefined, so that two changes of different things both last. */
async function changeApplication(
  clientId: string,
  userId: string,
  changeOf: (before: Application) => Partial<Application>,
  writer: Writer = { ConditionExpression: isAlive, otherwise: invalidToken() },
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

/** 32 hexadecimal digits that nobody else can arrive at, and that a form leads to again. */
function clientIdOf(userId: string, registration: Registration, formId: string): string {
  const { name, desc, website, redirect_uri } = registration;
  const parts = JSON.stringify([userId, formId, name, desc, website, redirect_uri]);
  return hash('sha256', parts).slice(0, 32);
}

/**
 * The write that counts one application of a user more or less, on the user's item: it fails, as a stale read, when another took the last
 * place. Throws ApiError 400 when there is no place, and `gone` when there is no such user.
 */
async function counted(userId: string, by: 1 | -1, gone: ApiError): Promise<Write> {
  const Key = userKey(userId);
  const item = await getItem(Key);
  const user = parseUser(item);
  if (!user) throw gone;
  if (by > 0) refuseBlocked(user);
  if (by > 0 && Number(item?.applications ?? 0) >= mostApplications) {
    throw invalidRequest(
      `An account can have at most ${mostApplications} applications: delete one first`,
    );
  }
  const isThereRoom = '(attribute_not_exists(applications) OR applications < :most)';
  return {
    Update: {
      Key,
      amounts: { applications: by },
      isOwner: true,
      ConditionExpression: by > 0 ? `${mayWrite} AND ${isThereRoom}` : isAlive,
      ...(by > 0 && { ExpressionAttributeValues: { ':most': mostApplications } }),
    },
  };
}
