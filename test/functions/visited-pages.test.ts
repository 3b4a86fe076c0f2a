/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import '../helpers/engine.ts';
import { gzipSync } from 'node:zlib';
import { measureCalmly } from '../../bin/bench/measure.ts';
import type { Route } from '../../shared/base/routes.ts';
import { endSessions } from '../../shared/core/user/user-repository.ts';
import { startSession } from '../../shared/pages/session/session.ts';
import { stopClock } from '../helpers/clock.ts';
import { ownReads, routeOf, visitedPages } from '../helpers/routes.ts';
import { makeScene, sampleOf } from '../helpers/samples.ts';
import { requestPage, signInAs } from '../helpers/visit.ts';
import { makeUser, signIn } from '../helpers/world.ts';

const { reader, scene } = await makeScene();
const member = await makeUser({ display_name: 'Ben <b>' });
const { cookie } = await signInAs(member.id);
const showEntity = routeOf('show-entity');

const ask = (route: Route, headers: Record<string, string> = {}) =>
  requestPage(route, { ...sampleOf(route, scene), headers });

describe.each(visitedPages)('GET $path for people', (route) => {
  let stranger: Awaited<ReturnType<typeof ask>>;
  beforeAll(async () => {
    stranger = await ask(route);
  });

  test('is one cacheable page for everybody who is not signed in', async () => {
    expect(stranger).toMatchObject({
      status: 200,
      headers: {
        'cache-control': 'public, max-age=0, s-maxage=10, stale-if-error=0',
        etag: expect.stringMatching(/^"[\w-]{22}"$/),
        vary: 'Accept-Encoding, Cookie',
      },
    });
    expect(stranger.body).not.toContain('name="csrf"');
    const again = await ask(route, { 'If-None-Match': `${stranger.headers.etag}` });
    expect(again).toHaveStatus(304);
  });

  test('greets people who are signed in, and no cache may store that', async () => {
    expect(route.secrets).toContain('SESSION_KEYS');
    const answer = await ask(route, { cookie, 'If-None-Match': `${stranger.headers.etag}, *` });
    expect(answer).toHaveStatus(200);
    expect(answer.headers['cache-control']).toBe('private, no-store');
    expect(answer.headers).not.toHaveProperty('etag');
    expect(answer.body).toContain('<summary><bdi>Ben &lt;b&gt;</bdi></summary>');
    expect(answer.body).toContain('action="https://api.example/ws/account/sign-out"');
    const head = await ask({ ...route, method: 'HEAD' as never }, { cookie });
    expect(head).toMatchObject({ body: '', headers: { 'cache-control': 'private, no-store' } });
  });

  test('is the same for a session that is invalid, expired or ended as without one', async () => {
    const gone = await signIn();
    const left = await signInAs(gone.id);
    await gone.leaves();
    const another = await makeUser();
    const ended = await signInAs(another.id);
    stopClock(Date.now() + 1);
    await endSessions(another.id);
    stopClock(Date.now() - 31 * 24 * 3_600_000);
    const expired = (await startSession(member.id)).split(';')[0] ?? '';
    stopClock(Date.now() + 31 * 24 * 3_600_000);
    const forged = `${cookie.slice(0, -2)}~~`;
    for (const sent of [
      forged,
      '__Host-session=',
      '__Host-session=x',
      expired,
      left.cookie,
      ended.cookie,
    ]) {
      expect(await ask(route, { cookie: sent })).toEqual(stranger);
    }
  });

  test('refuses a session that was sent without HTTPS', async () => {
    const plain = { 'X-Forwarded-Proto': 'http' };
    expect(await ask(route, { ...plain, cookie })).toHaveStatus(400);
    expect(await ask(route, plain)).toHaveStatus(200);
  });

  // A moderator's page reads the number of what waits: half a unit for each of its five kinds.
  test.each([
    ['person', member, 3, 1],
    ['moderator', reader, 5.5, 2],
  ] as const)('costs a signed-in %s little more', async (_, { id }, units, trips) => {
    const sample = sampleOf(route, scene);
    const headers = { cookie: (await signInAs(id)).cookie };
    const before = await measureCalmly(route.operation, sample);
    const after = await measureCalmly(route.operation, { ...sample, headers });
    expect(after).toHaveStatus(200);
    expect(after.read - before.read).toBeLessThanOrEqual(units);
    expect(after.roundTrips - before.roundTrips).toBeLessThanOrEqual(trips);
  });
});

const ownPages = ownReads.filter(
  ({ isPage, operation }) => isPage && operation !== 'download-data',
);

test.each([...visitedPages, ...ownPages])(
  '$path needs no script, no font and 30 KB at most',
  async (route) => {
    const { cookie } = await signInAs(reader.id);
    const { status, headers, body } = await ask(route, { cookie });
    expect(status).toBe(200);
    // The policy lets nothing else be loaded. Data for search engines is no script.
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(headers['content-security-policy']).not.toMatch(/(script|font|connect)-src/);
    expect(body.replaceAll('<script type="application/ld+json">', '')).not.toMatch(
      /<script|@font-face|@import|rel="(stylesheet|preload)"| on\w+="/,
    );
    expect(gzipSync(body).length).toBeLessThanOrEqual(30 * 1024);
  },
);

test('a notice of a change is shown once', async () => {
  const notice = '__Host-notice=settings-saved';
  const { body } = await ask(showEntity, { cookie: `${cookie}; ${notice}` });
  expect(body).toContain('<p class="notice" role="status">Your settings are saved.</p>');
  const without = await ask(showEntity, { cookie: notice });
  expect(without.body).not.toContain('Your settings are saved.');
});

test('the link to sign in returns to the page, without parameters that it does not read', async () => {
  const { path } = sampleOf(showEntity, scene);
  const query = { rating: '5', utm_source: 'x', language: 'en' };
  const { body } = await requestPage(showEntity, { path, query });
  const [, href = ''] = /class="enter" href="([^"]*)">Sign in</.exec(body) ?? [];
  const back = new URL(href.replaceAll('&amp;', '&')).searchParams.get('return_to');
  expect(back).toBe(`https://api.example/ws/entity/${scene.entity_id}?rating=5&language=en`);
  const { utm_source: _, ...known } = query;
  expect((await requestPage(showEntity, { path, query: known })).body).toBe(body);
});

test('every page leads to browsing, searching, writing and the guides', async () => {
  for (const route of [...visitedPages, routeOf('show-connections'), routeOf('show-vote')]) {
    const { body } = await ask(route, { cookie });
    const [menu = ''] = /<nav aria-label="Main">[\s\S]*?<\/nav>/.exec(body) ?? [];
    expect(menu).toMatch(/<a href="https:\/\/api.example\/ws\/reviews"[^>]*>Browse<\/a>/);
    expect(menu.includes('aria-current="page"')).toBe(route.path === '/reviews');
    expect(body).toContain('href="https://api.example/ws/docs">Developers</a>');
    const searches =
      `${body}`.split('role="search" action="https://api.example/ws/find"').length - 1;
    expect([route.operation, searches]).toEqual([route.operation, 1]);
    const buttons =
      `${body}`.split('href="https://api.example/ws/find">Write a review</a>').length - 1;
    // The page of a thing has a button of its own.
    expect([route.path, buttons]).toEqual([route.path, route === showEntity ? 0 : 1]);
    expect(body).toMatch(/<body[^>]*>\s*<a class="skip" href="#main">[\s\S]*<main id="main">/);
  }
});
