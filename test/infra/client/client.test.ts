import {
  AccessEnded,
  ApiError,
  Gone,
  InvalidAnswer,
  LimitExceeded,
  NotFound,
  PreconditionFailed,
  ReviewClient,
} from '../../../infra/client/client.ts';
import { Mirror } from '../../../infra/client/mirror.ts';

const base = 'https://api.example/ws/1';

type Scripted = Response | Error;

/** A service that gives one answer after another, and what it was sent. */
function serviceOf(...answers: (Scripted | ((request: Request) => Scripted))[]) {
  const sent: Request[] = [];
  const call: typeof fetch = async (...args) => {
    const request = new Request(...args);
    sent.push(request.clone());
    const next = answers.shift();
    const answer = typeof next === 'function' ? next(request) : next;
    if (!(answer instanceof Response)) throw answer ?? new Error('nothing more was expected');
    return answer;
  };
  return { sent, call, left: answers };
}

const json = (body: object, status = 200, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });
const refused = (status: number, error: string, headers?: Record<string, string>) =>
  json({ error, description: `It is ${error}` }, status, headers);
const lost = new TypeError('fetch failed');

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance'] });
});

/** Runs what waits for timers. Returns the milliseconds that it has waited. */
async function waited<T>(work: Promise<T>) {
  const begin = Date.now();
  let isDone = false;
  const end = work.finally(() => {
    isDone = true;
  });
  end.catch(() => {});
  while (!isDone) await jest.advanceTimersByTimeAsync(100);
  return { value: await end, wait: Date.now() - begin };
}

const review = {
  entity_id: '8e8a594f-2175-38c7-a871-abb68ec363e7',
  entity_type: 'release_group',
  rating: 5,
  license_choice: 'CC BY-SA 4.0',
} as const;

describe('a request', () => {
  test('fills in its path and query, and sends the token', async () => {
    const { sent, call } = serviceOf(json({ review: { id: 'a' } }), json({ reviews: [] }));
    const api = new ReviewClient(`${base}/`, { token: 'rva_1', fetch: call });
    await api.get('/review/{review_id}', { path: { review_id: 'a/b' } });
    await api.get('/review', { query: { language: 'en', limit: undefined } });
    expect(sent.map(({ url }) => url)).toEqual([
      `${base}/review/a%2Fb`,
      `${base}/review?language=en`,
    ]);
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer rva_1');
  });

  test.each([
    [404, 'not_found', NotFound],
    [410, 'gone', Gone],
    [412, 'precondition_failed', PreconditionFailed],
    [401, 'invalid_token', AccessEnded],
    [403, 'limit_exceeded', LimitExceeded],
    [403, 'access_denied', ApiError],
    [503, 'service_unavailable', ApiError],
  ])('that is refused with %s %s throws its error', async (status, error, type) => {
    const { call } = serviceOf(refused(status, error, { 'x-amzn-requestid': 'r1' }));
    const failure = new ReviewClient(base, { fetch: call }).get('/review/languages');
    const thrown = await failure.catch((each: unknown) => each);
    expect(thrown).toBeInstanceOf(type);
    const description = `It is ${error}`;
    expect(thrown).toMatchObject({ status, code: error, message: description, requestId: 'r1' });
  });

  test('throws the status of an answer that is not JSON', async () => {
    const { call } = serviceOf(new Response('<html>', { status: 502 }));
    const failure = new ReviewClient(base, { fetch: call }).get('/review/languages');
    await expect(failure).rejects.toMatchObject({ status: 502, code: 'unknown' });
  });
});

describe('a base URL', () => {
  const words = /^\S* is not the base URL of a service: it ends with \/ws\/1, as in https:/;

  test.each([
    'https://api.example',
    'https://api.example/ws',
    'https://api.example/ws/1/review',
    'https://api.example/ws/1?a=1',
    'https://api.example/ws/1#a',
    'https://ann:secret@api.example/ws/1',
    'file:///ws/1',
    'api.example/ws/1',
    '/ws/1',
    '',
  ])('%j is refused at once', (text) => {
    expect(() => new ReviewClient(text)).toThrow(TypeError);
    expect(() => new ReviewClient(text)).toThrow(words);
  });

  test.each([
    ['https://api.example/ws/1/', base],
    ['HTTPS://API.example:443/ws/1', base],
    ['http://localhost:3000/ws/1', 'http://localhost:3000/ws/1'],
    ['https://api.example/all reviews/ws/1//', 'https://api.example/all%20reviews/ws/1'],
  ])('%s is accepted', async (text, expected) => {
    const { sent, call } = serviceOf(json({}));
    const api = new ReviewClient(text, { fetch: call });
    expect(api.base).toBe(expected);
    await api.get('/review/languages');
    expect(sent[0]?.url).toBe(`${expected}/review/languages`);
  });
});

/** Ids that would lead elsewhere, with the path that is asked for, if any. */
const oddIds: [unknown, string | undefined][] = [
  ['../user/me/applications', '..%2Fuser%2Fme%2Fapplications'],
  ['a/vote', 'a%2Fvote'],
  ['a?limit=1', 'a%3Flimit%3D1'],
  ['a#b', 'a%23b'],
  ['a\\b', 'a%5Cb'],
  ['%2e%2e', '%252e%252e'],
  ['ä', '%C3%A4'],
  ['..', undefined],
  ['.', undefined],
  ['', undefined],
  [undefined, undefined],
  [null, undefined],
];

describe.each([
  ['get', (api: ReviewClient, id: string) => getReview(api, id)],
  ['read', (api: ReviewClient, id: string) => api.read(id)],
  ['update', (api: ReviewClient, id: string) => api.update(id, { rating: 1 })],
])('%s of a review', (_, ask) => {
  test.each(oddIds)('with the id %j asks for that review or nothing', async (id, path) => {
    const { sent, call } = serviceOf(json({}));
    const api = new ReviewClient(base, { token: 'rva_1', fetch: call });
    if (path) {
      await ask(api, id as string);
      expect(sent.map(({ url }) => url)).toEqual([`${base}/review/${path}`]);
      return;
    }
    await expect(ask(api, id as string)).rejects.toThrow(TypeError);
    await expect(ask(api, id as string)).rejects.toThrow(
      /^There is no path |^\/review\/\{review_id\} needs a value for review_id, in “path”$/,
    );
    expect(sent).toEqual([]);
  });
});

function getReview(api: ReviewClient, review_id: string) {
  return api.get('/review/{review_id}', { path: { review_id } });
}

test.each(['/review/../user/me', '/review/./a', '/review?limit=1', '/review#a', '/..', 'x'])(
  'a path that is none, %s, is not asked for',
  async (path) => {
    const { sent, call } = serviceOf();
    const api = new ReviewClient(base, { token: 'rva_1', fetch: call });
    await expect(api.get(path as '/review')).rejects.toThrow(/^There is no path /);
    expect(sent).toEqual([]);
  },
);

test('a path without its parameter is not asked for', async () => {
  const { sent, call } = serviceOf();
  const api = new ReviewClient(base, { token: 'rva_1', fetch: call });
  const path = '/review/{review_id}/revisions/{rev}' as const;
  await expect(api.get(path, {} as never)).rejects.toThrow(`${path} needs a value for review_id`);
  const half = { path: { review_id: 'a' } } as never;
  await expect(api.get(path, half)).rejects.toThrow(`${path} needs a value for rev, in “path”`);
  expect(sent).toEqual([]);
});

/** A redirect as Node.js gives it, and as browsers do. */
const redirects: [string, () => Response][] = [
  ...[301, 302, 303, 307, 308].map((status): [string, () => Response] => [
    `${status}`,
    () => new Response(null, { status, headers: { location: 'https://evil.example/ws/1' } }),
  ]),
  ['of a browser', opaque],
];

/** A redirect that a browser does not follow (opaque-redirect of the Fetch standard). */
function opaque(): Response {
  const response = Response.error();
  Object.defineProperty(response, 'type', { value: 'opaqueredirect' });
  return response;
}

describe.each(redirects)('a redirect, %s,', (_, answer) => {
  test.each([
    ['a request with a token', (api: ReviewClient) => api.get('/user/me')],
    ['a draft', (api: ReviewClient) => api.publish({ ...review, is_draft: true })],
    ['an update', (api: ReviewClient) => api.update('a', { text: 'secret' })],
  ])('of %s is not followed', async (__, ask) => {
    const { sent, call } = serviceOf(answer());
    const failure = await ask(new ReviewClient(base, { token: 'rva_1', fetch: call })).catch(
      (each: unknown) => each,
    );
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({ code: 'redirect' });
    expect(sent.map(({ redirect }) => redirect)).toEqual(['manual']);
  });
});

describe('a repetition', () => {
  test('waits for as long as Retry-After asks for', async () => {
    const busy = refused(429, 'too_many_requests', { 'retry-after': '7' });
    const { call } = serviceOf(busy, json({ languages: ['en'] }));
    const work = waited(new ReviewClient(base, { fetch: call }).get('/review/languages'));
    const { value, wait } = await work;
    expect(value).toEqual({ languages: ['en'] });
    expect(wait).toBeGreaterThanOrEqual(7_000);
    expect(wait).toBeLessThan(8_000);
  });

  test.each([
    ['a refusal that no repetition can change', refused(503, 'service_unavailable'), 503],
    ['an hour to wait', refused(429, 'too_many_requests', { 'retry-after': '3600' }), 429],
  ])('does not follow %s', async (_, answer, status) => {
    const { sent, call } = serviceOf(answer);
    const failure = new ReviewClient(base, { fetch: call }).get('/review/languages');
    await expect(failure).rejects.toHaveStatus(status);
    expect(sent).toHaveLength(1);
  });

  test('ends after five attempts', async () => {
    const { sent, call } = serviceOf(lost, lost, lost, lost, lost, lost);
    const work = waited(new ReviewClient(base, { fetch: call }).get('/review/languages'));
    await expect(work).rejects.toBe(lost);
    expect(sent).toHaveLength(5);
  });

  test('of a publication has one key, whatever was lost', async () => {
    const { sent, call } = serviceOf(lost, lost, json({ id: 'a' }, 200, { etag: '"1"' }));
    const { value } = await waited(new ReviewClient(base, { fetch: call }).publish(review));
    expect(value).toEqual({ id: 'a', etag: '"1"' });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^"[\da-f-]{36}"$/);
    const bodies = await Promise.all(sent.map((each) => each.text()));
    expect(bodies).toEqual(Array(3).fill(JSON.stringify(review)));
  });

  test.each([
    ['/review/{review_id}/report', { reason: 'spam' }],
    ['/entity', { entity_type: 'film', name: 'Metropolis' }],
  ] as const)('of a POST to %s has one key', async (path, body) => {
    const { sent, call } = serviceOf(lost, json({ id: 'a' }));
    const api = new ReviewClient(base, { fetch: call });
    await waited(api.post(path as '/entity', { path: { review_id: 'a' }, body } as never));
    const [first, second] = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect(first).toMatch(/^"[\da-f-]{36}"$/);
    expect(second).toBe(first);
  });

  test('of a deletion whose answer was lost is a success', async () => {
    const { call } = serviceOf(lost, refused(404, 'not_found'));
    const api = new ReviewClient(base, { fetch: call });
    await waited(api.delete('/review/{review_id}', { path: { review_id: 'a' } }));
    const missing = serviceOf(refused(404, 'not_found'));
    const other = new ReviewClient(base, { fetch: missing.call });
    const failure = other.delete('/review/{review_id}', { path: { review_id: 'a' } });
    await expect(failure).rejects.toBeInstanceOf(NotFound);
  });

  test('of an update with a condition would fail by itself, so there is none', async () => {
    const { sent, call } = serviceOf(lost);
    const update = new ReviewClient(base, { fetch: call }).update('a', {}, { ifMatch: '"1"' });
    await expect(update).rejects.toBe(lost);
    expect(sent[0]?.headers.get('if-match')).toBe('"1"');
    const free = serviceOf(lost, json({}, 200, { etag: '"2"' }));
    const { value } = await waited(new ReviewClient(base, { fetch: free.call }).update('a', {}));
    expect(value).toEqual({ etag: '"2"' });
  });
});

describe('a list', () => {
  test('follows the links to its end', async () => {
    const link = { link: '<?language=en&cursor=2>; rel="next"' };
    const { sent, call } = serviceOf(
      json({ count: 3, reviews: [{ id: 'a' }, { id: 'b' }] }, 200, link),
      json({ count: 3, reviews: [{ id: 'c' }] }),
    );
    const list = new ReviewClient(base, { fetch: call }).list('/review', {
      query: { language: 'en' },
    });
    const ids = await Array.fromAsync(list, ({ id }) => id);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(sent[1]?.url).toBe(`${base}/review?language=en&cursor=2`);
  });

  test.each([
    ['https://evil.example/ws/1/review?cursor=2'],
    ['//evil.example/ws/1/review?cursor=2'],
    ['http://api.example/ws/1/review?cursor=2'],
    ['https://api.example:444/ws/1/review?cursor=2'],
    ['https://api.example@evil.example/ws/1/review'],
    ['/other/ws/1/review'],
    ['../../../oauth/authorize'],
    // The same page again, without end.
    [''],
    ['?'],
  ])('does not go on at %j', async (next) => {
    const { sent, call } = serviceOf(
      json({ reviews: [{ id: 'a' }] }, 200, { link: `<${next}>; rel="next"` }),
      json({ reviews: [{ id: 'b' }] }, 200, { link: `<${next}>; rel="next"` }),
    );
    const list = new ReviewClient(base, { token: 'rva_1', fetch: call }).list('/review');
    const ids: string[] = [];
    const all = (async () => {
      for await (const { id } of list) ids.push(id);
    })();
    await expect(all).rejects.toThrow(InvalidAnswer);
    expect(sent.every(({ url }) => url.startsWith(`${base}/`))).toBe(true);
    expect(ids[0]).toBe('a');
    expect(ids.length).toBeLessThan(3);
  });

  test('ends when its reader does', async () => {
    const link = { link: '<?cursor=2>; rel="next"' };
    const { sent, call } = serviceOf(json({ users: [{ id: 'a' }, { id: 'b' }] }, 200, link));
    for await (const { id } of new ReviewClient(base, { fetch: call }).list('/user')) {
      if (id === 'a') break;
    }
    expect(sent).toHaveLength(1);
  });
});

describe('an expired access token', () => {
  const expired = () => refused(401, 'invalid_token');
  const next = { access_token: 'rva_2', refresh_token: 'rvr_2', token_type: 'Bearer' };
  const grantOf = (keep: (tokens: object) => unknown) => ({
    access_token: 'rva_1',
    refresh_token: 'rvr_1',
    client_id: 'c',
    client_secret: 's',
    redirect_uri: 'https://app.example/callback',
    keep,
  });

  /** Answers by the token of the request, as the service does. */
  function tokenService(refresh: () => Scripted) {
    const answer = (request: Request) => {
      if (request.url.endsWith('/oauth/token')) return refresh();
      const token = request.headers.get('authorization');
      return token === 'Bearer rva_2' ? json({ user: { id: 'ann' } }) : expired();
    };
    return serviceOf(...Array(30).fill(answer));
  }

  test('is refreshed once, however many requests find it expired', async () => {
    const kept: object[] = [];
    const { sent, call } = tokenService(() => json(next));
    const api = new ReviewClient(base, { fetch: call, grant: grantOf((each) => kept.push(each)) });
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.get('/user/me')));
    expect(answers).toEqual(Array(8).fill({ user: { id: 'ann' } }));
    const refreshes = sent.filter(({ url }) => url.endsWith('/oauth/token'));
    expect(refreshes).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(await refreshes[0]?.text()))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'rvr_1',
      client_id: 'c',
      client_secret: 's',
      redirect_uri: 'https://app.example/callback',
    });
    expect(kept).toEqual([next]);
  });

  test('is not refreshed again for a request that learns of it later', async () => {
    const { sent, call } = tokenService(() => json(next));
    const slow: typeof fetch = async (...args) => {
      const answer = await call(...args);
      const isLate = new Request(...args).url.endsWith('/applications') && answer.status === 401;
      if (isLate) await new Promise((resolve) => setTimeout(resolve, 5_000));
      return answer;
    };
    const api = new ReviewClient(base, { fetch: slow, grant: grantOf(() => {}) });
    await waited(Promise.all([api.get('/user/me'), api.get('/user/me/applications')]));
    expect(sent.filter(({ url }) => url.endsWith('/oauth/token'))).toHaveLength(1);
  });

  test('is not used before its successor is stored', async () => {
    const order: string[] = [];
    const { call } = tokenService(() => json(next));
    const grant = grantOf(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      order.push('stored');
    });
    const api = new ReviewClient(base, { fetch: call, grant });
    await waited(api.get('/user/me').then(() => order.push('used')));
    expect(order).toEqual(['stored', 'used']);
  });

  test('asks for the same pair again if the answer was lost', async () => {
    const answers = [lost, json(next)];
    const { sent, call } = tokenService(() => answers.shift() ?? expired());
    const api = new ReviewClient(base, { fetch: call, grant: grantOf(() => {}) });
    await waited(api.get('/user/me'));
    const refreshes = sent.filter(({ url }) => url.endsWith('/oauth/token'));
    const bodies = await Promise.all(refreshes.map((each) => each.text()));
    expect(bodies).toHaveLength(2);
    expect(bodies[0]).toBe(bodies[1]);
  });

  test.each([
    ['{}', json({})],
    ['null', new Response('null')],
    ['a text', json('rva_2' as never)],
    ['HTML', new Response('<html>')],
    ['nothing', new Response()],
    ['half a pair', json({ access_token: 'rva_2' })],
    ['the other half', json({ refresh_token: 'rvr_2' })],
    ['tokens of another type', json({ access_token: 2, refresh_token: {} })],
    ['empty tokens', json({ access_token: '', refresh_token: '' })],
  ])('keeps its grant when the refresh is answered with %s', async (_, nonsense) => {
    const kept: object[] = [];
    const answers = [nonsense, json(next)];
    const { sent, call } = tokenService(() => answers.shift() ?? new Error('too many'));
    const api = new ReviewClient(base, { fetch: call, grant: grantOf((each) => kept.push(each)) });
    await expect(api.get('/user/me')).rejects.toThrow(InvalidAnswer);
    expect(kept).toEqual([]);
    await api.get('/user/me');
    expect(kept).toEqual([next]);
    const bodies = await Promise.all(
      sent.filter(({ url }) => url.endsWith('/oauth/token')).map((each) => each.text()),
    );
    const tokens = bodies.map((body) => new URLSearchParams(body).get('refresh_token'));
    expect(tokens).toEqual(['rvr_1', 'rvr_1']);
  });

  test('takes nothing but the tokens from the answer', async () => {
    const more = { client_id: 'evil', redirect_uri: 'https://evil.example/', keep: null };
    const { sent, call } = tokenService(() => json({ ...next, access_token: 'rva_3', ...more }));
    const api = new ReviewClient(base, { fetch: call, grant: grantOf(() => {}) });
    await expect(api.get('/user/me')).rejects.toThrow(AccessEnded);
    await expect(api.get('/user/me')).rejects.toThrow(AccessEnded);
    const [, again] = sent.filter(({ url }) => url.endsWith('/oauth/token'));
    const body = Object.fromEntries(new URLSearchParams(await again?.text()));
    expect(body).toMatchObject({ client_id: 'c', redirect_uri: 'https://app.example/callback' });
  });

  test('is not refreshed again if its successor could not be kept at once', async () => {
    const kept: object[] = [];
    let isFull = true;
    const { sent, call } = tokenService(() => json(next));
    const grant = grantOf((each) => {
      if (isFull) throw new Error('The disk is full');
      kept.push(each);
    });
    const api = new ReviewClient(base, { fetch: call, grant });
    await expect(api.get('/user/me')).rejects.toThrow('The disk is full');
    isFull = false;
    expect(await api.get('/user/me')).toEqual({ user: { id: 'ann' } });
    expect(kept).toEqual([next]);
    expect(sent.filter(({ url }) => url.endsWith('/oauth/token'))).toHaveLength(1);
  });

  test('is not refreshed at the target of a redirect', async () => {
    const location = 'https://evil.example/ws/1/oauth/token';
    const { sent, call } = tokenService(
      () => new Response(null, { status: 307, headers: { location } }),
    );
    const kept: object[] = [];
    const api = new ReviewClient(base, { fetch: call, grant: grantOf((each) => kept.push(each)) });
    await expect(api.get('/user/me')).rejects.toMatchObject({ code: 'redirect', status: 307 });
    expect(kept).toEqual([]);
    expect(sent.map(({ url }) => url)).toEqual([`${base}/user/me`, `${base}/oauth/token`]);
    expect(sent.map(({ redirect }) => redirect)).toEqual(['manual', 'manual']);
  });

  test('of a revoked grant throws AccessEnded', async () => {
    const { call } = tokenService(() =>
      json({ error: 'invalid_grant', error_description: 'It was revoked' }, 400),
    );
    const api = new ReviewClient(base, { fetch: call, grant: grantOf(() => {}) });
    const failure = await api.get('/user/me').catch((each: unknown) => each);
    expect(failure).toBeInstanceOf(AccessEnded);
    expect(failure).toMatchObject({ code: 'invalid_grant', message: 'It was revoked' });
  });
});

describe('a mirror', () => {
  const record = (id: string) => ({ kind: 'review', id, user_id: 'u', revisions: [] });
  const change = (id: string, version: number, type = 'review') => ({
    id,
    version,
    subject: { type, id },
    review: type === 'review' ? record(id) : null,
    entity: type === 'review' ? null : { type, id, name: 'Blue', url: 'https://a.example/' },
  });
  const page = (next: string, has_more: boolean, ...changes: object[]) =>
    json({ changes, users: [], next, has_more });
  const begun = { next: 'c1', reviews: {}, versions: {}, users: {}, things: {} };

  test('ends with an error if the cursor does not move on', async () => {
    const { sent, call } = serviceOf(
      page('c2', true, change('a', 1)),
      page('c2', true, change('a', 1)),
    );
    const mirror = new Mirror(new ReviewClient(base, { fetch: call }), begun);
    await expect(mirror.update()).rejects.toThrow(InvalidAnswer);
    expect(sent).toHaveLength(2);
    expect(mirror.state).toMatchObject({ next: 'c2', reviews: { a: record('a') } });
  });

  test('is up to date where the cursor stays and there is no more', async () => {
    const { call } = serviceOf(page('c1', false));
    await new Mirror(new ReviewClient(base, { fetch: call }), begun).update();
  });

  test.each(['__proto__', 'constructor', 'toString'])('holds the id %s', async (id) => {
    const users = [{ id, display_name: 'Ann', karma: 0 }];
    const { call } = serviceOf(
      json({
        changes: [change(id, 2), change(id, 3, id)],
        users,
        next: 'c2',
        has_more: false,
      }),
      page('c3', false, { ...change(id, 1), review: null }),
    );
    const api = new ReviewClient(base, { fetch: call });
    const mirror = new Mirror(api, begun);
    await mirror.update();
    // As a program stores it, and goes on with it.
    const saved = JSON.parse(JSON.stringify(mirror.state));
    const next = new Mirror(api, saved);
    await next.update();
    for (const { state } of [mirror, next]) {
      expect(Object.entries(state.reviews)).toEqual([[id, record(id)]]);
      expect(Object.entries(state.versions)).toEqual([[id, 2]]);
      expect(Object.entries(state.users)).toEqual([[id, users[0]]]);
      expect(Object.keys(state.things)).toEqual([`${id}/${id}`]);
    }
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });
});
