import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSession } from '../../shared/pages/session/session.ts';
import { callerOf } from '../helpers/api.ts';
import { admin, fresh, review, start } from '../helpers/service.ts';

test('key rotate: earlier tokens, secrets and sessions go on, and new ones have the new key', async () => {
  const dataDir = fresh('data');
  const service = await start(dataDir, { options: ['--quiet'] });
  const keysIn = (name: string) => readFileSync(join(dataDir, name), 'utf8').split(',');
  const { id } = await admin(dataDir, ['user', 'create', '--name', 'Ann']);
  const registration = ['--owner', id, '--name', 'App', '--desc', '', '--website'];
  const addresses = ['https://app.example', '--redirect-uri', 'https://app.example/back'];
  const app = await admin(dataDir, ['app', 'create', ...registration, ...addresses]);
  const { client_id } = app;
  const create = ['token', 'create', '--user', id, '--name', 'Test', '--scope', 'review'];
  const token = (await admin(dataDir, create)).access_token;
  const [signing] = keysIn('signing-key');
  const [session] = keysIn('session-key');
  Object.assign(process.env, { AUTH_URL: service.url.slice(0, -2), SESSION_KEYS: session });
  const cookie = (await startSession(id)).split(';')[0] ?? '';
  /** Asks for the page that shows the secret of the application, as made by the service. */
  const page = async () => {
    const url = `${process.env.AUTH_URL}/account/applications/${client_id}`;
    const response = await fetch(url, { headers: { cookie }, redirect: 'manual' });
    const [secret = ''] = /rvs_[\w-]+/.exec(await response.text()) ?? [];
    return { status: response.status, secret };
  };
  const writes = async (bearer: string) =>
    (await callerOf(service.url, bearer)('POST', '/review/', review())).status;
  const before = await page();
  expect(before).toEqual({ status: 200, secret: expect.stringMatching(/^rvs_/) });

  expect(await admin(dataDir, ['key', 'rotate'])).toEqual({ secret: 'SIGNING_KEYS', keys: 2 });
  const rotated = await admin(dataDir, ['key', 'rotate', '--secret', 'SESSION_KEYS']);
  expect(rotated).toEqual({ secret: 'SESSION_KEYS', keys: 2 });
  expect(keysIn('signing-key').slice(1)).toEqual([signing]);
  expect(keysIn('session-key').slice(1)).toEqual([session]);
  await settle();

  expect(await writes(token)).toBe(200);
  const after = await page();
  expect(after).toHaveStatus(200);
  // The service makes secrets by the new key.
  expect(after.secret).toMatch(/^rvs_/);
  expect(after.secret).not.toBe(before.secret);
  const late = (await admin(dataDir, create)).access_token;

  expect(await admin(dataDir, ['key', 'retire'])).toEqual({ secret: 'SIGNING_KEYS', keys: 1 });
  await admin(dataDir, ['key', 'retire', '--secret', 'SESSION_KEYS']);
  await settle();
  expect([await writes(token), await writes(late)]).toEqual([401, 200]);
  expect((await page()).status).not.toBe(200);
  expect(service.err).toEqual([]);
  expect(await service.end('SIGTERM')).toBe(0);
});

/** Waits until the service has looked at its keys again. */
async function settle() {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
}
