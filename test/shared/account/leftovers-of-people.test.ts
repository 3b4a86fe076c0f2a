import { randomUUID } from 'node:crypto';
import { eraseLeftovers, findLeftovers } from '../../../shared/account/erase-leftovers.ts';
import { readRecord } from '../../../shared/entity/record.ts';
import { correctName } from '../../../shared/moderation/correction.ts';
import { batchDelete, batchWrite } from '../../../shared/table/batch.ts';
import { applicationKey, userKey, webhookKey } from '../../../shared/table/keys.ts';
import type { User } from '../../../shared/user/user.ts';
import { findUser } from '../../../shared/user/user-repository.ts';
import { insertWebhook } from '../../../shared/webhooks/webhook-repository.ts';
import { readItem, scanTable } from '../../helpers/items.ts';
import { makeClient } from '../../helpers/oauth-client.ts';
import { makeUser, makeUsers, type Person } from '../../helpers/world.ts';

async function names(person: Person, entity_id: string, name: string) {
  const entity = { entity_id, entity_type: 'work' } as const;
  const { version: seen } = (await readRecord(entity)) ?? {};
  const naming = { name, about: undefined, url: undefined };
  await correctName(entity, { naming, note: '', seen }, (await findUser(person.id)) as User);
  return entity;
}

/** Deletes an account as an erasure that forgot everything else. */
const forget = ({ id }: Person) => batchDelete([userKey(id)]);

test('the name that a deleted account gave is found, and loses the account', async () => {
  const ann = await makeUser();
  const entity = await names(ann, randomUUID(), 'Blue');
  await forget(ann);
  const found = await findLeftovers();
  expect(found.users).toEqual([ann.id]);
  expect((await eraseLeftovers(found)).users).toBe(1);
  expect(await readRecord(entity)).toMatchObject({ name: 'Blue' });
  expect(await readRecord(entity)).not.toHaveProperty('user_id');
  expect((await findLeftovers()).users).toEqual([]);
});

test('the proposal of a deleted account is found and deleted', async () => {
  const [ann, ben] = await makeUsers(2);
  const entity = await names(ann, randomUUID(), 'Blue');
  await names(ben, entity.entity_id, 'Green');
  await forget(ben);
  const found = await findLeftovers();
  expect(found.users).toEqual([ben.id]);
  await eraseLeftovers(found);
  expect((await scanTable()).filter(({ sk }) => sk === `PROPOSAL#${ben.id}`)).toEqual([]);
  expect((await findLeftovers()).users).toEqual([]);
});

test('the webhook of a deleted application is found and deleted, and no other', async () => {
  const ann = await makeUser();
  const { client_id } = await makeClient(ann);
  const kept = await makeClient(ann);
  const receiver = { address: 'https://receiver.example/', types: ['review.published'] as never };
  for (const client of [client_id, kept.client_id]) await insertWebhook(client, ann.id, receiver);
  const stored = await readItem(webhookKey(client_id, 1));
  await batchDelete([applicationKey(client_id)]);
  const found = await findLeftovers();
  expect(found.applications).toEqual([client_id]);
  expect((await eraseLeftovers(found)).applications).toBe(1);
  expect(await readItem(webhookKey(client_id, 1))).toBeUndefined();
  expect(await readItem(webhookKey(kept.client_id, 1))).toBeDefined();
  expect((await findLeftovers()).applications).toEqual([]);
  // An application that exists keeps its webhook.
  await batchWrite([{ put: { ...stored, ...webhookKey(kept.client_id, 2) } }]);
  await eraseLeftovers({ applications: [kept.client_id] });
  expect(await readItem(webhookKey(kept.client_id, 2))).toBeDefined();
});
