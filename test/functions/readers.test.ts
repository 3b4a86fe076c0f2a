/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import { handler as sendHeartbeat } from '../../functions/background/send-heartbeat.ts';
import { loadFunction } from '../../infra/local/invoke.ts';
import { routes } from '../../shared/base/routes.ts';
import { matchRoute, resourceOf } from '../../shared/core/http/match-route.ts';
import { userKey } from '../../shared/core/keys.ts';
import { silence } from '../helpers/console.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { ownReads, visitedPages } from '../helpers/routes.ts';
import { makeScene, sampled, sampleOf, samplesOf } from '../helpers/samples.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, pageFor, requestPage } from '../helpers/visit.ts';
import { makeUser } from '../helpers/world.ts';

// Readers only read: a GET without a sign-in makes the service write nothing and ask nobody.

const { reader, scene } = await makeScene();

beforeAll(async () => {
  await applyStream();
  await sendHeartbeat();
  Object.assign(process.env, {
    MUSICDB_API: 'data:application/json,{"name":"Blue"}#{type}{id}',
    MUSICDB_PAGE: 'https://music.example/{type}/{id}',
    MUSICDB_SEARCH: 'data:application/json,{"found":[]}#{type}{name}',
  });
});

describe('a GET of somebody who is not signed in writes nothing and asks nobody', () => {
  // Without those that sign somebody in, which is to write a session and to ask a provider.
  const open = routes.filter(
    ({ method, access, secrets = [], operation }) =>
      method === 'GET' &&
      access === 'public' &&
      operation !== 'request-authorization' &&
      !secrets.includes('OIDC_CLIENT_SECRET'),
  );

  // The page of an invitation.
  beforeEach(() => {
    process.env.MEMBERS = 'invited';
  });

  test.each(open)('$path', async (route) => {
    const fetching = jest.spyOn(globalThis, 'fetch');
    const written: string[] = [];
    beforeSend((command) => {
      const { name } = command.constructor;
      if (!/^(Get|BatchGet|Query)Command$/.test(name)) written.push(name);
    });
    const samples = samplesOf(route, scene);
    // The id of something leads to its page.
    if (route.operation === 'find-entity')
      samples.push({ path: {}, query: { q: scene.entity_id } });
    for (const sample of samples) {
      const { status } = await (route.isPage
        ? requestPage(route, sample)
        : invoke(await loadFunction(route.operation), sample));
      expect([200, 303]).toContain(status);
    }
    expect(written).toEqual([]);
    expect(fetching.mock.calls.map(([url]) => `${url}`)).toEqual([]);
  });

  test('among them pages and endpoints with names', () => {
    expect(open.map(resourceOf)).toEqual(
      expect.arrayContaining(['/', '/1/review', '/find', '/review/{review_id}', '/oembed']),
    );
    expect(matchRoute('GET', '/find')?.route.asks).toBe(true);
    // A sample of nothing would prove nothing.
    const operations = routes.map(({ operation }) => operation);
    expect(sampled.filter((operation) => !operations.includes(operation))).toEqual([]);
  });
});

describe('somebody who is signed in', () => {
  const someone = () => makeUser();
  const work = () => ({ entity_id: randomUUID(), entity_type: 'work' });

  test('is given the name at once in the form of a review, and it is kept', async () => {
    const entity = work();
    const html = await pageFor('show-review-form', await someone(), { query: { ...entity } });
    expect(html).toContain('<bdi>Blue</bdi>');
    expect(html).not.toContain('What are you reviewing?');
    const fetching = jest.spyOn(globalThis, 'fetch');
    const again = await pageFor('show-review-form', await someone(), { query: { ...entity } });
    expect(again).toContain('<bdi>Blue</bdi>');
    expect(fetching).toHaveBeenCalledTimes(0);
  });

  test('is given the name at once in the form to name something', async () => {
    const { entity_id, entity_type } = work();
    const request = { path: { entity_id }, query: { entity_type } };
    const html = await pageFor('show-naming', await someone(), request);
    expect(html).toContain('Correct the name: <bdi>Blue</bdi>');
  });

  test('asks nobody on any other page, nor from a blocked account', async () => {
    const blocked = await someone();
    await setAttributes(userKey(blocked.id), { blocked_at: new Date().toISOString() });
    const fetching = jest.spyOn(globalThis, 'fetch');
    for (const route of [...visitedPages, ...ownReads]) {
      if (!route.isPage || route.asks) continue;
      expect(await ask(route.operation, reader, sampleOf(route, scene))).toHaveStatus(200);
    }
    await ask('show-review-form', blocked, { query: { ...work() } });
    await ask('show-naming', blocked, { path: { ...work() }, query: { entity_type: 'work' } });
    expect(fetching.mock.calls.map(([url]) => `${url}`)).toEqual([]);
  });

  test('gets the form without a name if the database fails', async () => {
    silence('warn');
    process.env.MUSICDB_API = 'data:application/json,<html>#{type}{id}';
    const html = await pageFor('show-review-form', await someone(), {
      query: { ...work() },
    });
    expect(html).toContain('What are you reviewing?');
  });
});
