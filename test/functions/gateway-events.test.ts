/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { handler as createReview } from '../../functions/api/create-review.ts';
import { handler as createToken } from '../../functions/api/create-token.ts';
import { handler as noRoute } from '../../functions/api/no-route.ts';
import { eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { loadFunction } from '../../infra/local/invoke.ts';
import { type Route, routes } from '../../shared/base/routes.ts';
import { invoke, lambdaContext } from '../helpers/invoke.ts';
import { makeScene, sampleOf } from '../helpers/samples.ts';
import { reviewBody } from '../helpers/world.ts';
import { makeWriting, requestOf, writes } from '../helpers/writes.ts';

// Events that API Gateway really sends, beside those of a client that asks it directly.

const { reader, scene } = await makeScene();

type Event = APIGatewayProxyEvent;
type Handler = (event: Event, context: object) => Promise<APIGatewayProxyResult>;

/** The headers that CloudFront adds to those of a browser. */
const cdnHeaders = {
  Host: 'abc123.execute-api.eu-west-1.amazonaws.com',
  Via: '2.0 08f323deadbeefa7af34d5feb414ce27.cloudfront.net (CloudFront)',
  'X-Amz-Cf-Id': 'cDehVQoZnx43VYQb9j2-nvCh-9z396Uhbp027Y2JvkCPNLmGJHqlaA==',
  'CloudFront-Forwarded-Proto': 'https',
  'CloudFront-Viewer-Country': 'US',
  'X-Forwarded-For': '192.0.2.7, 198.51.100.3, 203.0.113.9',
  'X-Forwarded-Port': '443',
  'X-Forwarded-Proto': 'https',
  'Accept-Encoding': 'gzip, deflate, br',
  'Upgrade-Insecure-Requests': '1',
};

const lists = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));

/** Events as each sender makes them. Types say that some of it cannot be. */
const senders: Record<string, (event: Event) => unknown> = {
  'the test of the console': (event) => ({
    ...event,
    headers: null,
    multiValueHeaders: null,
    requestContext: {
      ...event.requestContext,
      stage: 'test-invoke-stage',
      domainName: 'testPrefix.testDomainName',
      domainPrefix: 'testPrefix',
      identity: {
        ...event.requestContext.identity,
        sourceIp: 'test-invoke-source-ip',
        apiKey: 'test-invoke-api-key',
        userAgent: 'aws-internal/3',
      },
    },
  }),
  'a custom domain with a base path': (event) => ({
    ...event,
    path: `/reviews${event.path}`,
    requestContext: {
      ...event.requestContext,
      path: `/reviews${event.path}`,
      domainName: 'reviews.example.org',
      domainPrefix: 'reviews',
    },
  }),
  'a CDN': (event) => ({
    ...event,
    headers: { ...event.headers, ...cdnHeaders },
    multiValueHeaders: { ...event.multiValueHeaders, ...lists(cdnHeaders) },
  }),
  'an event with one value of each': (event) => ({
    ...event,
    multiValueHeaders: null,
    multiValueQueryStringParameters: null,
  }),
};

async function statusOf(handler: unknown, event: unknown): Promise<number> {
  const { statusCode } = await (handler as Handler)(event as Event, lambdaContext());
  return statusCode;
}

const named = (some: readonly Route[]) =>
  some.map((route) => [`${route.method} ${route.path}`, route] as const);
const reads = named(routes.filter(({ method }) => method === 'GET'));
const written = named(routes.filter(({ operation }) => operation in writes));
/** The sign-in, tokens, and forms of moderators. */
const others = named(
  routes.filter(({ method, operation }) => method !== 'GET' && !(operation in writes)),
);

describe.each(Object.entries(senders))('from %s', (sender, make) => {
  // It sends neither headers nor a caller: the authorizer is not asked in its tests.
  const isConsole = sender === 'the test of the console';

  test.each(reads)('%s is answered as from anybody', async (_, route) => {
    const handler = await loadFunction(route.operation);
    const caller = isConsole ? undefined : reader.caller;
    const event = eventOf({ ...sampleOf(route, scene), caller });
    expect(await statusOf(handler, make(event))).toBe(await statusOf(handler, event));
  });

  test.each(written)('%s does what it is asked', async (_, { operation }) => {
    const writing = await makeWriting();
    const request = await requestOf(operation, writing, (await writes[operation]?.(writing)) ?? {});
    const bare = { ...request, caller: undefined, headers: undefined };
    const event = make(eventOf(isConsole ? bare : request));
    const status = await statusOf(await loadFunction(operation), event);
    if (isConsole) expect(status).toBeLessThan(500);
    else expect(status).toBeLessThan(400);
  });

  test.each(others)('%s of nobody is refused', async (_, route) => {
    const event = make(eventOf({ method: route.method, ...sampleOf(route, scene) }));
    const status = await statusOf(await loadFunction(route.operation), event);
    expect(status).toBeGreaterThanOrEqual(300);
    expect(status).toBeLessThan(500);
  });

  test('an unknown path is 404', async () => {
    const event = eventOf({ path: { proxy: '1/nothing' } });
    expect(await statusOf(noRoute, make(event))).toBe(404);
  });
});

describe('a JSON body', () => {
  const json = JSON.stringify(reviewBody());

  test.each([
    ['after a byte order mark', `\ufeff${json}`, false],
    ['in base64', Buffer.from(json).toString('base64'), true],
    ['in base64 after a byte order mark', Buffer.from(`\ufeff${json}`).toString('base64'), true],
  ])('is read %s', async (_, body, isBase64Encoded) => {
    const review = reviewBody();
    const own = (text: string) => text.replace(json, JSON.stringify(review));
    const sent = isBase64Encoded
      ? Buffer.from(own(Buffer.from(body, 'base64').toString())).toString('base64')
      : own(body);
    const event = eventOf({ method: 'POST', body: sent, caller: reader.caller });
    const whole = { ...event, isBase64Encoded };
    expect(await statusOf(createReview, whole)).toBe(200);
  });

  test('that is compressed is 415, and says what to do', async () => {
    const { status, body } = await invoke(createReview, {
      method: 'POST',
      body: gzipSync(json).toString(),
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      caller: reader.caller,
    });
    expect([status, body]).toEqual([
      415,
      {
        error: 'unsupported_media_type',
        description: 'The body must be sent without Content-Encoding',
      },
    ]);
  });

  test('that the gateway has decompressed is read', async () => {
    const answer = await invoke(createReview, {
      method: 'POST',
      body: reviewBody(),
      headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
      caller: reader.caller,
    });
    expect(answer).toHaveStatus(200);
  });
});

test('a compressed form is 415', async () => {
  const { status, body } = await invoke(createToken, {
    method: 'POST',
    body: gzipSync('grant_type=refresh_token').toString(),
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Encoding': 'gzip',
    },
  });
  expect([status, body.error]).toEqual([415, 'unsupported_media_type']);
});
