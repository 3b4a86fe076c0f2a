import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from '@jest/globals';
import { databaseEnvironment, startDatabase } from '../../infra/local/database.ts';

const database = await startDatabase();
const dataDir = mkdtempSync(join(tmpdir(), 'outage-'));
const { PATH, SIGNING_KEYS, NODE_COMPILE_CACHE } = process.env;
// In a process of its own, because Jest would hide the types of the service's errors.
const stack = spawn(process.execPath, ['bin/start.ts', '--port', '0', '--data-dir', dataDir], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  env: { PATH, SIGNING_KEYS, NODE_COMPILE_CACHE, DYNAMODB_ENDPOINT: database.endpoint },
  stdio: ['ignore', 'pipe', 'ignore'],
});
afterAll(async () => {
  const ended = once(stack, 'exit');
  stack.kill('SIGKILL');
  await ended;
  await database.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
const url = await new Promise<string>((resolve) => {
  let said = '';
  stack.stdout.on('data', (chunk) => {
    said += chunk;
    const found = said.match(/runs at (\S+)/)?.[1];
    if (found) resolve(found);
  });
});

Object.assign(process.env, databaseEnvironment(database.endpoint, 'reviews'));
const { makeGrant, makeReview, makeUser, reviewBody } = await import('../helpers/fixtures.ts');
const author = await makeUser();
const review_id = await makeReview(author);
const { access_token, grant } = await makeGrant(author, ['review', 'vote', 'user']);
const token = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' };
const { origin } = new URL(url);

test.each<[string, NodeJS.Signals]>([
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
      expect({
        method,
        url,
        status: response.status,
        retryAfter: response.headers.get('retry-after'),
      }).toEqual({ method, url, status: 503, retryAfter: '1' });
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
