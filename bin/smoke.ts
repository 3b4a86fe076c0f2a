import assert from 'node:assert/strict';
import { Command } from 'commander';

/** Checks a running service from outside, changing nothing: `npm run smoke -- URL`. Exit status 0, or 1 when a check failed. */
const command = new Command('npm run smoke --')
  .description('Checks a running service from outside. It changes nothing.')
  .argument('<url>', 'the base URL, such as https://reviews.example.org/ws/1')
  .option('--token <access token>', 'checks that this token is taken, too')
  .parse();

const base = (command.args[0] ?? '').replace(/\/+$/, '');
const auth = base.replace(/\/[^/]*$/, '');
const { token } = command.opts<{ token?: string }>();
const nobody = '00000000-0000-4000-8000-000000000000';

const checks: Record<string, () => Promise<void>> = {
  async 'a public endpoint answers JSON that any origin may read'() {
    const { status, body, headers } = await ask('GET', `${base}/review/languages`);
    assert.equal(status, 200);
    assert.ok(body.languages.includes('en'));
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  },
  async 'lists can be read'() {
    for (const [path, items] of [
      ['/review?limit=1', 'reviews'],
      ['/user?limit=1', 'users'],
    ] as const) {
      const { status, body } = await ask('GET', base + path);
      assert.equal(status, 200);
      assert.equal(body.limit, 1);
      assert.ok(Array.isArray(body[items]));
      assert.equal(typeof body.count, 'number');
    }
  },
  async 'a trailing slash makes no difference'() {
    for (const path of ['/review/?limit=0', '/user/?limit=0', '/review/languages/']) {
      assert.equal((await ask('GET', base + path)).status, 200, path);
    }
    refused(await ask('GET', `${base}/review/${nobody}/`), 404, 'not_found');
  },
  async 'an unknown review is 404'() {
    refused(await ask('GET', `${base}/review/${nobody}`), 404, 'not_found');
  },
  async 'an unknown path is 404, with a token or without'() {
    refused(await ask('GET', `${base}/nothing/here`), 404, 'not_found');
    refused(await ask('GET', `${auth}/nothing`), 404, 'not_found');
    const headers = { Authorization: 'Bearer rva_nonsense' };
    refused(await ask('GET', `${base}/nothing/here`, { headers }), 404, 'not_found');
  },
  async 'a method that a path does not take is 405'() {
    refused(await ask('PUT', `${base}/review`), 405, 'method_not_allowed');
  },
  async 'a guarded endpoint wants a token of ours'() {
    for (const value of [undefined, 'Bearer rva_nonsense', 'Bearer ', 'Basic YTpi']) {
      const answer = await ask('PUT', `${base}/review/${nobody}/vote`, {
        headers: value === undefined ? {} : { Authorization: value },
      });
      refused(answer, 401, 'invalid_token');
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer /);
    }
  },
  async 'a preflight is answered, on guarded paths too'() {
    const headers = { Origin: 'https://example.org', 'Access-Control-Request-Method': 'PUT' };
    const url = `${base}/review/${nobody}/vote`;
    const response = await fetch(url, { method: 'OPTIONS', headers });
    assert.equal(response.status, 204);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.match(response.headers.get('access-control-allow-headers') ?? '', /authorization/i);
    assert.match(response.headers.get('access-control-allow-methods') ?? '', /PUT/);
  },
  async 'bad parameters are 400'() {
    refused(await ask('GET', `${base}/review?limit=51`), 400, 'invalid_request');
    refused(await ask('GET', `${base}/reviews?review_ids=x`), 400, 'invalid_request');
  },
  async 'a query that is too long is 503'() {
    const url = `${base}/reviews?review_ids=${`${nobody},`.repeat(120)}`;
    refused(await ask('GET', url), 503, 'service_unavailable');
  },
  async 'the OAuth metadata are those of this address'() {
    const url = `${auth}/.well-known/oauth-authorization-server`;
    const { status, body } = await ask('GET', url);
    assert.equal(status, 200);
    assert.equal(body.issuer, auth);
    assert.equal(body.token_endpoint, `${base}/oauth/token`);
  },
  async 'the token endpoint refuses as RFC 6749 says'() {
    const { status, body, headers } = await ask('POST', `${base}/oauth/token`, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=refresh_token',
    });
    assert.ok(status === 400 || status === 401, `status ${status}`);
    assert.match(body.error, /^invalid_(request|client)$/);
    assert.equal(typeof body.error_description, 'string');
    assert.equal(headers.get('cache-control'), 'no-store');
  },
  async 'an authorization request without an application is a page, not a redirect'() {
    const response = await fetch(`${auth}/oauth/authorize`, { redirect: 'manual' });
    assert.equal(response.status, 400);
    assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
  },
  async 'signing in leads to the identity provider'() {
    const response = await fetch(`${auth}/account/sign-in`, { redirect: 'manual' });
    assert.ok([302, 303].includes(response.status), `status ${response.status}`);
    const provider = new URL(response.headers.get('location') ?? '');
    assert.equal(provider.searchParams.get('redirect_uri'), `${auth}/account/callback`);
    assert.equal(provider.searchParams.get('code_challenge_method'), 'S256');
    const page = await fetch(provider);
    assert.equal(page.status, 200, 'the page of the identity provider');
  },
  ...(base.startsWith('https:') && {
    async 'plain HTTP is refused'() {
      const url = `${auth.replace('https:', 'http:')}/oauth/authorize`;
      const signal = AbortSignal.timeout(5_000);
      const answer = await fetch(url, { redirect: 'manual', signal }).catch(() => undefined);
      assert.ok(!answer || answer.status >= 300, `status ${answer?.status}`);
    },
  }),
  ...(token !== undefined && {
    async 'the token is taken'() {
      const headers = { Authorization: `Bearer ${token}` };
      const { status, body } = await ask('GET', `${base}/user/me`, { headers });
      assert.equal(status, 200);
      assert.equal(typeof body.user.id, 'string');
    },
  }),
};

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what is in it is for each check to say.
  body: any;
}

/** Every answer of the API, refusals of API Gateway itself included, is JSON that any origin may read. */
async function ask(method: string, url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { ...init, method });
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  return { status: response.status, headers: response.headers, body: await response.json() };
}

function refused({ status, body }: Answer, expected: number, error: string): void {
  assert.equal(status, expected);
  assert.equal(body.error, error);
  assert.ok(body.description, 'a description');
}

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    const { message, cause } = error as Error;
    console.log(`FAILED  ${name}: ${message.split('\n')[0]}${cause ? ` (${cause})` : ''}`);
  }
}
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
