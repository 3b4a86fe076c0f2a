import { readFileSync } from 'node:fs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { handler as batchGetEntities } from '../../../functions/api/batch-get-entities.ts';
import { handler as batchGetReviews } from '../../../functions/api/batch-get-reviews.ts';
import { resourceOf } from '../../../shared/http/match-route.ts';
import { routes } from '../../../shared/routes.ts';
import { accessLine, functionLine, takes } from '../../helpers/aws/access-log.ts';
import {
  alarms,
  countedBy,
  deafTopics,
  functions,
  only,
  propertiesOf,
  resources,
  toldBy,
} from '../../helpers/aws/checks.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { prices } from '../../helpers/costs.ts';
import { invoke } from '../../helpers/invoke.ts';

const { service } = (await synthesized()).everything;
const scopes = ['all', 'type', 'facet', 'entity', 'author'];

describe('the alarms', () => {
  // CloudWatch's names for what it counts: nothing here is taken from the code.
  const silent = { missing: 'notBreaching' };
  const page = { tells: 'Page', ...silent };
  const ticket = { tells: 'Ticket', ...silent };
  const twice = { within: '2 of 2 × 300 s' };
  const thrice = { within: '3 of 3 × 300 s' };
  const ofIndexes = (name: string, order: string) =>
    scopes.map((scope) => `AWS/DynamoDB ${name} Sum of ${scope}-by-${order}`);
  const ofTable = (name: string) => ({
    ...ticket,
    ...twice,
    metrics: [`AWS/DynamoDB ${name} Sum`, ...ofIndexes(name, 'date')],
    expression: 'MAX([m0,m1,m2,m3,m4,m5])',
    rings: '> 0',
  });
  const byPopularity = (name: string) => ({
    ...ofTable(name),
    metrics: ofIndexes(name, 'popularity'),
    expression: 'MAX([m0,m1,m2,m3,m4])',
  });
  const ofErrors = {
    metrics: ['reviews ServerErrors Sum', 'AWS/ApiGateway Count SampleCount'],
    expression: 'IF(requests >= 20 AND errors >= 5, 100 * errors / requests, 0)',
  };
  const outageOf = (name: string) => ({
    ...page,
    metrics: [`reviews ${name}Requests Sum`, `reviews ${name}Failures Sum`],
    expression: 'IF(failed >= 3, 100 * failed / asked, 0)',
    rings: '> 20',
    within: '1 of 1 × 900 s',
  });
  const refused = '100 * FILL(refused, 0) / (FILL(refused, 0) + FILL(accepted, 0))';
  const tokens = ['reviews RefusedTokens Sum', 'reviews AcceptedTokens Sum'];
  const unfollowed = { ...page, rings: '< 1', within: '2 of 24 × 3600 s' };
  const notRun = (job: string, hours: number) => ({
    tells: 'Ticket',
    metrics: [`AWS/Lambda Invocations Sum of ${job}`],
    expression: 'FILL(runs, 0)',
    rings: '< 1',
    within: `${hours} of ${hours} × 3600 s`,
    missing: 'breaching',
  });
  const mostRunsOf = (job: string) => ({
    ...ticket,
    ...twice,
    metrics: [`AWS/Lambda Errors Sum of ${job}`],
    rings: '> 2',
  });
  const all = Object.entries(alarms(service));
  const [refusedTokens, ...others] = resources(service, 'AWS::CloudWatch::CompositeAlarm');

  test('are these', () => {
    expect(Object.fromEntries(all)).toEqual({
      Outagesignin: outageOf('SignIn'),
      Outagegettoken: outageOf('GetToken'),
      Outagepublish: outageOf('Publish'),
      Outagevote: outageOf('Vote'),
      Outageread: outageOf('Read'),
      ErrorsOfAnHour: { ...page, ...ofErrors, rings: '> 1.44', within: '1 of 1 × 3600 s' },
      ErrorsOfSixHours: { ...ticket, ...ofErrors, rings: '> 0.3', within: '1 of 1 × 21600 s' },
      AuthorizerFailures: {
        ...page,
        metrics: ['reviews AuthorizerFailures Sum', 'reviews AcceptedTokens Sum'],
        expression: 'IF(failed >= 5, 100 * failed / (failed + FILL(accepted, 0)), 0)',
        rings: '> 20',
        within: '1 of 1 × 900 s',
      },
      RefusedTokensNow: {
        ...silent,
        metrics: tokens,
        expression: `IF(FILL(refused, 0) >= 20, ${refused}, 0)`,
        rings: '> 90',
        within: '1 of 1 × 900 s',
      },
      AcceptedTokensBefore: {
        ...silent,
        metrics: tokens,
        expression: `IF(FILL(accepted, 0) >= 20, ${refused}, 100)`,
        rings: '< 50',
        within: '1 of 1 × 86400 s',
      },
      Latency: { ...ticket, ...thrice, metrics: ['AWS/ApiGateway Latency p99'], rings: '> 2000' },
      SlowRequests: {
        ...ticket,
        ...thrice,
        metrics: ['reviews SlowRequests Sum', 'AWS/ApiGateway Count SampleCount'],
        expression: 'IF(slow > requests / 1000, slow, 0)',
        rings: '> 10',
      },
      Throttles: { ...ticket, ...twice, metrics: ['reviews Throttles Sum'], rings: '> 10' },
      TooManyRequests: {
        ...ticket,
        ...twice,
        metrics: ['reviews TooManyRequests Sum'],
        rings: '> 100',
      },
      TransactionConflicts: {
        ...ticket,
        ...thrice,
        metrics: ['AWS/DynamoDB TransactionConflict Sum'],
        rings: '> 300',
      },
      OverBudget: {
        ...ticket,
        metrics: ['reviews OverBudget Sum'],
        rings: '> 0',
        within: '1 of 1 × 300 s',
      },
      OldestCase: {
        ...ticket,
        metrics: ['reviews OldestCaseHours Maximum of send-heartbeat'],
        rings: '> 72',
        within: '1 of 1 × 3600 s',
      },
      TableReadThrottles: ofTable('ReadThrottleEvents'),
      TableReadThrottlesByPopularity: byPopularity('ReadThrottleEvents'),
      TableWriteThrottles: ofTable('WriteThrottleEvents'),
      TableWriteThrottlesByPopularity: byPopularity('WriteThrottleEvents'),
      IteratorAgeupdateaggregates: {
        ...ticket,
        ...twice,
        metrics: ['AWS/Lambda IteratorAge Maximum of update-aggregates'],
        rings: '> 300000',
      },
      IteratorAgeeraser: {
        ...ticket,
        ...twice,
        metrics: ['AWS/Lambda IteratorAge Maximum of eraser'],
        rings: '> 3600000',
      },
      Unfollowedupdateaggregates: {
        ...unfollowed,
        metrics: [
          'reviews Changes Sum of POST /1/review',
          'AWS/Lambda Invocations Sum of update-aggregates',
        ],
        expression: 'MAX([none, invocations]); 0 * MAX([changes0])',
      },
      Unfollowederaser: {
        ...unfollowed,
        metrics: [
          'reviews Changes Sum of DELETE /1/review/{review_id}',
          'reviews Changes Sum of DELETE /1/user/me',
          'AWS/Lambda Invocations Sum of eraser',
        ],
        expression: 'MAX([none, invocations]); 0 * MAX([changes0,changes1])',
      },
      DeadLetters: {
        ...ticket,
        metrics: ['AWS/SQS ApproximateNumberOfMessagesVisible Maximum'],
        rings: '> 0',
        within: '1 of 1 × 300 s',
      },
      NotRunexpirevotecounters: notRun('expire-vote-counters', 26),
      NotRunsendheartbeat: notRun('send-heartbeat', 1),
      NotRunsendwebhooks: notRun('send-webhooks', 1),
      NotRunupdatenames: notRun('update-names', 1),
      Errorssendheartbeat: mostRunsOf('send-heartbeat'),
      Errorssendwebhooks: mostRunsOf('send-webhooks'),
      Errorsupdatenames: mostRunsOf('update-names'),
      LateWebhooks: { ...ticket, ...twice, metrics: ['reviews LateWebhooks Sum'], rings: '> 0' },
      FailingWebhooks: {
        ...page,
        ...thrice,
        metrics: ['reviews FailingWebhooks Sum'],
        rings: '> 2',
      },
    });
    expect(refusedTokens?.[0]).toMatch(/^MonitoringRefusedTokens/);
    expect(toldBy(refusedTokens?.[1].Properties)).toEqual({ tells: 'Page' });
    expect(others).toEqual([]);
  });
  /** Alarms of options, which choices.slow.ts and edge.slow.ts have, by their topics. */
  const ofOptions = { Unreachable: 'page', EdgeErrors: 'page', KeyRefused: 'page' };
  const told = [
    ...all.map(([id, { tells }]) => [id, tells?.toLowerCase()] as const),
    ['RefusedTokens', 'page'] as const,
    ...Object.entries(ofOptions),
  ].filter(([, topic]) => topic !== undefined);
  const guideText = readFileSync(new URL('../../../infra/aws/alarms.md', import.meta.url), 'utf8');
  const [before = '', ...sections] = guideText.split(/^## /m);
  const headings = sections.map((section) => section.split('\n')[0] ?? '');
  // An alarm of one function or activity, or of indexes, has its name after the heading.
  const sectionOf = (id: string) =>
    headings.find((heading) => new RegExp(`^${heading}([a-z]|ByPopularity|$)`).test(id)) ??
    `${id} has no section`;

  test('have a section in the guide, and each section has an alarm', () => {
    const named = new Set(told.map(([id]) => sectionOf(id)));
    expect([...named].sort()).toEqual(headings.toSorted());
    for (const section of sections) {
      expect(section).toMatch(/\*\*Means:\*\* .*\*\*Look at.*\*\*[Rr]un:\*\* /s);
    }
  });
  test('have a row in the table of the guide, with their topic', () => {
    const rows = [
      ...before.matchAll(/^\| \[(\w+)\]\(#(\w+)\)[^|]*\| (page|ticket) \| .+ \| .+ \|$/gm),
    ];
    const topics = new Map(told.map(([id, topic]) => [sectionOf(id), topic]));
    expect(rows.map(([, name, anchor]) => [name, anchor])).toEqual(
      headings.map((heading) => [heading, heading.toLowerCase()]),
    );
    for (const [, name = '', , topic] of rows)
      expect([name, topic]).toEqual([name, topics.get(name)]);
  });
  test('are of a kind that CloudWatch takes', () => {
    for (const [, { metrics, within }] of all) {
      const [, periods, seconds] = (/of (\d+) × (\d+) s$/.exec(within) ?? []).map(Number);
      // PutMetricAlarm: a day at most, or a week where a period is an hour or longer.
      const longest = Number(seconds) < 3600 ? 86_400 : 604_800;
      expect(Number(periods) * Number(seconds)).toBeLessThanOrEqual(longest);
      expect(metrics.length).toBeLessThanOrEqual(10);
    }
  });
  test('tell a topic, unless they are a part of another alarm', () => {
    const silentOnes = all.flatMap(([id, { tells }]) => (tells ? [] : [id]));
    expect(silentOnes).toEqual(['RefusedTokensNow', 'AcceptedTokensBefore']);
    const mails = propertiesOf(service, 'AWS::SNS::Subscription').map(
      ({ Protocol, Endpoint, TopicArn }) => [Protocol, Endpoint, TopicArn.Ref.slice(0, -8)],
    );
    expect(mails.sort()).toEqual([
      ['email', 'ops@example.org', 'MonitoringPage'],
      ['email', 'ops@example.org', 'MonitoringTicket'],
    ]);
    expect(deafTopics(service)).toEqual([]);
  });
  test('a mistake is found: a topic that no alarm, or that any account may publish to', () => {
    const broken = structuredClone(service);
    const [{ PolicyDocument }] = propertiesOf(broken, 'AWS::SNS::TopicPolicy');
    const isAllow = ({ Effect }: { Effect: string }) => Effect === 'Allow';
    const { Statement } = PolicyDocument;
    delete Statement.find(isAllow).Condition;
    expect(deafTopics(broken)).toEqual([expect.stringMatching(/^MonitoringPage/)]);
    Statement.splice(Statement.findIndex(isAllow), 1);
    expect(deafTopics(broken)).toEqual([expect.stringMatching(/^MonitoringPage/)]);
  });
  test('a mistake is found: an alarm whose end nobody hears of', () => {
    const [alarm] = propertiesOf(structuredClone(service), 'AWS::CloudWatch::Alarm');
    expect(() => toldBy({ ...alarm, OKActions: [] })).toThrow('Page hears of the beginning');
  });
});

test('what a month costs at least stands in the guides', async () => {
  const { data, service: deployed } = (await synthesized()).plain;
  const secrets = [deployed, data].flatMap((stack) =>
    propertiesOf(stack, 'AWS::SecretsManager::Secret'),
  );
  const watched = Object.values(alarms(deployed));
  const metrics = watched.flatMap((alarm) => alarm.metrics).length;
  const keys = secrets.length * prices.secret;
  const alarmed = metrics * prices.alarmMetric;
  const joined = resources(deployed, 'AWS::CloudWatch::CompositeAlarm').length;
  const boards = resources(deployed, 'AWS::CloudWatch::Dashboard').length;
  const fixed = keys + alarmed + joined * prices.compositeAlarm + boards * prices.dashboard;
  const month = Math.round(fixed);
  expect([joined, boards]).toEqual([1, 1]);
  const inAll = `about $${month} a month, whatever happens: four secrets ($${keys.toFixed(2)}), ${watched.length} alarms on ${metrics} metrics ($${alarmed.toFixed(2)}), one that joins two of them ($${prices.compositeAlarm.toFixed(2)}) and a dashboard ($${prices.dashboard.toFixed(2)}).`;
  expect(guide('infra/aws/README.md')).toContain(inAll);
  expect(guide('README.md')).toContain(`$${month} a month`);
});

/** A document, in one line. */
function guide(name: string): string {
  const file = new URL(`../../../${name}`, import.meta.url);
  return readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ');
}

/** The metrics that a line of a log adds to. */
function countedIn(line: string, logGroup: RegExp): string[] {
  return countedBy(service, logGroup, (pattern) => takes(pattern, line));
}

describe('the access log', () => {
  const format: string = only(service, 'AWS::ApiGateway::Stage').AccessLogSetting.Format;
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
  test.each([
    ['GET /1/review', 200, byFunction(200), []],
    ['HEAD /1/review', 200, byFunction(200), []],
    ['OPTIONS /1/review', 200, {}, []],
    ['POST /1/review', 200, byFunction(200), ['1 Changes by $.route']],
    ['DELETE /1/user/me', 200, byFunction(200), ['1 Changes by $.route']],
    ['POST /account/applications', 303, byFunction(303), ['1 Changes by $.route']],
    ['POST /1/review', 400, byFunction(400), []],
    ['POST /1/review', 401, byGateway('UNAUTHORIZED'), []],
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
    ['GET /1/review', 403, byGateway('INVALID_API_KEY'), ['1 RefusedKeys']],
    ['POST /1/review', 403, byGateway('ACCESS_DENIED', { 'authorizer.status': '403' }), []],
    ['POST /1/review', 500, byFunction(500), ['1 ServerErrors']],
    [
      'PUT /1/review/{review_id}/vote',
      503,
      byFunction(503),
      ['1 ServerErrors', '1 Busy by $.route'],
    ],
    // The service says that it is not well.
    ['GET /health', 503, byFunction(503), []],
    ['GET /health', 503, byGateway('INTEGRATION_TIMEOUT'), ['1 ServerErrors']],
    // The query string is too long.
    ['GET /oembed', 501, byFunction(501), []],
    ['GET /1/reviews', 503, byFunction(503), []],
    ['HEAD /1/reviews', 503, byFunction(503), []],
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
    ['GET /1/review', 200, slowly('2000'), ['1 SlowRequests by $.route', '1 SlowRequests']],
    ['GET /1/review', 200, slowly('14999'), ['1 SlowRequests by $.route', '1 SlowRequests']],
    ['GET /1/review', 200, slowly('-'), []],
  ])('counts of %s, %d, %j: %j', (request, status, more, expected) => {
    const line = answered(request, status, more);
    const counted = countedIn(line, /AccessLog/).filter((name) => !isByDeed(name));
    expect(counted).toEqual(expected);
    expect(JSON.parse(line).route).toBe(request);
  });

  /** Metrics that are counted by what people do. */
  const isByDeed = (name: string) => /^1 (SignIn|GetToken|Publish|Vote|Read)[A-Z]/.test(name);

  test.each([
    ['GET /account/sign-in', 'SignIn'],
    ['GET /account/callback', 'SignIn'],
    ['HEAD /oauth/authorize', 'SignIn'],
    ['POST /oauth/authorize', 'SignIn'],
    ['POST /1/oauth/token', 'GetToken'],
    ['POST /1/oauth/revoke', 'GetToken'],
    ['POST /1/review', 'Publish'],
    ['POST /1/review/{review_id}', 'Publish'],
    ['DELETE /1/review/{review_id}', 'Publish'],
    ['GET /review/new', 'Publish'],
    ['POST /review/new', 'Publish'],
    ['POST /review/{review_id}/edit', 'Publish'],
    ['GET /review/{review_id}/delete', 'Publish'],
    ['PUT /1/review/{review_id}/vote', 'Vote'],
    ['GET /1/review/{review_id}/vote', 'Vote'],
    ['POST /1/review/{review_id}/report', 'Vote'],
    ['POST /review/{review_id}/vote', 'Vote'],
    ['GET /review/{review_id}/report', 'Vote'],
    ['GET /1/review', 'Read'],
    ['HEAD /1/review/{review_id}', 'Read'],
    ['GET /', 'Read'],
    ['GET /review/{review_id}', 'Read'],
    ['GET /account', 'Read'],
    ['GET /1/user/me', 'Read'],
    ['GET /1/entity/{entity_id}', 'Read'],
    ['POST /account', undefined],
    ['DELETE /1/user/me', undefined],
    ['OPTIONS /1/review', undefined],
    ['OPTIONS /1/oauth/token', undefined],
    ['GET /health', undefined],
  ])('counts %s for %s, and a 5xx as a failure', (request, deed) => {
    const deedsIn = (status: number, more: Record<string, string>) =>
      countedIn(answered(request, status, more), /AccessLog/)
        .filter(isByDeed)
        .sort();
    const [asked, failed] = deed
      ? [[`1 ${deed}Requests`], [`1 ${deed}Failures`, `1 ${deed}Requests`]]
      : [[], []];
    expect(deedsIn(200, byFunction(200))).toEqual(asked);
    expect(deedsIn(404, byFunction(404))).toEqual(asked);
    expect(deedsIn(503, byFunction(503))).toEqual(failed);
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

describe.each([
  ['reviews', batchGetReviews, 'review_ids', /^batchgetreviews/],
  ['entities', batchGetEntities, 'entity_ids', /^batchgetentities/],
] as const)('the 503 of the bulk lookup of %s', (_, handler, parameter, itsLog) => {
  /** Log of a request, and the metrics counted from it. */
  async function countedOf(query: Record<string, string>) {
    const logged = jest.spyOn(console, 'error').mockImplementation(() => {});
    const send = jest.spyOn(DynamoDBDocumentClient.prototype, 'send');
    const busy = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    send.mockImplementation(() => Promise.reject(busy));
    const { status } = await invoke(handler, { query });
    const lines = logged.mock.calls.map(([message]) => functionLine(message));
    jest.restoreAllMocks();
    return { status, counted: lines.flatMap((line) => countedIn(line, itsLog)).sort() };
  }

  test('is an error where DynamoDB is busy', async () => {
    const query = { [parameter]: '6f1d2c3b-4a59-4e68-8f70-9a8b7c6d5e4f' };
    expect(await countedOf(query)).toEqual({
      status: 503,
      counted: ['1 ReadFailures', '1 ServerErrors'],
    });
  });
  test('is none where the query string is too long', async () => {
    const query = { [parameter]: 'x'.repeat(4097) };
    expect(await countedOf(query)).toEqual({ status: 503, counted: [] });
  });
});

test('the dashboard finds metrics by names in quotes, as those with a hyphen must be', () => {
  const { DashboardBody } = only(service, 'AWS::CloudWatch::Dashboard');
  const text = JSON.stringify(DashboardBody).replaceAll('\\', '');
  expect(text).toContain(`SEARCH('{"reviews",Route} MetricName="Changes"', 'Sum', 300)`);
  expect(text).toContain(`SEARCH('{"reviews",Operation} MetricName="Retries"', 'Sum', 300)`);
  expect(text).toContain('"reviews","OldestCaseHours","Operation","send-heartbeat"');
});

test('functions that count a metric know its namespace and their operation', () => {
  const counting = functions(service).filter(
    ([, { Properties }]) => Properties.Environment?.Variables.METRICS_NAMESPACE !== undefined,
  );
  for (const [operation, { Properties }] of counting) {
    const { METRICS_NAMESPACE, OPERATION } = Properties.Environment.Variables;
    expect([METRICS_NAMESPACE, OPERATION]).toEqual(['reviews', operation]);
  }
  const names = counting.map(([operation]) => operation);
  expect(names).toEqual(expect.arrayContaining(['put-vote', 'create-review', 'send-heartbeat']));
});
