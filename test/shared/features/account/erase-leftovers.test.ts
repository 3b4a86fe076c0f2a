import { randomUUID } from 'node:crypto';
import { batchDelete, batchWrite } from '../../../../shared/base/table/batch.ts';
import { placeholder } from '../../../../shared/base/table/kind.ts';
import {
  applicationKey,
  decisionKey,
  entityKey,
  reviewKey,
  userKey,
  webhookKey,
} from '../../../../shared/core/keys.ts';
import {
  eraseLeftovers,
  findLeftovers,
  type Leftovers,
} from '../../../../shared/features/account/erase-leftovers.ts';
import { type KindName, kindNames, kinds } from '../../../../shared/features/kinds.ts';
import { insertWebhook } from '../../../../shared/features/webhooks/webhook-repository.ts';
import { readItem } from '../../../helpers/items.ts';
import { makeClient } from '../../../helpers/oauth-client.ts';
import { makeUser } from '../../../helpers/world.ts';

/** Names of things in the forms of keys, the leftovers of these things, and their keys. */
const things = {
  user_id: ['users', userKey],
  review_id: ['reviews', reviewKey],
  client_id: ['applications', applicationKey],
} as const;
type Thing = keyof typeof things;

/** Kinds of items, with a thing that each names and is not itself. */
const named = kindNames.flatMap((name) => {
  const { key, author = [] } = kinds[name];
  const forms = [key.form.pk, key.form.sk, author].flat().join();
  return (Object.keys(things) as Thing[])
    .filter((thing) => forms.includes(`<${thing}>`) && key !== things[thing][1])
    .map((thing) => [name, thing] as const);
});

/** Makes an item of a kind whose keys name these things. */
function itemOf(name: KindName, ids: Record<string, string>) {
  const { key, author } = kinds[name];
  const fill = (form: string) =>
    form.replaceAll(placeholder, (_, part) => ids[part] ?? randomUUID());
  const item = { pk: fill(key.form.pk), sk: fill(key.form.sk) };
  const [list] = [author ?? []].flat();
  return list === undefined ? item : { ...item, author: fill(list) };
}

test.each(named)('%s is found without the thing that %s names, and not with it', async (...row) => {
  const [name, thing] = row;
  const idsOfAll = () => ({
    user_id: randomUUID(),
    review_id: randomUUID(),
    client_id: randomUUID(),
  });
  const alone = idsOfAll();
  const owned = idsOfAll();
  const [list, keyOf] = things[thing];
  await batchWrite(
    [itemOf(name, alone), keyOf(owned[thing]), itemOf(name, owned)].map((put) => ({ put })),
  );
  const leftovers = await findLeftovers();
  expect(leftovers[list]).toContain(alone[thing]);
  expect(leftovers[list]).not.toContain(owned[thing]);
});

const now = new Date().toISOString();

test.each<[string, (id: string) => object, keyof Leftovers]>([
  ['a user who is being deleted', (id) => ({ ...userKey(id), deleted_at: now }), 'users'],
  ['a review that is being deleted', (id) => ({ ...reviewKey(id), deleted_at: now }), 'reviews'],
  [
    'an application whose grants end',
    (id) => ({ ...applicationKey(id), revoked_at: now }),
    'applications',
  ],
  ['an author whose reviews are to be hidden', (id) => ({ ...userKey(id), hiding: 'x' }), 'hiding'],
  ['an entity without reviews', (id) => ({ ...entityKey(id), version: 1 }), 'entities'],
])('%s is found', async (_, itemOf, list) => {
  const id = randomUUID();
  await batchWrite([{ put: itemOf(id) }]);
  expect((await findLeftovers())[list]).toContain(id);
});

test('a decision that is reduced to ids is no leftover', async () => {
  const user_id = randomUUID();
  await batchWrite([{ put: { ...decisionKey(randomUUID()), user_id } }]);
  expect((await findLeftovers()).users).not.toContain(user_id);
});

test('the webhook of a deleted application is found and deleted, and no other', async () => {
  const ann = await makeUser();
  const { client_id } = await makeClient(ann);
  const kept = await makeClient(ann);
  const receiver = { address: 'https://receiver.example/', types: ['review.published'] as never };
  for (const client of [client_id, kept.client_id]) await insertWebhook(client, ann.id, receiver);
  const stored = await readItem(webhookKey(client_id, 1));
  await batchDelete([applicationKey(client_id)]);
  const { applications } = await findLeftovers();
  expect(applications).toContain(client_id);
  expect(applications).not.toContain(kept.client_id);
  expect((await eraseLeftovers({ applications: [client_id] })).applications).toBe(1);
  expect(await readItem(webhookKey(client_id, 1))).toBeUndefined();
  expect(await readItem(webhookKey(kept.client_id, 1))).toBeDefined();
  // An application that exists keeps its webhook.
  await batchWrite([{ put: { ...stored, ...webhookKey(kept.client_id, 2) } }]);
  await eraseLeftovers({ applications: [kept.client_id] });
  expect(await readItem(webhookKey(kept.client_id, 2))).toBeDefined();
});
