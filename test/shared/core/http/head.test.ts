import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import { loadFunction } from '../../../../infra/local/invoke.ts';
import { silenceAll } from '../../../helpers/console.ts';
import { makeUser } from '../../../helpers/world.ts';

const user = await makeUser();
const review_id = await user.publishes();
const gateway = await startGateway({ port: 0, load: loadFunction });
const { origin } = new URL(gateway.url);
Object.assign(process.env, {
  AUTH_URL: `${origin}/ws`,
  SESSION_KEYS: Buffer.alloc(32, 'session').toString('base64url'),
  OIDC_ISSUER: 'http://127.0.0.1:9',
  OIDC_CLIENT_ID: 'reviews',
  OIDC_CLIENT_SECRET: 'secret',
});
silenceAll('error');
afterAll(() => gateway.stop());

/** Returns the response without headers that differ for each connection or request. */
async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${origin}/ws${path}`, { method, headers, redirect: 'manual' });
  const own = /^(date|connection|keep-alive|content-length|x-amzn-requestid)$/;
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => !own.test(name))),
    length: response.headers.get('content-length'),
    body: await response.text(),
  };
}

describe('HEAD', () => {
  test.each([
    ['/1/review/languages', 200],
    ['/1/review/', 200],
    ['/1/review?limit=x', 400],
    [`/1/review/${review_id}`, 200],
    [`/1/review/${user.id}`, 404],
    [`/1/review/${review_id}/revisions`, 200],
    [`/1/review/${review_id}/revisions/1`, 200],
    [`/1/reviews/?review_ids=${review_id}`, 200],
    ['/1/user/', 200],
    [`/1/user/${user.id}`, 200],
    ['/1/nothing', 404],
    ['/.well-known/oauth-authorization-server', 200],
    ['/oauth/authorize', 400],
    ['/account', 303],
    ['/account/applications', 303],
    ['/account/applications/x', 303],
    ['/account/connections', 303],
    ['/account/callback', 400],
  ])('returns the headers of GET for %s: %i', async (path, status) => {
    const get = await ask('GET', path, { 'Accept-Encoding': 'identity' });
    const head = await ask('HEAD', path, { 'Accept-Encoding': 'identity' });
    expect(get).toHaveStatus(status);
    expect(head).toEqual({ ...get, length: null, body: '' });
  });

  test('supports If-None-Match', async () => {
    const { headers } = await ask('HEAD', `/1/review/${review_id}`);
    expect(headers.etag).toMatch(/^"/);
    const etag = headers.etag ?? '';
    const again = await ask('HEAD', `/1/review/${review_id}`, { 'If-None-Match': etag });
    expect(again).toMatchObject({ status: 304, headers: { etag }, body: '' });
  });

  test.each(['/1/user/me', '/1/user/me/reviews', `/1/review/${review_id}/vote`, '/1/oauth/token'])(
    'is refused for %s: 405',
    async (path) => {
      const { status, headers, body } = await ask('HEAD', path);
      expect(status).toBe(405);
      expect(body).toBe('');
      expect(headers.allow).not.toContain('HEAD');
    },
  );
});
