import {
  AccessEnded,
  ApiError,
  Gone,
  LimitExceeded,
  NotFound,
  PreconditionFailed,
  ReviewClient,
} from '../../../infra/client/client.ts';

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
};

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
