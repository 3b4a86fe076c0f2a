import { describe, expect, jest, test } from '@jest/globals';
import { eventOf } from '../../bin/bench/event.ts';
import { loadFunction } from '../../infra/local/invoke.ts';
import { resourceOf } from '../../shared/http/match-route.ts';
import { csrfToken, readSession, startSession } from '../../shared/pages/session.ts';
import { type Route, routes } from '../../shared/routes.ts';
import { setModerator } from '../../shared/user/user-repository.ts';
import { makeReview, makeUser } from '../helpers/fixtures.ts';
import { invoke } from '../helpers/invoke.ts';
import { formOf, makeClient } from '../helpers/oauth-client.ts';

process.env.AUTH_URL = 'https://api.example/ws';
process.env.SESSION_KEYS = Buffer.alloc(32, 'session').toString('base64url');
process.env.OIDC_ISSUER = 'https://127.0.0.1:9';
process.env.OIDC_CLIENT_SECRET = 'secret';

const user = await makeUser();
const { client_id, redirect_uri } = await makeClient(user);
const author = await makeUser();
/** What is in the paths: the user is a moderator, and the author has reviewed something. */
const named = {
  client_id,
  token_id: 'f'.repeat(32),
  review_id: await makeReview(author),
  user_id: author.id,
};
await setModerator(user.id, true);
const cookie = (await startSession(user.id)).split(';')[0] ?? '';
const session = await readSession(eventOf({ headers: { cookie } }));
const csrf = session ? await csrfToken(session) : '';

const pages = routes.filter(({ secrets = [] }) => secrets.includes('SESSION_KEYS'));
/** Without what goes to the identity provider. */
const own = pages.filter(({ operation }) => !/sign-in$/.test(operation));

/** A request for a page, as its route has it. */
async function ask(
  route: Route,
  {
    query,
    form,
    headers = {},
  }: Partial<Record<'query' | 'form' | 'headers', Record<string, string>>>,
) {
  const handler = await loadFunction(route.operation);
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const request = {
    method: route.method,
    path: named,
    query,
    headers: { ...(route.method === 'POST' && type), ...headers },
    body: route.method === 'POST' ? formOf(form ?? {}) : undefined,
  };
  const withResource = (event: object, context: never) =>
    handler({ ...event, resource: resourceOf(route) }, context);
  return invoke(withResource, request);
}

describe.each(pages.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    test('is HTTPS only', async () => {
      const query = { client_id, redirect_uri, response_type: 'code' };
      const { status, body, headers } = await ask(route, {
        query,
        form: { csrf, confirm: 'yes' },
        headers: { cookie, 'X-Forwarded-Proto': 'http' },
      });
      expect(status).toBe(400);
      expect(body).toContain('This endpoint is HTTPS only');
      expect(headers).not.toHaveProperty('location');
      expect(headers).not.toHaveProperty('set-cookie');
    });
  },
);

describe.each(own.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    test('is framed, sniffed, kept and told to nobody', async () => {
      const query =
        route.operation === 'request-authorization'
          ? { client_id, redirect_uri, response_type: 'code' }
          : undefined;
      for (const headers of [{}, { cookie }] as Record<string, string>[]) {
        const answer = await ask(route, { query, headers });
        const isFile = route.operation === 'download-data' && answer.status === 200;
        expect([200, 303, 400, 401, 403]).toContain(answer.status);
        expect(answer.headers).toMatchObject({
          'cache-control': 'no-store',
          'content-security-policy': expect.stringMatching(
            /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:(; form-action 'self')?; frame-ancestors 'none'; base-uri 'none'$/,
          ),
          'content-type': isFile ? 'application/json' : 'text/html; charset=utf-8',
          'referrer-policy': 'no-referrer',
          'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
        });
        expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
        if (isFile) continue;
        const elsewhere = answer.body.replace(
          /<link rel="icon" href="data:image\/svg\+xml,[^"]*">/,
          '',
        );
        expect(elsewhere).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
      }
    });

    if (route.path.includes('{client_id}')) {
      test('knows no application by what is no client id', async () => {
        const handler = await loadFunction(route.operation);
        const answer = await invoke(handler, {
          method: route.method,
          path: { client_id: 'x' },
          headers: { cookie, 'Content-Type': 'application/x-www-form-urlencoded' },
          body: route.method === 'POST' ? formOf({ csrf }) : undefined,
        });
        expect(answer.status).toBe(404);
        expect(answer.body).toContain('<h1>Application not found</h1>');
      });
    }

    if (route.method === 'POST') {
      test('takes no form without the token of the session', async () => {
        const form = {
          confirm: 'yes',
          decision: 'approve',
          display_name: 'X',
          email: '',
          name: 'X',
          desc: '',
          website: 'https://x.example',
          redirect_uri,
        };
        const query = { request_id: 'x' };
        expect((await ask(route, { query, form, headers: { cookie } })).status).toBe(403);
        const wrong = { ...form, csrf: csrf.toUpperCase() };
        expect((await ask(route, { query, form: wrong, headers: { cookie } })).status).toBe(403);
        expect((await ask(route, { query, form: { ...form, csrf } })).status).toBe(401);
      });

      test('takes no field twice', async () => {
        const headers = { cookie, 'Content-Type': 'application/x-www-form-urlencoded' };
        const handler = await loadFunction(route.operation);
        const body = `csrf=${csrf}&csrf=${csrf}&confirm=yes`;
        const answer = await invoke(handler, {
          method: 'POST',
          headers,
          body,
          path: named,
        });
        expect(answer.status).toBe(400);
        expect(answer.body).toContain('csrf must be sent only once');
      });
    } else if (!/^(request-authorization|show-sign-out)$/.test(route.operation)) {
      test('lets one sign in first, and comes back', async () => {
        const answer = await ask(route, { query: { x: '&=+ é' } });
        expect(answer.status).toBe(303);
        const location = new URL(answer.headers.location ?? '');
        expect(location.origin + location.pathname).toBe('https://api.example/ws/account/sign-in');
        const back = new URL(location.searchParams.get('return_to') ?? '', location);
        expect(back.origin).toBe('https://api.example');
        const path = resourceOf(route).replaceAll(
          /\{(\w+)\}/g,
          (_, name) => named[name as 'user_id'],
        );
        expect(back.pathname).toBe(`/ws${path}`);
        expect(back.searchParams.get('x')).toBe('&=+ é');
      });
    }
  },
);

test('the texts of the pages can be told apart by their titles', async () => {
  const titles = await Promise.all(
    own
      .filter(({ method, operation }) => {
        return method === 'GET' && !/^(request-authorization|download-data)$/.test(operation);
      })
      .map(async (route) => {
        const { body } = await ask(route, { headers: { cookie } });
        expect(body).toMatch(/<html lang="en">/);
        for (const [input] of body.matchAll(/<(input|textarea)[^>]*>/g)) {
          const [, id] = / id="([^"]*)"/.exec(input) ?? [];
          const isLabelled = body.includes(`<label for="${id}">`);
          expect({ input, isLabelled: isLabelled || input.includes('type="hidden"') }).toEqual({
            input,
            isLabelled: true,
          });
        }
        return /<title>(.*)<\/title>/.exec(body)?.[1];
      }),
  );
  expect(new Set(titles).size).toBe(titles.length);
});

test('a page takes no parameter twice that it reads, and ignores the others', async () => {
  const handler = await loadFunction('sign-in');
  const query = { return_to: ['/ws/account', '/ws/account'], other: ['x', 'x'] };
  const { status, body } = await invoke(handler, { query });
  expect(status).toBe(400);
  expect(body).toContain('<p>return_to must be sent only once.</p>');
});

test('a sign-in without the identity provider fails on a page, and cleanly', async () => {
  const logged = jest.spyOn(console, 'error').mockImplementation(() => {});
  const route = pages.find(({ operation }) => operation === 'sign-in');
  for (let i = 0; i < 2; i++) {
    const answer = route && (await ask(route, {}));
    expect(answer).toMatchObject({ status: 503, headers: { 'x-frame-options': 'DENY' } });
    expect(answer?.body).toContain('<h1>Please try again in a moment</h1>');
    expect(answer?.body).toContain('Nobody can sign in right now');
    expect(answer?.headers).not.toHaveProperty('set-cookie');
  }
  expect(logged.mock.calls).toHaveLength(2);
  expect(logged.mock.calls[0]).toMatchObject([{ message: 'No identity provider', error: {} }]);
  logged.mockRestore();
});
