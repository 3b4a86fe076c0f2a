import { beforeAll, describe, expect, test } from '@jest/globals';
import { handler as deleteReview } from '../../../functions/api/delete-review.ts';
import { handler as getMe } from '../../../functions/api/get-me.ts';
import { handler as getReview } from '../../../functions/api/get-review.ts';
import { handler as getUser } from '../../../functions/api/get-user.ts';
import { handler as listLanguages } from '../../../functions/api/list-languages.ts';
import { handler as listReviews } from '../../../functions/api/list-reviews.ts';
import { handler as listRevisions } from '../../../functions/api/list-revisions.ts';
import { handler as updateReview } from '../../../functions/api/update-review.ts';
import type { EndpointRequest } from '../../../infra/local/endpoint-event.ts';
import { invoke } from '../../helpers/invoke.ts';
import { makeUser, type Person, text, visitor } from '../../helpers/world.ts';

let author: Person;
let review_id: string;
beforeAll(async () => {
  author = await makeUser();
});

const tagOf = async (): Promise<string> => (await visitor.reads(review_id)).headers.etag ?? '';

describe('a public GET', () => {
  beforeAll(async () => {
    review_id = await author.publishes();
  });

  const handlers: [string, unknown, () => EndpointRequest][] = [
    ['a review', getReview, () => ({ path: { review_id } })],
    ['revisions', listRevisions, () => ({ path: { review_id } })],
    ['a user', getUser, () => ({ path: { user_id: author.id } })],
    ['the list', listReviews, () => ({})],
    ['languages', listLanguages, () => ({})],
  ];

  test.each(handlers)(
    'of %s has a strong ETag, and returns 304 if it matches',
    async (_, handler, request) => {
      const first = await invoke(handler, request());
      expect(first.status).toBe(200);
      expect(first.headers.etag).toMatch(/^"[\w.-]+"$/);
      expect(first.headers['cache-control']).toMatch(/^public/);
      const { etag = '' } = first.headers;
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*', [etag, '"a,b"']]) {
        const again = await invoke(handler, { ...request(), headers: { 'if-none-match': tag } });
        expect(again).toMatchObject({ status: 304, body: '' });
        expect(again.headers).toMatchObject({
          etag,
          'cache-control': first.headers['cache-control'],
          'access-control-allow-origin': '*',
          vary: 'Accept-Encoding',
        });
        expect(again.headers).not.toHaveProperty('content-type');
      }
      for (const other of ['"other"', '"x,*,y"', `x${etag}`, '*,*', `"a" ${etag}`, '']) {
        const headers = { 'If-None-Match': other };
        expect(await invoke(handler, { ...request(), headers })).toEqual(first);
      }
    },
  );

  test.each(handlers)('of %s has an ETag for each coding', async (_, handler, request) => {
    const ask = (headers: Record<string, string>) => invoke(handler, { ...request(), headers });
    const codings = ['identity', 'gzip', 'deflate', 'br', 'zstd'];
    const tags = await Promise.all(
      codings.map(async (coding) => (await ask({ 'Accept-Encoding': coding })).headers.etag ?? ''),
    );
    expect(new Set(tags).size).toBe(codings.length);
    const [plain = '', gzip = ''] = tags;
    const known = { 'Accept-Encoding': 'gzip, br', 'If-None-Match': gzip };
    expect(await ask(known)).toMatchObject({ status: 304, headers: { etag: gzip } });
    expect(await ask({ ...known, 'If-None-Match': plain })).toMatchObject({ status: 200 });
  });

  test('changes its ETag with any part of the response', async () => {
    const before = await tagOf();
    await (await makeUser()).votes(review_id);
    const after = await tagOf();
    expect(after).not.toBe(before);
    expect(after.split('.')[0]).toBe(before.split('.')[0]);
  });

  test('alone may be cached: a public POST returns no-store', async () => {
    const { status, headers } = await invoke(listLanguages, { method: 'POST' });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers).not.toHaveProperty('etag');
  });

  test('allows a CDN to hold lists briefly, and revalidates single resources', async () => {
    const cached = async (handler: unknown, request: EndpointRequest) =>
      (await invoke(handler, request)).headers['cache-control'];
    expect(await cached(listReviews, {})).toBe('public, max-age=0, s-maxage=10, stale-if-error=0');
    expect(await cached(getReview, { path: { review_id } })).toBe(
      'public, no-cache, stale-if-error=0',
    );
    expect(await cached(getMe, { caller: author.caller })).toBe('no-store');
    expect(await cached(listReviews, { query: { limit: 'x' } })).toBe('no-store');
  });
});

describe.each([
  ['update', updateReview, { body: { text: `${text}${text}` } }],
  ['delete', deleteReview, {}],
])('If-Match on %s', (_, handler, request) => {
  const change = (ifMatch: string | string[], caller = author.caller) =>
    invoke(handler, {
      ...request,
      caller,
      path: { review_id },
      headers: { 'Content-Type': 'application/json', 'if-match': ifMatch },
    });
  beforeAll(async () => {
    review_id = await author.publishes();
  });

  test('returns 412 for a review edited since, and changes nothing', async () => {
    const old = await tagOf();
    await author.edits(review_id, { rating: 2 });
    const tag = await tagOf();
    for (const ifMatch of [old, `W/${tag}`, '"0"', '"1.x"', `${old}, "x"`]) {
      const { status, body } = await change(ifMatch);
      expect({ ifMatch, status }).toEqual({ ifMatch, status: 412 });
      expect(body).toEqual({ error: 'precondition_failed', description: expect.any(String) });
    }
    expect(await tagOf()).toBe(tag);
  });

  test('returns 412 for the ETag of another review', async () => {
    const mine = review_id;
    review_id = await author.publishes();
    const other = await tagOf();
    review_id = mine;
    expect((await change(other)).status).toBe(412);
  });

  test('returns 400 if it is not a list of ETags', async () => {
    const tag = await tagOf();
    for (const ifMatch of ['nonsense', `foo${tag}`, `"x" ${tag}`, `w/${tag}`, `*${tag}`, '']) {
      const { status, body } = await change(ifMatch);
      const description = 'If-Match must be * or a list of ETags';
      expect([ifMatch, status, body]).toEqual([
        ifMatch,
        400,
        { error: 'invalid_request', description },
      ]);
    }
  });

  test('matches the ETag of any coding', async () => {
    const { headers } = await visitor.reads(review_id, { 'Accept-Encoding': 'gzip' });
    expect(headers.etag).not.toBe(await tagOf());
    expect((await change(`${headers.etag}`, (await makeUser()).caller)).status).toBe(403);
    expect((await change(`${headers.etag}`)).status).toBe(200);
    review_id = await author.publishes();
  });

  test('does not help another user', async () => {
    expect((await change(await tagOf(), (await makeUser()).caller)).status).toBe(403);
  });

  test('matches although there have been votes since', async () => {
    const tag = await tagOf();
    await (await makeUser()).votes(review_id);
    expect(await tagOf()).not.toBe(tag);
    expect((await change(['"x"', tag])).status).toBe(200);
  });

  test('with * matches any state', async () => {
    review_id = await author.publishes();
    expect((await change('*')).status).toBe(200);
  });
});
