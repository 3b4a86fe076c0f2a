import { grantKey } from '../../../../shared/core/keys.ts';
import {
  deleteGrant,
  insertGrant,
  listGrants,
} from '../../../../shared/core/oauth/grant-repository.ts';
import { createPersonalToken } from '../../../../shared/core/oauth/personal-token-repository.ts';
import { passMillisecond } from '../../../helpers/clock.ts';
import { setAttributes } from '../../../helpers/items.ts';
import { makeClient } from '../../../helpers/oauth-client.ts';
import { makeUser, makeUsers } from '../../../helpers/world.ts';

// Documented limits: 100 connected applications for a person, 10 grants for each of them.

test('the connection after the hundredth ends the one that was unused the longest', async () => {
  const user = await makeUser();
  const owners = await makeUsers(5);
  const connect = async (i: number) => {
    const { client_id } = await makeClient(owners[i % 5] ?? user, undefined, `App ${i}`);
    return insertGrant({ user_id: user.id, client_id, scopes: ['user'] });
  };
  const grants = [];
  for (let i = 0; i < 100; i++) grants.push(await connect(i));
  await createPersonalToken({ user_id: user.id, name: 'Script', scopes: ['user'], days: 7 });
  const [first, unused] = grants;
  if (!first || !unused) throw new Error('there are no grants');
  const key = grantKey(user.id, unused.client_id, unused.grant_id);
  await setAttributes(key, { renewed: '2020-01-01T00:00:00.000Z' });
  // A second grant to a connected application is no further connection.
  await insertGrant({ user_id: user.id, client_id: first.client_id, scopes: ['vote'] });
  expect(await listGrants(user.id)).toHaveLength(102);

  const last = await connect(100);
  const left = (await listGrants(user.id)).map(({ client_id }) => client_id);
  expect(left).toHaveLength(102);
  expect(left).not.toContain(unused.client_id);
  expect(left).toEqual(expect.arrayContaining([first.client_id, last.client_id]));
  await deleteGrant(last);
});

test('the grant after the tenth to an application ends the oldest', async () => {
  const user = await makeUser();
  const { client_id } = await makeClient(user);
  const ids = [];
  for (let i = 0; i < 11; i++) {
    ids.push((await insertGrant({ user_id: user.id, client_id, scopes: ['user'] })).grant_id);
    passMillisecond();
  }
  const left = (await listGrants(user.id, client_id)).map(({ grant_id }) => grant_id);
  expect(left.toSorted()).toEqual(ids.slice(1).toSorted());
});
