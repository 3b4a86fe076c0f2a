import type { APIGatewayProxyEvent } from 'aws-lambda';
import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import type { Reply } from '../../../../infra/local/gateway/gateway-response.ts';
import { keepAnswers } from '../../../../infra/local/gateway/kept-answers.ts';
import { uncheckedFetch } from '../../../helpers/contract.ts';

const headers = { 'Cache-Control': 'public, no-cache', Vary: 'Accept-Encoding', ETag: '"1"' };
const replyOf = (body: string, but: Partial<Reply> = {}) => {
  return { statusCode: 200, headers, body: Buffer.from(body), ...but };
};

/** The version of the table. */
let version = 0;
function change() {
  version++;
}
const keep = (mostBytes?: number) => keepAnswers(() => version, mostBytes);

/** A function that answers with the number of its runs. */
function counter(but: Partial<Reply> = {}) {
  let runs = 0;
  return async () => replyOf(`${++runs}`, but);
}

const bodyOf = async (reply: Promise<Reply>) => `${(await reply).body}`;

describe('an answer', () => {
  test('is kept until something changes', async () => {
    const { find } = keep();
    const run = counter();
    const bodies = [await bodyOf(find('a', run)), await bodyOf(find('a', run))];
    change();
    bodies.push(await bodyOf(find('a', run)), await bodyOf(find('b', run)));
    expect(bodies).toEqual(['1', '1', '2', '3']);
  });

  test('is not kept if something changed during its run', async () => {
    const { find } = keep();
    const first = find('a', async () => {
      change();
      return replyOf('before or after');
    });
    expect(await bodyOf(first)).toBe('before or after');
    expect(await bodyOf(find('a', async () => replyOf('after')))).toBe('after');
  });

  test('takes no memory once it is found to be old', async () => {
    const { find } = keep();
    const slow = Promise.withResolvers<Reply>();
    const first = find('a', () => slow.promise);
    change();
    slow.resolve(replyOf('before or after'));
    await first;
    await find('a', counter({ statusCode: 404 }));
  });

  test('is kept for at most ten seconds', async () => {
    jest.useFakeTimers();
    const { find } = keep();
    const run = counter();
    await find('a', run);
    jest.advanceTimersByTime(10_000);
    expect(await bodyOf(find('a', run))).toBe('1');
    jest.advanceTimersByTime(1);
    expect(await bodyOf(find('a', run))).toBe('2');
    jest.advanceTimersByTime(10_000);
    expect(await bodyOf(find('a', run))).toBe('2');
  });

  test.each([
    ['no cache may store', { headers: { ...headers, 'Cache-Control': 'no-store' } }],
    ['is private', { headers: { ...headers, 'Cache-Control': 'private, no-store' } }],
    ['sets a cookie', { headers: { ...headers, 'Set-Cookie': ['a=b'] } }],
    ['varies by more', { headers: { ...headers, Vary: 'Accept-Encoding, Accept' } }],
    ['is an error', { statusCode: 404 }],
    ['is a redirect', { statusCode: 303 }],
  ])('that %s is not kept, nor given to others who wait', async (_, but) => {
    const { find } = keep();
    const run = counter(but);
    const bodies = await Promise.all([1, 2, 3].map(() => bodyOf(find('a', run))));
    expect(bodies).toEqual(['1', '2', '3']);
    expect(await bodyOf(find('a', run))).toBe('4');
  });
});

describe('equal requests that arrive together', () => {
  test('share one run, but not one that began before a change', async () => {
    const { find } = keep();
    const slow = Promise.withResolvers<Reply>();
    const before = [1, 2, 3].map(() => find('a', () => slow.promise));
    change();
    const after = [1, 2].map(() => find('a', async () => replyOf('after')));
    slow.resolve(replyOf('before'));
    expect(await Promise.all([...before, ...after].map(bodyOf))).toEqual([
      ...Array(3).fill('before'),
      ...Array(2).fill('after'),
    ]);
    expect(await bodyOf(find('a', counter()))).toBe('after');
  });

  test('share a failure, and the next runs again', async () => {
    const { find } = keep();
    const run = jest.fn<() => Promise<Reply>>().mockRejectedValueOnce(new Error('late'));
    const waiting = [find('a', run), find('a', run)];
    for (const each of waiting) await expect(each).rejects.toThrow('late');
    const failed = find('b', counter({ statusCode: 503 }));
    expect(await Promise.all([failed, find('b', counter())].map(bodyOf))).toEqual(['1', '1']);
    run.mockResolvedValue(replyOf('again'));
    expect(await bodyOf(find('a', run))).toBe('again');
    expect(await bodyOf(find('b', async () => replyOf('again')))).toBe('again');
  });
});

describe('memory', () => {
  test.each([
    ['an answer', counter()],
    ['an error', counter({ statusCode: 404 })],
    ['a failure', () => Promise.reject(new Error('late'))],
  ])('has the newer answer if an earlier run ends later with %s', async (_, run) => {
    const { find } = keep();
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = find('a', () => promise.then(run));
    change();
    await find('a', async () => replyOf('newer'));
    resolve();
    await late.catch(() => {});
    expect(await bodyOf(find('a', counter()))).toBe('newer');
  });

  test('is bounded, and the least recently used answers go first', async () => {
    const size = 40_000;
    const { find } = keep(10 * size);
    const runs: string[] = [];
    const ask = (key: string) =>
      find(key, async () => {
        runs.push(key);
        return replyOf('x'.repeat(size - 5_000));
      });
    for (let i = 0; i < 20; i++) {
      await ask('often');
      await ask(`once ${i}`);
    }
    expect(runs.filter((key) => key === 'often')).toHaveLength(1);
    runs.length = 0;
    for (let i = 19; i >= 0; i--) await ask(`once ${i}`);
    // Nine of the last are still there, beside the one that is asked for often.
    expect(runs).toEqual(Array.from({ length: 11 }, (_, i) => `once ${10 - i}`));
  });

  test('has no answer that is larger, and keeps the others', async () => {
    const { find } = keep(10_000);
    await find('small', async () => replyOf('small'));
    await find('large', async () => replyOf('x'.repeat(20_000)));
    expect(await bodyOf(find('large', async () => replyOf('again')))).toBe('again');
    expect(await bodyOf(find('small', counter()))).toBe('small');
  });

  test('counts long addresses too', async () => {
    const { find } = keep(150_000);
    const [one, other] = ['a', 'b'].map((letter) => letter.repeat(100_000)) as [string, string];
    await find(one, async () => replyOf('one'));
    await find(other, async () => replyOf('other'));
    expect(await bodyOf(find(one, async () => replyOf('again')))).toBe('again');
  });
});

const events: APIGatewayProxyEvent[] = [];
const gateway = await startGateway({
  port: 0,
  kept: keep(),
  load: async () => async (event) => {
    events.push(event as APIGatewayProxyEvent);
    const body = JSON.stringify({ run: events.length, text: 'x'.repeat(3_000) });
    return { statusCode: 200, headers, body };
  },
});
afterAll(() => gateway.stop());

describe('the gateway', () => {
  beforeEach(() => {
    events.length = 0;
    change();
  });

  async function ask(path: string, init: RequestInit = {}) {
    const headers = { 'Accept-Encoding': 'gzip', ...init.headers };
    const response = await uncheckedFetch(gateway.url + path, { ...init, headers });
    return { response, body: await response.text() };
  }

  test('runs the function once, also for a client that knows the answer', async () => {
    const first = await ask('/review/?limit=1');
    const again = await ask('/review/?limit=1');
    expect(again.body).toBe(first.body);
    const ids = [first, again].map(({ response }) => response.headers.get('x-amzn-requestid'));
    expect(ids[0]).not.toBe(ids[1]);
    const known = await ask('/review/?limit=1', { headers: { 'If-None-Match': 'W/"1", "2"' } });
    expect([known.response.status, known.body]).toEqual([304, '']);
    for (const name of ['content-type', 'content-encoding', 'content-length']) {
      expect([name, known.response.headers.get(name)]).toEqual([name, null]);
    }
    expect(known.response.headers.get('etag')).toBe('"1"');
    expect(events).toHaveLength(1);
  });

  test('keeps the full answer where the first client knows it', async () => {
    const known = await ask('/review/', { headers: { 'If-None-Match': '*' } });
    const full = await ask('/review/');
    expect([known.response.status, full.response.status, events.length]).toEqual([304, 200, 1]);
  });

  test('keeps an answer for each path, query, method and coding', async () => {
    for (const _ of [1, 2]) {
      await ask('/review/');
      await ask('/review/?limit=1');
      await ask('/review/', { method: 'HEAD' });
      const plain = await ask('/review/', { headers: { 'Accept-Encoding': 'identity' } });
      expect(plain.response.headers.get('content-encoding')).toBeNull();
      const packed = await ask('/review/', { headers: { 'Accept-Encoding': 'br, gzip;q=0.5' } });
      expect(packed.response.headers.get('content-encoding')).toBe('gzip');
    }
    expect(events).toHaveLength(4);
  });

  test.each([
    ['with a token', '/review/', { headers: { Authorization: 'Bearer x' } }],
    ['with a cookie', '/review/', { headers: { Cookie: 'session=x' } }],
    ['by POST', '/oauth/token', { method: 'POST' }],
    ['outside the API', '/nothing', {}],
  ])('runs the function for each request %s', async (_, path, init) => {
    await ask(path, init);
    await ask(path, init);
    expect(events).toHaveLength(2);
  });

  test('passes no header of one client on to a function that answers many', async () => {
    const own = { 'X-Own': 'secret', Accept: 'text/html', 'Accept-Encoding': 'x-own, gzip;q=0.3' };
    await ask('/review/', { headers: own });
    const [{ headers = {} } = {}] = events;
    // The coding is part of the answer, and of its ETag.
    expect(headers?.['Accept-Encoding']).toBe('gzip');
    expect(Object.keys(headers ?? {}).sort()).toEqual([
      'Accept-Encoding',
      'X-Forwarded-For',
      'X-Forwarded-Port',
      'X-Forwarded-Proto',
    ]);
  });
});
