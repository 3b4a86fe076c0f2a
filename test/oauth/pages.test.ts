/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { loadFunction } from '../../infra/local/invoke.ts';
import { type Route, routes } from '../../shared/base/routes.ts';
import { userKey } from '../../shared/core/keys.ts';
import { silence } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { routeOf, visitedPages } from '../helpers/routes.ts';
import { makeScene, pathOf, sampleOf } from '../helpers/samples.ts';
import { requestPage, signInAs } from '../helpers/visit.ts';
import { makeWriting, writes } from '../helpers/writes.ts';

process.env.OIDC_ISSUER = 'https://127.0.0.1:9';
process.env.OIDC_CLIENT_SECRET = 'secret';

const { reader, redirect_uri, scene } = await makeScene();
const { cookie, csrf } = await signInAs(reader.id);

/** Pages of people who are signed in: see test/functions/visited-pages.test.ts for the others. */
const pages = routes.filter(
  (route) =>
    route.secrets?.includes('SESSION_KEYS') && route.isPage && !visitedPages.includes(route),
);
const asked = { client_id: scene.client_id, redirect_uri, response_type: 'code' };
/** Pages that do not redirect to the identity provider. */
const own = pages.filter(({ operation }) => !/sign-in$/.test(operation));

function ask(route: Route, { query, ...request }: Parameters<typeof requestPage>[1]) {
  const sample = sampleOf(route, scene);
  return requestPage(route, { ...sample, query: { ...sample.query, ...query }, ...request });
}

/** Pages that an application opens in a pop-up window, which has to stay the application's. */
const onWayOfSignIn = [
  'request-authorization',
  'answer-authorization',
  'sign-in',
  'finish-sign-in',
];

describe.each(pages)('$method $path', (route) => {
  test('requires HTTPS', async () => {
    const form = { csrf, confirm: 'yes' };
    const sent = { cookie, 'X-Forwarded-Proto': 'http' };
    const { status, body, headers } = await ask(route, { query: asked, form, headers: sent });
    expect(status).toBe(400);
    expect(body).toContain('This endpoint is HTTPS only');
    expect(headers).not.toHaveProperty('location');
    expect(headers).not.toHaveProperty('set-cookie');
  });
});

describe.each(own)('$method $path', (route) => {
  test('forbids framing, sniffing, storing, and referrers and openers elsewhere', async () => {
    const query = route.operation === 'request-authorization' ? asked : undefined;
    for (const headers of [{}, { cookie }] as Record<string, string>[]) {
      const answer = await ask(route, { query, headers });
      const isFile = route.operation === 'download-data' && answer.status === 200;
      // 410: this test has no invitations.
      expect([200, 303, 400, 401, 403, 410]).toContain(answer.status);
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[^']+'; img-src data:(; form-action 'self')?; frame-ancestors 'none'; base-uri 'none'$/,
        ),
        'content-type': isFile ? 'application/json' : 'text/html; charset=utf-8',
        'referrer-policy': 'same-origin',
        'strict-transport-security': expect.stringMatching(/^max-age=\d{8}/),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
      const isOnWay = onWayOfSignIn.includes(route.operation);
      const opener = isOnWay ? undefined : 'same-origin';
      expect(answer.headers['cross-origin-opener-policy']).toBe(opener);
      if (isFile) continue;
      const icon = /<link rel="icon" href="data:image\/svg\+xml,[^"]*">/;
      expect(answer.body.replace(icon, '')).not.toMatch(/<script|<link|<img|src=|@import|url\(/);
    }
  });

  if (route.path.includes('{client_id}')) {
    test('refuses an invalid client id: 404', async () => {
      const path = { client_id: 'x' };
      const answer = await ask(route, { path, headers: { cookie }, form: { csrf } });
      expect(answer).toHaveStatus(404);
      expect(answer.body).toContain('<h1>Application not found</h1>');
    });
  }

  // The link in a mail is the proof of whoever ends the mails, or takes an account back.
  if (['stop-mails', 'undo-move'].includes(route.operation)) return;
  if (route.method === 'POST') {
    test('refuses a form without the token of the session', async () => {
      const writing = await makeWriting();
      const write = writes[route.operation]?.(writing) ?? { ...sampleOf(route, scene), form: {} };
      const { path, query, form = {} } = await write;
      const own = await signInAs(writing.user.id);
      const headers = { cookie: own.cookie };
      const send = (also: object, others = headers) =>
        requestPage(route, { path, query, form: { ...form, ...also }, headers: others });
      expect(await send({})).toHaveStatus(403);
      expect(await send({ csrf: own.csrf.toUpperCase() })).toHaveStatus(403);
      expect(await send({ csrf })).toHaveStatus(403);
      expect(await send({ csrf: own.csrf }, {} as never)).toHaveStatus(401);
      // Whatever else is wrong with it, the token of the session is not.
      if (writes[route.operation])
        expect((await send({ csrf: own.csrf })).status).toBeLessThan(400);
    });

    test('refuses a repeated field', async () => {
      const boundary = 'b'.repeat(40);
      const part = `--${boundary}\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n${csrf}\r\n`;
      const form = route.takesFile
        ? `${part}${part}--${boundary}--\r\n`
        : `csrf=${csrf}&csrf=${csrf}&confirm=yes`;
      const type = route.takesFile && {
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
      };
      const answer = await ask(route, { headers: { cookie, ...type }, form });
      expect(answer).toHaveStatus(400);
      expect(answer.body).toContain('csrf must be sent only once');
    });
  } else if (
    !/^(request-authorization|show-sign-out|show-home|show-mail-stop|show-move-undo|show-join)$/.test(
      route.operation,
    )
  ) {
    test('asks for a sign-in first, then returns', async () => {
      const answer = await ask(route, { query: { x: '&=+ é' } });
      expect(answer).toHaveStatus(303);
      const location = new URL(answer.headers.location ?? '');
      expect(location.origin + location.pathname).toBe('https://api.example/ws/account/sign-in');
      const back = new URL(location.searchParams.get('return_to') ?? '', location);
      expect(back.origin).toBe('https://api.example');
      const [path] = pathOf(route, scene).split('?');
      expect(back.pathname).toBe(`/ws${path}`);
      expect(back.searchParams.get('x')).toBe('&=+ é');
    });
  }
});

test('the pages have distinct titles', async () => {
  const shown = own.filter(({ method, operation }) => {
    return (
      method === 'GET' && !/^(request-authorization|download-data|show-proposals)$/.test(operation)
    );
  });
  const titles = await Promise.all(
    shown.map(async (route) => {
      const { body } = await ask(route, { headers: { cookie } });
      expect(body).toMatch(/<html lang="en">/);
      for (const [input] of body.matchAll(/<(?:input|textarea)(?![^>]*type="hidden")[^>]*>/g)) {
        const [, id] = / id="([^"]*)"/.exec(input) ?? [];
        expect([input, body.includes(`<label for="${id}">`)]).toEqual([input, true]);
      }
      return /<title>(.*)<\/title>/.exec(body)?.[1];
    }),
  );
  expect(new Set(titles).size).toBe(titles.length);
});

test('a pop-up window stays that of the application while a new person chooses a name', async () => {
  const show = routeOf('show-account');
  const save = routeOf('update-account');
  const return_to = '/ws/oauth/authorize?request_id=x';
  const headers = { cookie };
  const opener = async (route: Route, sent: Parameters<typeof requestPage>[1]) =>
    (await ask(route, { headers, ...sent })).headers['cross-origin-opener-policy'];
  expect(await opener(show, { query: { return_to, change: 'name' } })).toBeUndefined();
  const form = { csrf, display_name: 'Ann', return_to };
  expect(await opener(save, { form })).toBeUndefined();
  expect(await opener(save, { form: { ...form, display_name: '' } })).toBeUndefined();
  expect(await opener(save, { form: { csrf, display_name: 'Ann' } })).toBe('same-origin');
});

test('no public page lets windows of other sites hold it', async () => {
  for (const route of visitedPages) {
    const answer = await ask(route, {});
    expect([route.path, answer.headers['cross-origin-opener-policy']]).toEqual([
      route.path,
      'same-origin',
    ]);
  }
});

/** The parts of a page where a key that is held would act: all but forms that only ask again. */
const withoutSearches = (html: string) => html.replaceAll(/<form action[\s\S]*?<\/form>/g, '');

test('no page opens with the focus on something that acts', async () => {
  const shown = routes.filter(({ method, secrets = [], base }) => {
    return method === 'GET' && base === '' && secrets.includes('SESSION_KEYS');
  });
  // A new person is asked for a name.
  await setAttributes(userKey(reader.id), { has_proposed_name: true });
  const titles: string[] = [];
  const queries: Record<string, string>[] = [{}, { vote: 'up' }, { return_to: '/ws/reviews' }];
  for (const route of shown) {
    for (const each of queries) {
      const query = route.operation === 'request-authorization' ? { ...asked, ...each } : each;
      let answer = await ask(route, { query, headers: { cookie } });
      const [, request_id] = /[?&]request_id=([^&]+)/.exec(answer.headers.location ?? '') ?? [];
      if (request_id) answer = await ask(route, { query: { request_id }, headers: { cookie } });
      expect([route.path, withoutSearches(`${answer.body}`)]).not.toEqual([
        route.path,
        expect.stringContaining(' autofocus'),
      ]);
      titles.push(/<title>(.*)<\/title>/.exec(`${answer.body}`)?.[1] ?? '');
    }
  }
  const needed = [
    'Was this review helpful?',
    'Let Demo use your account?',
    'Choose your public name',
  ];
  for (const title of needed) expect(titles).toContain(`${title} · Reviews`);
});

test('a page refuses a repeated parameter that it reads, and ignores others', async () => {
  const handler = await loadFunction('sign-in');
  const query = { return_to: ['/ws/account', '/ws/account'], other: ['x', 'x'] };
  const { status, body } = await invoke(handler, { query });
  expect(status).toBe(400);
  expect(body).toContain('<p>return_to must be sent only once.</p>');
});

test('a sign-in without the identity provider shows an error page', async () => {
  const logged = silence('error');
  for (let i = 0; i < 2; i++) {
    const answer = await ask(routeOf('sign-in'), {});
    expect(answer).toMatchObject({ status: 503, headers: { 'x-frame-options': 'DENY' } });
    expect(answer.body).toContain('<h1>Please try again in a moment</h1>');
    expect(answer.body).toContain('Nobody can sign in right now');
    expect(answer.headers).not.toHaveProperty('set-cookie');
  }
  expect(logged.mock.calls).toHaveLength(2);
  expect(logged.mock.calls[0]).toMatchObject([
    { message: 'The identity provider cannot be reached, or refuses this service', error: {} },
  ]);
  logged.mockRestore();
});
