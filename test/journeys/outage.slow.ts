import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { databaseEnvironment } from '../../infra/local/storage/dynamodb.ts';
import { startEmulator } from '../helpers/emulator.ts';
import { newFolder } from '../helpers/folder.ts';
import { fresh, start } from '../helpers/service.ts';

const database = await startEmulator(join(newFolder(), 'emulator.sqlite'));
afterAll(() => database.stop());
const { SIGNING_KEYS } = process.env;
// In a process of its own, because Jest would hide the types of the service's errors.
const { url } = await start(fresh('data'), {
  env: { SIGNING_KEYS, DYNAMODB_ENDPOINT: database.endpoint },
});

Object.assign(process.env, databaseEnvironment(database.endpoint, 'reviews'));
const { makeGrant, makeUser, reviewBody } = await import('../helpers/world.ts');
const author = await makeUser();
const review_id = await author.publishes();
const { access_token, grant } = await makeGrant(author, ['review', 'vote', 'user']);
const token = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' };
const { origin } = new URL(url);

test.each([
  ['does not answer', 'SIGSTOP'],
  ['is gone', 'SIGKILL'],
])('while the database %s, requests fail in time with 503 and Retry-After', async (_, signal) => {
  process.kill(database.pid, signal);
  const page = new URLSearchParams({
    response_type: 'code',
    client_id: grant.client_id,
    redirect_uri: 'https://client.example/callback',
  });
  const asked: [string, string, object?][] = [
    ['GET', `${url}/review/${review_id}`],
    ['GET', `${url}/user/me`],
    ['POST', `${url}/review`, reviewBody()],
    ['PUT', `${url}/review/${review_id}/vote`, { vote: true }],
    ['DELETE', `${url}/review/${randomUUID()}`],
    ['DELETE', `${url}/user/me`],
    ['GET', `${origin}/ws/oauth/authorize?${page}`],
  ];
  const start = performance.now();
  await Promise.all(
    asked.map(async ([method, url, body]) => {
      const headers = url.includes('/oauth/') ? undefined : token;
      const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
      const answer = [response.status, response.headers.get('retry-after')];
      expect([method, url, ...answer]).toEqual([method, url, 503, '1']);
      if (!headers) {
        expect(await response.text()).toContain('<h1>Please try again in a moment</h1>');
        return;
      }
      expect(await response.json()).toEqual({
        error: 'service_unavailable',
        description: expect.any(String),
        request_id: expect.any(String),
      });
    }),
  );
  expect(performance.now() - start).toBeLessThan(15_000);
});
