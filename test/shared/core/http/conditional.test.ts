import { handler as createReview } from '../../../../functions/api/create-review.ts';
import { handler as deleteReview } from '../../../../functions/api/delete-review.ts';
import { handler as getMe } from '../../../../functions/api/get-me.ts';
import { handler as getReview } from '../../../../functions/api/get-review.ts';
import { handler as getUser } from '../../../../functions/api/get-user.ts';
import { handler as listLanguages } from '../../../../functions/api/list-languages.ts';
import { handler as listReviews } from '../../../../functions/api/list-reviews.ts';
import { handler as listRevisions } from '../../../../functions/api/list-revisions.ts';
import { handler as updateReview } from '../../../../functions/api/update-review.ts';
import type { EndpointRequest } from '../../../../infra/local/gateway/endpoint-event.ts';
import { invoke } from '../../../helpers/invoke.ts';
import { makeUser, type Person, reviewBody, text, visitor } from '../../../helpers/world.ts';

let author: Person;
let review_id: string;
beforeAll(async () => {
  author = await makeUser();
});

const tagOf = async () => (await visitor.reads(review_id)).headers.etag ?? '';

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
      expect(first).toHaveStatus(200);
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
    expect(await change(other)).toHaveStatus(412);
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
    expect(await change(`${headers.etag}`, (await makeUser()).caller)).toHaveStatus(403);
    expect(await change(`${headers.etag}`)).toHaveStatus(200);
    review_id = await author.publishes();
  });

  test('does not help another user', async () => {
    expect(await change(await tagOf(), (await makeUser()).caller)).toHaveStatus(403);
  });

  test('matches one of several ETags, although there have been votes since', async () => {
    const tag = await tagOf();
    await (await makeUser()).votes(review_id);
    expect(await tagOf()).not.toBe(tag);
    expect(await change(['"x"', tag])).toHaveStatus(200);
  });
});

describe('the ETag of an answer to a write', () => {
  const send = (handler: unknown, body: object, { headers, path }: EndpointRequest = {}) =>
    invoke(handler, {
      caller: author.caller,
      path,
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
    });
  const edit = (id: string, body: object, ifMatch?: string) =>
    send(updateReview, body, {
      path: { review_id: id },
      headers: ifMatch === undefined ? {} : { 'If-Match': ifMatch },
    });

  test('is good for the If-Match of the next write, without a read in between', async () => {
    const draft = await send(createReview, reviewBody({ is_draft: true }));
    const { id } = draft.body;
    const tags = [draft.headers.etag ?? ''];
    // The publication changes no words, and the last but one nothing.
    const bodies = [
      { rating: 1 },
      { is_draft: false },
      { rating: 2 },
      { rating: 2 },
      { rating: 3 },
    ];
    for (const body of bodies) {
      const answer = await edit(id, body, tags.at(-1));
      expect([body, answer.status]).toEqual([body, 200]);
      tags.push(answer.headers.etag ?? '');
    }
    for (const tag of tags) expect(tag).toMatch(/^"[\w-]+"$/);
    expect(new Set(tags).size).toBe(4);
    for (const stale of tags.slice(0, 4)) {
      expect(await edit(id, { rating: 5 }, stale)).toHaveStatus(412);
    }
    const headers = { 'If-Match': tags.at(-1) ?? '' };
    const path = { review_id: id };
    expect(await invoke(deleteReview, { caller: author.caller, path, headers })).toHaveStatus(200);
  });

  test('of a repeated publication is that of the first revision', async () => {
    const once = { headers: { 'Idempotency-Key': '"once"' } };
    const body = reviewBody();
    const first = await send(createReview, body, once);
    await edit(first.body.id, { rating: 1 });
    const again = await send(createReview, body, once);
    expect(again.headers).toMatchObject({
      etag: first.headers.etag,
      'idempotent-replayed': 'true',
    });
    expect(await edit(first.body.id, { rating: 2 }, again.headers.etag)).toHaveStatus(412);
  });

  test('is not there where a write was refused', async () => {
    const refused = await send(createReview, reviewBody({ rating: 9 }));
    expect(refused).toHaveStatus(400);
    expect(refused.headers).not.toHaveProperty('etag');
  });
});
