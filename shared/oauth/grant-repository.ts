import { randomBytes } from 'node:crypto';
import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { batchWrite } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import { applicationKey, between, grantKey, userKey } from '../table/keys.ts';
import { transact } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import type { TokenContent } from './credentials.ts';
import { Grant } from './grant.ts';

/** The grant that a token belongs to, unless it has been revoked. Half a read unit: an answer may be a moment old. */
export async function findGrant(
  token: Pick<TokenContent, 'user_id' | 'client_id' | 'grant_id'>,
): Promise<Grant | undefined> {
  const Key = grantKey(token.user_id, token.client_id, token.grant_id);
  const { Item } = await table.send(new GetCommand({ TableName, Key }));
  return Item && v.parse(Grant, Item);
}

/** Records that a user lets an application act. Throws ApiError 404 when either of them does not exist. */
export async function insertGrant(
  asked: Pick<Grant, 'user_id' | 'client_id' | 'scopes'>,
): Promise<Grant> {
  const { user_id, client_id, scopes } = asked;
  const grant: Grant = {
    grant_id: randomBytes(16).toString('hex'),
    user_id,
    client_id,
    scopes,
    created: new Date().toISOString(),
    generation: 0,
  };
  await transact([
    { Put: { Item: grantItem(grant), ConditionExpression: 'attribute_not_exists(pk)' } },
    {
      ConditionCheck: { Key: userKey(user_id), ConditionExpression: isAlive },
      otherwise: notFound('User'),
    },
    {
      ConditionCheck: {
        Key: applicationKey(client_id),
        ConditionExpression: 'attribute_exists(pk)',
      },
      otherwise: notFound('Application'),
    },
  ]);
  return grant;
}

/** Revokes all that a user has granted to an application; gives the number of grants. */
export async function deleteGrants(userId: string, clientId: string): Promise<number> {
  const { pk, sk } = grantKey(userId, clientId, '');
  let revoked = 0;
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await table.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': pk, ...between(sk) },
        ConsistentRead: true,
        Limit: 250,
        ExclusiveStartKey,
      }),
    );
    const grants = page.Items ?? [];
    await batchWrite(grants.map((grant) => ({ delete: { pk: grant.pk, sk: grant.sk } })));
    revoked += grants.length;
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return revoked;
}

function grantItem(grant: Grant) {
  const { user_id, client_id, grant_id, created } = grant;
  return {
    ...grantKey(user_id, client_id, grant_id),
    author: `CLIENT#${client_id}`,
    date: `${created}#${grant_id}`,
    ...grant,
  };
}
