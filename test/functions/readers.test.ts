import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { loadFunction } from '../../infra/local/invoke.ts';
import type { Entity } from '../../shared/entity/record.ts';
import { matchRoute, resourceOf } from '../../shared/http/match-route.ts';
import { routes } from '../../shared/routes.ts';
import { userKey } from '../../shared/table/keys.ts';
import { invoke } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, requestPage } from '../helpers/visit.ts';
import { makeUser } from '../helpers/world.ts';

// Readers only read: a GET without a sign-in makes the service write nothing and ask nobody.

/** The paths that sign somebody in, which is to write a session and to ask a provider. */
const signIn = ['/oauth/authorize', '/account/sign-in', '/account/callback'];

/** Paths of what is not there: a page and a logo of the operator, and a heartbeat. */
const apart = ['/pages/{slug}', '/logo', '/health'];

const author = await makeUser();
const unnamed: Entity = { entity_id: randomUUID(), entity_type: 'work' };
let review_id: string;

/** Queries that make a page or an endpoint do more. */
const queries: Record<string, Record<string, string>[]> = {
  '/1/review': [{ include_metadata: 'true' }, { user_id: author.id, include_metadata: 'true' }],
  '/1/entity/{entity_id}': [{ include_metadata: 'true' }],
  '/1/entity': [{ q: 'Blue' }],
  '/1/entities': [{ entity_ids: unnamed.entity_id }],
  '/1/reviews': [{ review_ids: randomUUID() }],
  '/find': [{ q: 'Blue' }, { q: 'Blue', type: 'work' }, { q: unnamed.entity_id }],
  '/oembed': [{ url: `https://api.example/ws/entity/${unnamed.entity_id}` }],
  '/entity/{entity_id}': [{ entity_type: 'work' }],
  '/entity/{entity_id}/name': [{ entity_type: 'work' }],
  '/review/new': [{ ...unnamed }],
};

beforeAll(async () => {
  review_id = await author.publishes({ ...unnamed });
  await applyStream();
  Object.assign(process.env, {
    MUSICDB_API: 'data:application/json,{"name":"Blue"}#{type}{id}',
    MUSICDB_PAGE: 'https://music.example/{type}/{id}',
    MUSICDB_SEARCH: 'data:application/json,{"found":[]}#{type}{name}',
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a GET of somebody who is not signed in writes nothing and asks nobody', () => {
  const open = routes.filter(
    (route) =>
      route.method === 'GET' && route.access === 'public' && !signIn.includes(resourceOf(route)),
  );

  test.each(open.map((route) => [resourceOf(route), route] as const))('%s', async (path, route) => {
    const fetching = jest.spyOn(globalThis, 'fetch');
    const written: string[] = [];
    const statuses: number[] = [];
    beforeSend((command) => {
      const { name } = command.constructor;
      if (!/^(Get|BatchGet|Query)Command$/.test(name)) written.push(name);
    });
    const values: Record<string, string> = {
      ...unnamed,
      review_id,
      user_id: author.id,
      rev: '1',
      guide: 'oauth',
    };
    for (const query of [{}, ...(queries[path] ?? [])]) {
      const request = { path: values, query };
      const { status } = await (route.base === ''
        ? requestPage(route, request)
        : invoke(await loadFunction(route.operation), request));
      statuses.push(status);
    }
    expect(written).toEqual([]);
    if (!apart.includes(path)) expect([200, 303]).toContain(statuses.at(-1));
    expect(fetching.mock.calls.map(([url]) => `${url}`)).toEqual([]);
  });

  test('among them pages and endpoints with names', () => {
    expect(open.map(resourceOf)).toEqual(
      expect.arrayContaining(['/', '/1/review', '/find', '/review/{review_id}', '/oembed']),
    );
    expect(matchRoute('GET', '/find')?.route.asks).toBe(true);
  });
});

describe('somebody who is signed in', () => {
  const someone = () => makeUser();
  const work = (): Entity => ({ entity_id: randomUUID(), entity_type: 'work' });

  test('is given the name at once in the form of a review, and it is kept', async () => {
    const entity = work();
    const { html } = await ask('show-review-form', await someone(), { query: { ...entity } });
    expect(html).toContain('<bdi>Blue</bdi>');
    expect(html).not.toContain('What are you reviewing?');
    const fetching = jest.spyOn(globalThis, 'fetch');
    const again = await ask('show-review-form', await someone(), { query: { ...entity } });
    expect(again.html).toContain('<bdi>Blue</bdi>');
    expect(fetching).toHaveBeenCalledTimes(0);
  });

  test('is given the name at once in the form to name something', async () => {
    const { entity_id, entity_type } = work();
    const request = { path: { entity_id }, query: { entity_type } };
    const { html } = await ask('show-naming', await someone(), request);
    expect(html).toContain('Correct the name: <bdi>Blue</bdi>');
  });

  test('asks nobody as a reader, nor from a blocked account', async () => {
    const { entity_id, entity_type } = unnamed;
    const blocked = await someone();
    await setAttributes(userKey(blocked.id), { blocked_at: new Date().toISOString() });
    const fetching = jest.spyOn(globalThis, 'fetch');
    const person = await someone();
    for (const page of ['show-entity', 'show-home', 'show-reviews', 'show-my-reviews']) {
      await ask(page, person, { path: { entity_id } });
    }
    await ask('show-review', person, { path: { review_id } });
    await ask('show-review-editor', author, { path: { review_id } });
    await ask('show-review-form', blocked, { query: { ...work() } });
    await ask('show-naming', blocked, { path: { ...work() }, query: { entity_type } });
    expect(fetching.mock.calls.map(([url]) => `${url}`)).toEqual([]);
  });

  test('gets the form without a name if the database fails', async () => {
    jest.spyOn(console, 'warn').mockImplementation(() => {});
    process.env.MUSICDB_API = 'data:application/json,<html>#{type}{id}';
    const { status, html } = await ask('show-review-form', await someone(), {
      query: { ...work() },
    });
    expect(status).toBe(200);
    expect(html).toContain('What are you reviewing?');
  });
});
