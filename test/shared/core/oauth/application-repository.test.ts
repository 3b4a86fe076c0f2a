import type { ApiError } from '../../../../shared/base/errors.ts';
import { batchWrite } from '../../../../shared/base/table/batch.ts';
import { applicationKey, grantKey, userKey } from '../../../../shared/core/keys.ts';
import {
  deleteApplication,
  findApplication,
  listApplications,
  revokeApplication,
  updateApplication,
} from '../../../../shared/core/oauth/application-repository.ts';
import { listGrants } from '../../../../shared/core/oauth/grant-repository.ts';
import { deleteAccount } from '../../../../shared/features/account/delete-account.ts';
import {
  eraseLeftovers,
  findLeftovers,
} from '../../../../shared/features/account/erase-leftovers.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { readItem, setAttributes } from '../../../helpers/items.ts';
import { makeClient, makeCode, redeem, refresh } from '../../../helpers/oauth-client.ts';
import { expectExact } from '../../../helpers/recount.ts';
import { beforeSend } from '../../../helpers/sends.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { makeUser, type Person } from '../../../helpers/world.ts';

/** Registers `count` applications in parallel. Returns how many succeeded. */
async function register(user: Person, count: number) {
  const answers = await Promise.all(Array.from({ length: count }, () => isRegistered(user)));
  return answers.filter(Boolean).length;
}

/** Registers an application. Returns false if it is refused with 400. */
async function isRegistered(user: Person) {
  // So many at once may get 429, which asks the client to try again.
  for (let attempt = 0; attempt < 5; attempt++) {
    try {
      await makeClient(user);
      return true;
    } catch (error) {
      const { status } = error as ApiError;
      if (status === 400) return false;
      if (status !== 429) throw error;
    }
  }
  throw new Error('busy five times');
}

const countOf = async ({ id }: Person) => (await readItem(userKey(id)))?.applications;

afterEach(expectExact);

async function deleteOne({ id }: Person) {
  const [application] = await listApplications(id);
  await deleteApplication(application?.client_id ?? '', id);
}

test('40 parallel registrations by one user make 25 applications', async () => {
  const user = await makeUser();
  expect(await register(user, 40)).toBe(25);
  expect(await listApplications(user.id)).toHaveLength(25);
  expect(await register(user, 2)).toBe(0);
});

test('a deletion allows one more registration, however often it is repeated', async () => {
  const user = await makeUser();
  await register(user, 25);
  const [application] = await listApplications(user.id);
  const answers = await Promise.allSettled(
    Array.from({ length: 5 }, () => deleteApplication(application?.client_id ?? '', user.id)),
  );
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const reason = expect.objectContaining({ status: 404 });
  expect(answers).toContainEqual({ status: 'rejected', reason });
  expect(await register(user, 3)).toBe(1);
});

test('a user over the limit can delete applications, and register below it', async () => {
  const [user, other] = await Promise.all([makeUser(), makeUser()]);
  // An import has no limit and can exceed it.
  await Promise.all([register(user, 20), register(other, 20)]);
  await setAttributes(userKey(user.id), { applications: 40 });
  await setAttributes(userKey(other.id), { applications: 0 });
  const owner = { user_id: user.id, author: `OWNER#${user.id}` };
  for (const { client_id } of await listApplications(other.id)) {
    await setAttributes(applicationKey(client_id), owner);
  }
  for (let left = 39; left >= 24; left--) {
    expect(await register(user, 1)).toBe(0);
    await deleteOne(user);
    expect(await countOf(user)).toBe(left);
  }
  expect(await register(user, 2)).toBe(1);
});

test('a deleted account can neither register nor delete applications', async () => {
  const user = await makeUser();
  const { client_id } = await makeClient(user);
  await deleteAccount(user.id);
  await expect(makeClient(user)).rejects.toHaveStatus(404);
  await expect(deleteApplication(client_id, user.id)).rejects.toHaveStatus(401);
});

describe('revoking everybody’s access', () => {
  async function own() {
    const user = await makeUser();
    return { id: user.id, client: await makeClient(user) };
  }

  test('ends a grant that no index shows yet', async () => {
    const { id, client } = await own();
    const { body } = await redeem(client, await makeCode(client, { id }));
    const blind = beforeSend(({ input }) =>
      input.IndexName === 'author-by-date' ? { Items: [] } : undefined,
    );
    await revokeApplication(client.client_id, id);
    expect(await listGrants(id)).toHaveLength(1);
    // A refresh token is refused at once.
    expect((await refresh(client, body.refresh_token)).body.error).toBe('invalid_grant');
    blind.mockRestore();
    await applyStream();
    expect(await listGrants(id)).toEqual([]);
  });

  test('can be repeated by the operator, and keeps later grants', async () => {
    const { id, client } = await own();
    await revokeApplication(client.client_id, id);
    await applyStream();
    const revoked_at = (await findApplication(client.client_id))?.revoked_at ?? '';
    const at = (ms: number) => new Date(Date.parse(revoked_at) + ms).toISOString();
    const put = (grant_id: string, created: string) => {
      const { client_id } = client;
      const grant = { grant_id, user_id: id, client_id, scopes: [], created, renewed: created };
      const listed = { author: `CLIENT#${client_id}`, date: `${created}#${grant_id}` };
      return { put: { ...grantKey(id, client_id, grant_id), ...listed, ...grant, generation: 0 } };
    };
    await batchWrite([
      put('1'.repeat(32), at(-1_000)),
      put('2'.repeat(32), at(0)),
      put('3'.repeat(32), at(1)),
    ]);
    const { applications } = await findLeftovers();
    expect(applications).toContain(client.client_id);
    expect((await eraseLeftovers({ applications: [client.client_id] })).applications).toBe(1);
    const left = await listGrants(id, client.client_id);
    expect(left.map(({ grant_id }) => grant_id)).toEqual(['3'.repeat(32)]);
    expect((await eraseLeftovers({ applications: [client.client_id] })).applications).toBe(0);
  });

  test('is not lost to a parallel change of the registration', async () => {
    const { id, client } = await own();
    const { name, desc, website, redirect_uri, client_id } = client;
    const began = Date.now();
    for (let i = 0; i < 10; i++) {
      // Two rounds may take less than a millisecond.
      stopClock(began + i);
      const registration = { name: `${name} ${i}`, desc, website, redirect_uri };
      const before = (await findApplication(client_id))?.revoked_at;
      const updated = updateApplication(client_id, id, registration);
      await Promise.all([updated, revokeApplication(client_id, id)]);
      const after = await findApplication(client_id);
      expect(after?.name).toBe(registration.name);
      expect(after?.revoked_at).not.toBe(before);
    }
  });
});
