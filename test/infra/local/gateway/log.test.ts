import { readable, requestLine } from '../../../../infra/local/gateway/log.ts';
import { describeError } from '../../../../shared/base/describe-error.ts';

const served = {
  method: 'PUT',
  url: '/ws/1/review/x/vote?a=b',
  status: 200,
  milliseconds: 12.3,
  requestId: 'r-1',
};

test('a request is one line', () => {
  expect(requestLine(served, false)).toBe('PUT /ws/1/review/x/vote?a=b 200 13 ms');
  const client = { ...served, application: 'a-1' };
  expect(requestLine({ ...client, user: 'u-1' }, false)).toBe(
    'PUT /ws/1/review/x/vote?a=b 200 13 ms user u-1 application a-1',
  );
  expect(requestLine(client, true)).toBe(
    'PUT /ws/1/review/x/vote?a=b 200 13 ms application a-1 request r-1',
  );
  expect(requestLine({ ...served, status: undefined }, false)).toContain('vote?a=b gone 13 ms');
});

test.each([
  ['/ws/account/callback?code=secret&state=x', '/ws/account/callback'],
  ['/ws/oauth/authorize?client_id=x&state=secret', '/ws/oauth/authorize'],
  ['/identity-provider/auth?state=secret', '/identity-provider/auth'],
  ['/elsewhere?token=secret', '/elsewhere'],
  ['/ws/1/oauth/token?client_secret=secret', '/ws/1/oauth/token'],
  ['/ws/1/oauth/revoke/?token=secret', '/ws/1/oauth/revoke/'],
  ['/ws/1//oauth/token?code=secret', '/ws/1//oauth/token'],
])('omits what a client or browser sends in %s', (url, shown) => {
  expect(requestLine({ ...served, url }, true)).toContain(`PUT ${shown} 200`);
});

test.each([
  ['/ws/mails/eyJsecret', '/ws/mails/{token}'],
  ['/ws/account/address/eyJsecret?x=y', '/ws/account/address/{move}'],
  ['/identity-provider/sign-in/uid/secret', '/identity-provider'],
])('writes the route for the link %s, which has a token', (url, route) => {
  expect(requestLine({ ...served, url, route }, true)).toContain(`PUT ${route} 200`);
});

test.each([
  ['/ws/join/secret', '/ws/join/{invitation}'],
  ['/ws/mails/eyJsecret?x=y', '/ws/mails/{token}'],
])('writes it also for a method that %s does not take', (url, route) => {
  const line = requestLine({ ...served, method: 'DELETE', url }, true);
  expect(line).toContain(`DELETE ${route} 200`);
});

test('prints an object as text, with an error’s stack on lines of their own', () => {
  const expired = { message: 'Expired vote counters', deleted: 5 };
  expect(readable(expired)).toBe('Expired vote counters, deleted 5');
  const ended = { message: 'Not ended', error: 'TimeoutError' };
  expect(readable(ended)).toBe('Not ended\n  TimeoutError');
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  const error = new TypeError('no table', { cause });
  error.stack = 'TypeError: no table\n    at one (a.ts:1:2)\n    at two (b.ts:3:4)';
  const entry = { message: 'Request failed', requestId: 'r-1', error: describeError(error) };
  expect(readable(entry)).toBe(`Request failed, requestId r-1
  TypeError: no table
    at one (a.ts:1:2)
    at two (b.ts:3:4)
  caused by Error: ECONNREFUSED: refused`);
});

test('keeps all other values', () => {
  const error = new Error('x');
  for (const entry of ['text', 5, undefined, null, error, { a: 1 }]) {
    expect(readable(entry)).toBe(entry);
  }
});
