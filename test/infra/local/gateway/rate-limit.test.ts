import { networksOf } from '../../../../infra/local/gateway/client-networks.ts';
import { startGateway } from '../../../../infra/local/gateway/gateway.ts';
import { readPublicAddress } from '../../../../infra/local/gateway/public-address.ts';
import { limitClients } from '../../../../infra/local/gateway/rate-limit.ts';
import { routes } from '../../../../shared/base/routes.ts';
import { uncheckedFetch } from '../../../helpers/contract.ts';

// The API does not describe the responses of these functions.
globalThis.fetch = uncheckedFetch;

const asked = jest.fn();
const load = async (operation: string) => async () => {
  asked(operation);
  return { statusCode: 200, body: '{}' };
};
const address = readPublicAddress('https://example.org', '192.0.2.1');
const gateways = await Promise.all([
  startGateway({ port: 0, load, address, clientRateLimit: 2 }),
  startGateway({ port: 0, load, address, clientRateLimit: 0 }),
  startGateway({ port: 0, load, clientRateLimit: 2 }),
]);
const [limited = '', unlimited = '', bare = ''] = gateways.map(({ local }) => local);
afterAll(() => Promise.all(gateways.map(({ stop }) => stop())));

/** Sends requests one after the other through a proxy on this machine. Returns their statuses. */
async function send(times: number, forwardedFor: string, path = '/ws/1/review', origin = limited) {
  const statuses = [];
  for (let i = 0; i < times; i++) {
    const headers = { 'X-Forwarded-For': forwardedFor };
    statuses.push((await fetch(origin + path, { headers })).status);
  }
  return statuses;
}

/** A limit alone. Returns a function that asks it for a client, and throws if it refuses. */
function limit(perSecond: number) {
  const admit = limitClients(perSecond);
  return (client: string, route?: (typeof routes)[number]) =>
    admit({ client, isInside: false }, route);
}

const passed = (times: number) => Array(times).fill(200);

describe('a limit of 2 requests a second', () => {
  test('refuses the 21st within ten seconds: 429', async () => {
    expect(await send(20, '203.0.113.1')).toEqual(passed(20));
    asked.mockClear();
    const headers = { 'X-Forwarded-For': '203.0.113.1', Authorization: 'Bearer x' };
    const response = await fetch(`${limited}/ws/1/review`, { method: 'POST', headers, body: '{}' });
    expect(response).toHaveStatus(429);
    expect(asked).not.toHaveBeenCalled();
    expect(await response.json()).toEqual({
      error: 'too_many_requests',
      description: 'Too many requests: slow down, then try again',
    });
    const seconds = Number(response.headers.get('retry-after'));
    // API Gateway's own response always says 1.
    expect(seconds).toBeGreaterThan(1);
    expect(seconds).toBeLessThanOrEqual(10);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After');
  });

  test('counts each address by itself', async () => {
    expect(await send(21, '203.0.113.2')).toContain(429);
    expect(await send(1, '203.0.113.3')).toEqual([200]);
  });

  test('believes the proxy alone about an address', async () => {
    await send(20, '203.0.113.4');
    expect(await send(1, '127.0.0.1, 203.0.113.4')).toEqual([429]);
    expect(await send(1, '203.0.113.5, 203.0.113.4')).toEqual([429]);
    expect(await send(1, '203.0.113.4, 203.0.113.6')).toEqual([200]);
  });

  test('applies to every path', async () => {
    await send(20, '203.0.113.7', '/robots.txt');
    for (const path of ['/', '/ws/1/nothing', '/elsewhere', '/robots.txt']) {
      expect(await send(1, '203.0.113.7', path)).toEqual([429]);
    }
  });

  test('tells people in a browser how long to wait, by a page, and programs by JSON', async () => {
    await send(20, '203.0.113.21');
    const open = (path: string, method = 'GET') =>
      fetch(limited + path, {
        method,
        headers: { 'X-Forwarded-For': '203.0.113.21', Accept: 'text/html,*/*;q=0.8' },
      });
    for (const answer of [await open('/ws/reviews'), await open('/ws/review/new', 'POST')]) {
      expect(answer).toHaveStatus(429);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const seconds = answer.headers.get('retry-after');
      expect(await answer.text()).toContain(`<h1>Please wait ${seconds} seconds</h1>`);
    }
    const ofApi = await open('/ws/1/review');
    expect(ofApi.headers.get('content-type')).toBe('application/json');
  });

  test('lets a class of 30 people sign in behind one address, with 20 requests a second', async () => {
    const ask = limit(20);
    const steps = ['show-home', 'sign-in', 'finish-sign-in', 'show-account', 'update-account'];
    const path = [...steps, 'show-home'].map((step) => routes.find((r) => r.operation === step));
    for (let i = 0; i < 30; i++) {
      for (const route of path) await ask('203.0.113.22', route);
    }
  });

  test.each(['/ws/1/user/me/export', '/ws/account/data'])(
    'counts %s, a part of the own data, as twenty requests',
    async (path) => {
      const client = `198.51.100.2${path.length}`;
      const [first] = await send(1, client, path);
      expect(first).not.toBe(429);
      expect(await send(1, client)).toEqual([429]);
    },
  );

  const dear = ['/ws/oauth/authorize', '/ws/1/openapi.json'];
  test.each(dear)('counts %s as five requests', async (path) => {
    const client = `198.51.100.${dear.indexOf(path)}`;
    expect(await send(5, client, path)).toEqual([...passed(4), 429]);
  });

  test.each([
    ['POST', '/ws/1/user/me'],
    ['PUT', '/ws/1/review/4a9f1c0e-8a3e-4f0a-9a52-0c5e3a4c2b61/vote'],
    ['DELETE', '/ws/1/review/4a9f1c0e-8a3e-4f0a-9a52-0c5e3a4c2b61'],
    ['POST', '/ws/review/new'],
  ])('counts a write, %s %s, as three requests', async (method, path) => {
    const headers = { 'X-Forwarded-For': `198.51.100.6${path.length + method.length}` };
    for (let i = 0; i < 6; i++) {
      expect(await fetch(limited + path, { method, headers })).not.toHaveStatus(429);
    }
    expect(await fetch(limited + path, { method, headers })).toHaveStatus(429);
  });

  test('does not apply to this machine and to proxies, behind which may be several', async () => {
    expect(await send(30, '192.0.2.1')).toEqual(passed(30));
    for (const origin of [limited, bare]) {
      for (let i = 0; i < 30; i++) expect(await fetch(`${origin}/ws/1/review`)).toHaveStatus(200);
    }
  });

  test('is over after ten seconds', async () => {
    jest.useFakeTimers();
    const ask = limit(2);
    for (let i = 0; i < 20; i++) await ask('203.0.113.1');
    jest.advanceTimersByTime(3_500);
    await expect(ask('203.0.113.1')).rejects.toMatchObject({ message: 'THROTTLED', retryAfter: 7 });
    jest.advanceTimersByTime(6_500);
    await ask('203.0.113.1');
  });
});

test('0 is no limit', async () => {
  expect(await send(60, '203.0.113.8', '/ws/1/openapi.json', unlimited)).toEqual(passed(60));
});

test.each([
  ['64 bits', 20, (i: number) => `2001:db8:a:100::${i}`],
  ['56 bits', 40, (i: number) => `2001:db8:b:1${(i % 4) + 10}::1`],
  ['48 bits', 80, (i: number) => `2001:db8:c:${1000 + (i % 16) * 256}::1`],
])('networks of %s have a limit of their own', async (_, most, addressOf) => {
  const ask = limit(2);
  for (let i = 0; i < most; i++) await ask(addressOf(i));
  await expect(ask(addressOf(0))).rejects.toMatchObject({ message: 'THROTTLED' });
  await ask('2001:db8:d::1');
});

test('refused requests do not count for the neighbours', async () => {
  const ask = limit(2);
  for (let i = 0; i < 100; i++) await ask('2001:db8::1').catch(() => {});
  for (let i = 0; i < 20; i++) await ask('2001:db8:0:1::1');
});

test.each([
  ['203.0.113.9', ['203.0.113.9']],
  ['::ffff:203.0.113.9', ['203.0.113.9']],
  ['2001:db8:1:2:3:4:5:6', ['20010db800010002/64', '20010db8000100/56', '20010db80001/48']],
  ['2001:DB8:1:2::6', ['20010db800010002/64', '20010db8000100/56', '20010db80001/48']],
  ['2001:db8:a:1234::', ['20010db8000a1234/64', '20010db8000a12/56', '20010db8000a/48']],
  ['2001:db8::6', ['20010db800000000/64', '20010db8000000/56', '20010db80000/48']],
  ['2001:db8:1:2:3:4:5::', ['20010db800010002/64', '20010db8000100/56', '20010db80001/48']],
  ['::5:6:7:8', ['0000000000000000/64', '00000000000000/56', '000000000000/48']],
  ['fe80::1%eth0', ['fe80000000000000/64', 'fe800000000000/56', 'fe8000000000/48']],
  ['unknown', ['unknown']],
])('%s is of the networks %j', (client, networks) => {
  expect(networksOf(client).map(({ name }) => name)).toEqual(networks);
});
