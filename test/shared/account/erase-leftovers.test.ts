import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { findLeftovers, type Leftovers } from '../../../shared/account/erase-leftovers.ts';
import { batchWrite } from '../../../shared/table/batch.ts';
import type { Item } from '../../../shared/table/item.ts';
import {
  applicationKey,
  decisionKey,
  entityKey,
  reviewKey,
  userKey,
} from '../../../shared/table/keys.ts';
import { type KindName, kindNames, kinds, placeholder } from '../../../shared/table/kinds.ts';
import '../../helpers/table.ts';

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
function itemOf(name: KindName, ids: Record<string, string>): Item {
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
  await batchWrite([{ put: itemOf(id) as never }]);
  expect((await findLeftovers())[list]).toContain(id);
});

test('a decision that is reduced to ids is no leftover', async () => {
  const user_id = randomUUID();
  await batchWrite([{ put: { ...decisionKey(randomUUID()), user_id } as never }]);
  expect((await findLeftovers()).users).not.toContain(user_id);
});
