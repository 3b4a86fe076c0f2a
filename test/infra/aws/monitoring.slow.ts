import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { handler as batchGetReviews } from '../../../functions/api/batch-get-reviews.ts';
import { runAs } from '../../../shared/base/operation.ts';
import { routes } from '../../../shared/base/routes.ts';
import { resourceOf } from '../../../shared/core/http/match-route.ts';
import { accessLine, takes } from '../../helpers/aws/access-log.ts';
import { countedBy, functions, only, propertiesOf } from '../../helpers/aws/checks.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { silence } from '../../helpers/console.ts';
import { invoke } from '../../helpers/invoke.ts';
import { rowsOf } from '../../helpers/rows.ts';

const { service, code } = (await synthesized()).everything;
/** The metrics that a line of a log adds to. */
function countedIn(line: string, logGroup: RegExp) {
  return countedBy(service, logGroup, (pattern) => takes(pattern, line));
}

describe('the access log', () => {
  const format = only(service, 'AWS::ApiGateway::Stage').AccessLogSetting.Format;
  const answered = (request: string, status: number, more: Record<string, string> = {}) => {
    const [httpMethod = '', resourcePath = ''] = request.split(' ');
    return accessLine(format, { httpMethod, resourcePath, status: `${status}`, ...more });
  };
  const byFunction = (status: number) => ({
    'integration.status': `${status}`,
    'integration.integrationStatus': '200',
    responseLatency: '12',
  });
  const slowly = (responseLatency: string) => ({ ...byFunction(200), responseLatency });
  const byGateway = (type: string, more = {}) => ({ 'error.responseType': type, ...more });

  test('is JSON, whatever is not set', () => {
    const unset = { milliseconds: '-', bytes: '-', error: '-', client: '-' };
    const line = JSON.parse(accessLine(format, { status: '429' }));
    expect(line).toMatchObject({ status: 429, ...unset });
  });
  test('holds no address, path, token or message', () => {
    const secret = /identity|\.path\b|[Aa]uthorization|user_id|[Mm]essage|\.error["\s]/;
    expect(format).not.toMatch(secret);
  });

  const throttled = { 'integration.integrationStatus': '429' };
  const slowWrite = ['1 Changes by $.route', '1 SlowRequests by $.route'];
  test.each([
    ['GET /1/review', 200, byFunction(200), []],
    ['HEAD /1/review', 200, byFunction(200), []],
    ['OPTIONS /1/review', 200, {}, []],
    // A preflight with content that API Gateway could not read.
    ['OPTIONS /1/review', 500, byGateway('DEFAULT_5XX'), []],
    ['POST /1/review', 200, byFunction(200), ['1 Changes by $.route']],
    ['DELETE /1/user/me', 200, byFunction(200), ['1 Changes by $.route']],
    ['POST /account/applications', 303, byFunction(303), ['1 Changes by $.route']],
    ['POST /1/review', 400, byFunction(400), []],
    ['POST /1/review', 401, byGateway('UNAUTHORIZED'), []],
    // A made-up token, and a program that repeats an expired one.
    [
      'POST /1/review',
      401,
      byGateway('UNAUTHORIZED', { 'authorizer.requestId': 'c3b8b4a5-3a5c' }),
      ['1 RefusedTokens'],
    ],
    [
      'GET /1/user/me',
      200,
      { ...byFunction(200), 'authorizer.client_id': 'f3a9', 'authorizer.requestId': 'c3b8' },
      ['1 AcceptedTokens'],
    ],
    ['GET /1/review', 403, byGateway('INVALID_API_KEY'), []],
    ['POST /1/review', 403, byGateway('ACCESS_DENIED', { 'authorizer.status': '403' }), []],
    ['POST /1/review', 500, byFunction(500), ['1 ServerErrors']],
    // Others vote on the same review.
    ['PUT /1/review/{review_id}/vote', 429, byFunction(429), ['1 Busy by $.route']],
    // The service says that it is not well.
    ['GET /health', 503, byFunction(503), ['1 Busy by $.route']],
    ['GET /health', 503, byGateway('INTEGRATION_TIMEOUT'), ['1 ServerErrors']],
    // The query string is too long.
    ['GET /oembed', 501, byFunction(501), []],
    ['GET /1/reviews', 503, byFunction(503), ['1 Busy by $.route']],
    ['HEAD /1/reviews', 503, byFunction(503), ['1 Busy by $.route']],
    ['GET /1/reviews', 504, byGateway('INTEGRATION_TIMEOUT'), ['1 ServerErrors']],
    [
      'GET /1/reviews',
      503,
      byGateway('INTEGRATION_FAILURE', throttled),
      ['1 ServerErrors', '1 Throttles'],
    ],
    [
      'POST /1/review',
      500,
      byGateway('AUTHORIZER_FAILURE', { 'authorizer.integrationStatus': '429' }),
      ['1 ServerErrors', '1 AuthorizerFailures', '1 Throttles'],
    ],
    [
      'POST /1/review',
      500,
      byGateway('AUTHORIZER_CONFIGURATION_ERROR'),
      ['1 ServerErrors', '1 AuthorizerFailures'],
    ],
    ['GET /1/review', 429, byGateway('THROTTLED'), ['1 TooManyRequests']],
    ['GET /1/review', 200, slowly('1999'), []],
    ['GET /1/review', 200, slowly('2000'), ['1 SlowRequests by $.route', '1 SlowReads']],
    ['GET /1/review', 200, slowly('14999'), ['1 SlowRequests by $.route', '1 SlowReads']],
    // A write waits for others to the same review, a search for a database of somebody else.
    ['PUT /1/review/{review_id}/vote', 200, slowly('8000'), slowWrite],
    ['GET /find', 200, slowly('3000'), ['1 SlowRequests by $.route']],
    ['GET /1/review', 200, slowly('-'), []],
  ])('counts of %s, %d, %j: %j', (request, status, more, expected) => {
    const line = answered(request, status, more);
    const counted = countedIn(line, /AccessLog/).filter((name) => !isByDeed(name));
    expect(counted).toEqual(expected);
    expect(JSON.parse(line).route).toBe(request);
  });

  /** Metrics that are counted by what people do. */
  const isByDeed = (name: string) => /^1 (SignIn|GetToken|Publish|Vote|Read)[A-Z]/.test(name);

  test.each(
    rowsOf({
      SignIn: [
        'GET /account/sign-in',
        'GET /account/callback',
        'HEAD /oauth/authorize',
        'POST /oauth/authorize',
      ],
      GetToken: ['POST /1/oauth/token', 'POST /1/oauth/revoke'],
      Publish: [
        'POST /1/review',
        'POST /1/review/{review_id}',
        'DELETE /1/review/{review_id}',
        'GET /review/new',
        'POST /review/new',
        'POST /review/{review_id}/edit',
        'GET /review/{review_id}/delete',
      ],
      Vote: [
        'PUT /1/review/{review_id}/vote',
        'GET /1/review/{review_id}/vote',
        'POST /1/review/{review_id}/report',
        'POST /review/{review_id}/vote',
        'GET /review/{review_id}/report',
      ],
      Read: [
        'GET /1/review',
        'HEAD /1/review/{review_id}',
        'GET /',
        'GET /review/{review_id}',
        'GET /account',
        'GET /1/user/me',
        'GET /1/entity/{entity_id}',
      ],
      '': [
        'POST /account',
        'DELETE /1/user/me',
        'OPTIONS /1/review',
        'OPTIONS /1/oauth/token',
        'GET /health',
      ],
    }),
  )('counts one %s for %s, and a failure', (deed, request) => {
    const deedsIn = (status: number, more: Record<string, string>) =>
      countedIn(answered(request, status, more), /AccessLog/)
        .filter(isByDeed)
        .sort();
    const [asked, failed] = deed
      ? [[`1 ${deed}Requests`], [`1 ${deed}Failures`, `1 ${deed}Requests`]]
      : [[], []];
    expect(deedsIn(200, byFunction(200))).toEqual(asked);
    expect(deedsIn(404, byFunction(404))).toEqual(asked);
    expect(deedsIn(500, byFunction(500))).toEqual(failed);
    expect(deedsIn(503, byFunction(503))).toEqual(asked);
    expect(deedsIn(503, byGateway('INTEGRATION_FAILURE'))).toEqual(failed);
    expect(deedsIn(504, byGateway('INTEGRATION_TIMEOUT'))).toEqual(failed);
    expect(deedsIn(501, byFunction(501))).toEqual(asked);
  });
  test('counts each route for one thing that people do at most', () => {
    for (const route of routes) {
      const line = answered(`${route.method} ${resourceOf(route)}`, 200, byFunction(200));
      const deeds = countedIn(line, /AccessLog/).filter(isByDeed);
      expect([route.operation, deeds.length]).toEqual([route.operation, expect.any(Number)]);
      expect(deeds.length).toBeLessThanOrEqual(1);
    }
  });
  test('has patterns that CloudWatch Logs takes', () => {
    for (const { FilterPattern } of propertiesOf(service, 'AWS::Logs::MetricFilter')) {
      expect(FilterPattern.length).toBeLessThanOrEqual(1024);
    }
  });
});

test('a function counts each 503 for a reason of ours, by its activity', async () => {
  const written: string[] = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(`${text}`) > 0);
  silence('error');
  process.env.METRICS_NAMESPACE = 'reviews';
  const send = jest.spyOn(DynamoDBDocumentClient.prototype, 'send');
  const busy = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  send.mockImplementation(() => Promise.reject(busy));
  const ask = (review_ids: string) =>
    runAs({ name: 'batch-get-reviews', activity: 'read' }, () =>
      invoke(batchGetReviews, { query: { review_ids } }),
    );
  const failed = await ask('6f1d2c3b-4a59-4e68-8f70-9a8b7c6d5e4f');
  const tooLong = await ask('x'.repeat(4097));
  expect([failed.status, tooLong.status]).toEqual([503, 503]);
  const [line, ...others] = written.map((text) => JSON.parse(text));
  expect(others).toEqual([]);
  expect(line).toMatchObject({
    Activity: 'read',
    Unavailable: 1,
    _aws: { CloudWatchMetrics: [{ Namespace: 'reviews', Dimensions: [['Activity'], []] }] },
  });
});

test('the dashboard finds metrics by names in quotes, as those with a hyphen must be', () => {
  const { DashboardBody } = only(service, 'AWS::CloudWatch::Dashboard');
  const text = JSON.stringify(DashboardBody).replaceAll('\\', '');
  expect(text).toContain(`SEARCH('{"reviews",Route} MetricName="Changes"', 'Sum', 300)`);
  expect(text).toContain(`SEARCH('{"reviews",Operation} MetricName="Retries"', 'Sum', 300)`);
  expect(text).toContain('"reviews","OldestCaseHours","Operation","send-heartbeat"');
});

test('functions that count a metric know its namespace, their operation and its activity', () => {
  const counting = functions(service).filter(
    ([, { Properties }]) => Properties.Environment?.Variables.METRICS_NAMESPACE !== undefined,
  );
  for (const [, { Properties }] of counting) {
    expect(Properties.Environment.Variables.METRICS_NAMESPACE).toBe('reviews');
  }
  // Of pages that share a function, each has its own name.
  for (const { operation } of routes) {
    expect([operation, code(operation).includes(`{name:"${operation}"`)]).toEqual([
      operation,
      true,
    ]);
  }
  expect(code('put-vote')).toContain('{name:"put-vote",activity:"vote"}');
  const names = counting.map(([operation]) => operation);
  expect(names).toEqual(expect.arrayContaining(['put-vote', 'create-review', 'send-heartbeat']));
});
