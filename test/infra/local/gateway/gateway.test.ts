import { gzipSync } from 'node:zlib';
import {
  allow,
  authorizerEvents,
  events,
  gateway,
  handlers,
  origin,
  policy,
  post,
  review,
  token,
  vote,
} from '../../../helpers/gateway.ts';

describe('the event', () => {
  test('matches a Lambda proxy integration', async () => {
    const values = { sort: ['published_on'], limit: ['5', '7'], q: ['a b é'], e: [''] };
    const query = 'sort=published_on&limit=5&limit=7&q=a+b%20%C3%A9&e';
    const headers = { 'X-Forwarded-Proto': 'https', 'User-Agent': 'test' };
    const response = await fetch(`${gateway.url}/review?${query}`, { headers });
    expect(response).toHaveStatus(200);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      resource: '/1/review',
      path: '/1/review',
      httpMethod: 'GET',
      pathParameters: null,
      queryStringParameters: { sort: 'published_on', limit: '7', q: 'a b é', e: '' },
      multiValueQueryStringParameters: values,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      headers: { 'X-Forwarded-Proto': 'http' },
      multiValueHeaders: { 'X-Forwarded-Proto': ['http'] },
      requestContext: {
        authorizer: null,
        domainName: 'localhost',
        httpMethod: 'GET',
        identity: { sourceIp: '127.0.0.1', userAgent: 'test' },
        path: '/ws/1/review',
        protocol: 'HTTP/1.1',
        requestId: response.headers.get('x-amzn-requestid'),
        requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        requestTimeEpoch: expect.any(Number),
        resourcePath: '/1/review',
        stage: 'ws',
      },
    });
  });

  test('has null for missing parameters, and decoded path parameters', async () => {
    await fetch(`${gateway.url}/review/a%20%C3%A9%2Fb`);
    expect(events[0]).toMatchObject({
      resource: '/1/review/{review_id}',
      path: '/1/review/a%20%C3%A9%2Fb',
      pathParameters: { review_id: 'a é/b' },
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
    });
  });

  test('keeps names that have a meaning in JavaScript', async () => {
    await fetch(`${gateway.url}/review?__proto__=1&constructor=2&__proto__=3`);
    expect(JSON.parse(JSON.stringify(events[0]?.multiValueQueryStringParameters))).toEqual(
      JSON.parse('{"__proto__":["1","3"],"constructor":["2"]}'),
    );
  });

  test.each([
    ['/review/', '/1/review'],
    ['//review', '/1/review'],
    [`/review//${review}//`, '/1/review/{review_id}'],
    ['/review/languages/', '/1/review/languages'],
  ])('accepts %s, and keeps the path as sent', async (path, resource) => {
    expect(await fetch(gateway.url + path)).toHaveStatus(200);
    expect(events[0]).toMatchObject({
      resource,
      path: `/1${path}`,
      requestContext: { path: `/ws/1${path}` },
    });
  });

  test('carries the body as text', async () => {
    handlers.authorizer = allow;
    await vote('Bearer t');
    expect(events[0]?.body).toBe('{"vote":true}');
  });
});

describe('a body that is not UTF-8', () => {
  const latin1 = Buffer.from('{"text":"caf\xe9"}', 'latin1');

  test.each([
    ['/review', latin1],
    ['/oauth/token', Buffer.from('a=caf\xe9', 'latin1')],
    ['/nothing', Buffer.from([0xed, 0xa0, 0x80])],
    ['/review', Buffer.from('\ufeff{}', 'utf16le')],
  ])('is refused at %s: 400', async (path, body) => {
    handlers.authorizer = allow;
    const response = await post(path, body, token);
    expect(response).toHaveStatus(400);
    expect(await response.json()).toEqual({
      error: 'invalid_request',
      description: 'The body must be text in UTF-8',
    });
    expect(events).toHaveLength(0);
  });

  test('is not read if a token is missing: 401', async () => {
    expect(await post('/review', latin1)).toHaveStatus(401);
  });

  test('is left to the function if another charset is named', async () => {
    handlers.authorizer = allow;
    const headers = { ...token, 'Content-Type': 'application/json; charset=iso-8859-1' };
    expect(await post('/review', latin1, headers)).toHaveStatus(200);
    expect(events[0]?.body).toBe('{"text":"caf\ufffd"}');
  });

  test('is left to the function if it is compressed, which says so', async () => {
    handlers.authorizer = allow;
    const headers = { ...token, 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    expect(await post('/review', gzipSync('{}'), headers)).toHaveStatus(200);
    expect(events[0]?.headers).toMatchObject({ 'Content-Encoding': 'gzip' });
  });

  test('excludes valid UTF-8 with a byte order mark or U+FFFD', async () => {
    handlers.authorizer = allow;
    const text = '\ufeff{"text":"\ufffd é 🎷 \u0000"}';
    expect(await post('/review', text, token)).toHaveStatus(200);
    expect(events[0]?.body).toBe(text);
  });
});

describe('the authorizer', () => {
  test('receives the method ARN as sent, and returns its context as strings', async () => {
    handlers.authorizer = (event) => {
      const { methodArn } = event as { methodArn: string };
      return policy('Allow', methodArn, { user_id: 'user-1', number: 5, flag: true });
    };
    const response = await vote('bearer rva_x-_.~+/==', `/review/${review}/vote/`);
    expect(response).toHaveStatus(200);
    expect(authorizerEvents).toEqual([
      {
        type: 'TOKEN',
        authorizationToken: 'bearer rva_x-_.~+/==',
        methodArn: `arn:aws:execute-api:local:000000000000:local/ws/PUT/1/review/${review}/vote/`,
      },
    ]);
    expect(events[0]?.requestContext.authorizer).toEqual({
      principalId: 'user-1',
      user_id: 'user-1',
      number: '5',
      flag: 'true',
    });
  });

  const malformed = [undefined, 'Basic abc', 'Bearer', 'Bearer a b', 'Bearer a"'];
  test.each(malformed)('is not called for %p: 401', async (token) => {
    const response = await vote(token);
    expect(response).toHaveStatus(401);
    expect(response.headers.get('www-authenticate')).toContain('invalid_token');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toMatchObject({ error: 'invalid_token' });
    expect(authorizerEvents).toHaveLength(0);
  });

  test('is not called for a public route', async () => {
    await fetch(`${gateway.url}/review`, { headers: token });
    expect(authorizerEvents).toHaveLength(0);
    expect(events[0]?.requestContext.authorizer).toBeNull();
  });

  test.each([
    ['throws Unauthorized', 401, () => Promise.reject(new Error('Unauthorized'))],
    ['throws something else', 503, () => Promise.reject(new Error('broken'))],
    ['takes too long', 503, () => new Promise(() => {})],
    ['allows another route', 403, () => policy('Allow', 'arn:aws:execute-api:local:*/GET')],
    ['allows the prefix of the route', 200, () => policy('Allow', 'arn:aws:execute-api:local:*')],
    ['denies', 403, () => policy('Deny', '*')],
  ])('%s: %i', async (_, status, handler) => {
    handlers.authorizer = handler;
    const response = await vote('Bearer t');
    expect(response).toHaveStatus(status);
    expect(events).toHaveLength(status === 200 ? 1 : 0);
    expect(response.headers.get('access-control-allow-origin')).toBe(status === 200 ? null : '*');
    expect(response.headers.get('retry-after')).toBe(status === 503 ? '1' : null);
    if (status < 500) return;
    const request_id = response.headers.get('x-amzn-requestid');
    expect(await response.json()).toMatchObject({ error: 'service_unavailable', request_id });
  });

  test('gives the reason for a refusal in its context', async () => {
    const description = 'The scope vote is missing';
    const challenge = 'Bearer scope="vote"';
    handlers.authorizer = () => policy('Deny', '*', { description, challenge });
    const response = await vote('Bearer t');
    expect(response).toHaveStatus(403);
    expect(response.headers.get('www-authenticate')).toBe('Bearer scope="vote"');
    expect(await response.json()).toEqual({ error: 'insufficient_scope', description });
  });
});

describe('paths without a route', () => {
  test.each([
    ['GET', '/nothing/here/'],
    ['DELETE', '/review'],
    ['HEAD', '/user/me'],
    ['HEAD', '/nothing'],
    ['PATCH', `/review/${review}`],
  ])('%s %s goes to no-route', async (method, path) => {
    handlers['no-route'] = () => ({ statusCode: 404, body: '{"error":"not_found"}' });
    const response = await fetch(gateway.url + path, { method });
    expect(response).toHaveStatus(404);
    const pathParameters = { proxy: `1${path}` };
    expect(events[0]).toMatchObject({ resource: '/{proxy+}', pathParameters, httpMethod: method });
    expect(await response.text()).toBe(method === 'HEAD' ? '' : '{"error":"not_found"}');
  });

  test.each(['/ws', '/ws/'])('%s is the root resource', async (path) => {
    await fetch(origin + path);
    expect(events[0]).toMatchObject({ resource: '/', path: '/', pathParameters: null });
  });

  const outside = ['/review', '/wsx/1/review', '/w%73/1/review'];
  test.each(outside)('%s is outside the stage: 404', async (path) => {
    const response = await fetch(origin + path);
    expect(response).toHaveStatus(404);
    expect(await response.json()).toMatchObject({ error: 'not_found' });
    expect(events).toHaveLength(0);
  });
});

describe('CORS', () => {
  const paths = ['/ws/1/review', '/ws/1/nothing', '/elsewhere'];
  test.each(paths)('answers the preflight of %s', async (path) => {
    const response = await fetch(origin + path, { method: 'OPTIONS' });
    expect(response).toHaveStatus(204);
    expect(response.headers.get('access-control-allow-methods')).toContain('PUT');
    expect(await response.text()).toBe('');
    expect(events).toHaveLength(0);
  });
});
