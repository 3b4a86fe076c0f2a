import { randomBytes } from 'node:crypto';
import { notFound } from '../errors.ts';
import { applicationKey, userKey } from '../table/keys.ts';
import { transact } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import type { Application, Registration } from './application.ts';

/** Registers an application of this user. Throws ApiError 404 when there is no such user. */
export async function insertApplication(
  user_id: string,
  registration: Registration,
): Promise<Application> {
  const application: Application = {
    client_id: randomBytes(16).toString('hex'),
    user_id,
    ...registration,
    secret_id: randomBytes(16).toString('hex'),
    created: new Date().toISOString(),
  };
  await transact([
    {
      Put: {
        Item: {
          ...applicationKey(application.client_id),
          author: `OWNER#${user_id}`,
          date: `${application.created}#${application.client_id}`,
          ...application,
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    {
      ConditionCheck: { Key: userKey(user_id), ConditionExpression: isAlive },
      otherwise: notFound('User'),
    },
  ]);
  return application;
}
