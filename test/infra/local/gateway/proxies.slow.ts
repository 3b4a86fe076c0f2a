import { randomBytes } from 'node:crypto';
import { startProxy } from '../../../helpers/proxies.ts';
import { startTestStack } from '../../../helpers/stack.ts';

const host = 'reviews.example.org';
const { local } = await startTestStack({ publicUrl: `https://${host}`, insecureSignIn: true });
const { makeUser } = await import('../../../helpers/world.ts');
const { makeClient } = await import('../../../helpers/oauth-client.ts');
const { client_id, redirect_uri } = await makeClient(await makeUser());

describe.each(['Caddy', 'nginx', 'HAProxy'] as const)('%s, as in the guide', (name) => {
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeAll(async () => {
    proxy = await startProxy(name, host, new URL(local).host);
  });
  afterAll(() => proxy.stop());

  const ask: typeof proxy.ask = (...request) => proxy.ask(...request);

  test('passes pages and the API on, over HTTPS', async () => {
    expect(await ask('/ws/1/review/')).toHaveStatus(200);
    const { status, body } = await ask('/ws/');
    expect(status).toBe(200);
    expect(body).not.toContain('HTTPS only');
    const long = JSON.stringify({ text: 'x'.repeat(120_000) });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': `${long.length}` };
    expect(await ask('/ws/1/review/', { method: 'POST', headers, body: long })).toHaveStatus(401);
  });

  test('passes on a file of reviews of almost 5 MB', async () => {
    const headers = { 'Content-Type': 'multipart/form-data; boundary=end' };
    const part = 'Content-Disposition: form-data; name="file"; filename="reviews.csv"';
    const body = `--end\r\n${part}\r\n\r\n${'x'.repeat(5_200_000)}\r\n--end--\r\n`;
    const answer = await ask('/ws/account/files', { method: 'POST', headers, body });
    // Nobody is signed in, so the service asks who sends it.
    expect(answer).toHaveStatus(401);
  });

  test('passes on a sign-in whose way back is as long as it may be', async () => {
    // Nothing makes it shorter.
    const state = randomBytes(1_480).toString('base64url');
    const query = { response_type: 'code', client_id, redirect_uri, scope: 'review', state };
    let location = `/ws/oauth/authorize?${new URLSearchParams(query)}`;
    let head = 0;
    for (let step = 0; step < 2; step++) {
      const answer = await ask(location);
      expect([step, answer.status]).toEqual([step, 303]);
      head = Math.max(head, JSON.stringify(answer.headers).length);
      const { pathname, search } = new URL(`${answer.headers.location}`);
      location = pathname + search;
    }
    expect(location).toContain('/identity-provider/auth');
    // Otherwise this test tries nothing.
    expect(head).toBeGreaterThan(4096);
  });

  test('passes pages on over HTTPS, whatever a client says of itself', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'http' };
    expect(await ask('/ws/account', { headers })).toHaveStatus(303);
  });
});
