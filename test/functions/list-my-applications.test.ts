import { handler } from '../../functions/api/list-my-applications.ts';
import { deleteApplication, rotateSecret } from '../../shared/core/oauth/application-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { type Client, makeClient, redeem } from '../helpers/oauth-client.ts';
import { makeUsers, type Person } from '../helpers/world.ts';

const [user, other] = await makeUsers(2);
const first = await makeClient(user);
// Applications of the same millisecond have no order.
stopClock(Date.now() + 1);
const second = await makeClient(user);
const foreign = await makeClient(other);

async function list({ id }: Person, { client_id }: Pick<Client, 'client_id'>) {
  const { status, body } = await invoke(handler, { caller: { user_id: id, client_id, scope: '' } });
  expect(status).toBe(200);
  return body.applications;
}

function presented({ client_id, name, desc, website, redirect_uri }: Client, secret?: string) {
  const client = { name, desc, website, redirect_uri, client_id, user_id: user.id };
  return { ...client, client_secret: secret ?? null };
}

describe('GET /user/me/applications', () => {
  test('returns the user’s applications with secrets, oldest first, to the user’s own application', async () => {
    expect(await list(user, second)).toEqual([
      presented(first, first.client_secret),
      presented(second, second.client_secret),
    ]);
    expect((await redeem(first, 'rvc_x')).body.error).toBe('invalid_grant');
  });

  test('returns no secret to a deleted application', async () => {
    const deleted = { client_id: 'f'.repeat(32) };
    expect(await list(user, deleted)).toEqual([presented(first), presented(second)]);
  });

  test('returns the new secret, and omits a deleted application', async () => {
    stopClock(Date.now() + 1);
    const kept = await makeClient(other);
    const gone = await makeClient(other);
    await rotateSecret(kept.client_id, other.id);
    await deleteApplication(gone.client_id, other.id);
    const [, found, ...more] = await list(other, foreign);
    expect(more).toEqual([]);
    expect(found.client_id).toBe(kept.client_id);
    expect(found.client_secret).not.toBe(kept.client_secret);
    const renewed = { ...kept, client_secret: found.client_secret };
    expect((await redeem(renewed, 'rvc_x')).body.error).toBe('invalid_grant');
  });
});
