import { readFileSync } from 'node:fs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { handler as batchGetEntities } from '../../../functions/api/batch-get-entities.ts';
import { handler as batchGetReviews } from '../../../functions/api/batch-get-reviews.ts';
import { accessLine, functionLine, takes } from '../../helpers/aws/access-log.ts';
import {
  alarms,
  countedBy,
  deafTopics,
  functions,
  only,
  propertiesOf,
} from '../../helpers/aws/checks.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { prices } from '../../helpers/costs.ts';
import { invoke } from '../../helpers/invoke.ts';

const { service } = (await synthesized()).everything;
const indexes = ['all', 'facet', 'entity', 'author'].flatMap((scope) => [
  `${scope}-by-date`,
  `${scope}-by-popularity`,
]);

describe('the alarms', () => {
  // CloudWatch's names for what it counts: nothing here is taken from the code.
  const silent = { missing: 'notBreaching' };
  const unlessSaid = { within: '2 of 2 × 300 s', ...silent };
  const atOnce = { within: '1 of 1 × 300 s', ...silent };
  const daily = { rings: '< 1', within: '2 of 24 × 3600 s', ...silent };
  const ofTable = (name: string) => ({
    ...unlessSaid,
    metrics: ['', ...indexes.map((index) => ` of ${index}`)].map(
      (of) => `AWS/DynamoDB ${name} Sum${of}`,
    ),
    expression: 'MAX([m0,m1,m2,m3,m4,m5,m6,m7,m8])',
  });
  const ofErrors = {
    ...silent,
    metrics: ['reviews ServerErrors Sum', 'AWS/ApiGateway Count SampleCount'],
    expression: 'IF(requests >= 20 AND errors >= 5, 100 * errors / requests, 0)',
  };
  const all = Object.entries(alarms(service));

  test('are these', () => {
    expect(Object.fromEntries(all)).toEqual({
      ErrorsOfAnHour: {
        ...ofErrors,
        rings: '> 1.44',
        within: '1 of 1 × 3600 s',
      },
      ErrorsOfSixHours: {
        ...ofErrors,
        rings: '> 0.3',
        within: '1 of 1 × 21600 s',
      },
      Latency: {
        ...silent,
        metrics: ['AWS/ApiGateway Latency p99'],
        rings: '> 2000',
        within: '3 of 3 × 300 s',
      },
      SlowRequests: {
        ...silent,
        metrics: ['reviews SlowRequests Sum', 'AWS/ApiGateway Count SampleCount'],
        expression: 'IF(slow > requests / 1000, slow, 0)',
        rings: '> 10',
        within: '3 of 3 × 300 s',
      },
      Throttles: { ...unlessSaid, metrics: ['reviews Throttles Sum'], rings: '> 10' },
      TooManyRequests: { ...unlessSaid, metrics: ['reviews TooManyRequests Sum'], rings: '> 100' },
      TransactionConflicts: {
        ...unlessSaid,
        metrics: ['AWS/DynamoDB TransactionConflict Sum'],
        rings: '> 300',
        within: '3 of 3 × 300 s',
      },
      OldestCase: {
        ...silent,
        metrics: ['reviews OldestCaseHours Maximum of send-heartbeat'],
        rings: '> 72',
        within: '1 of 1 × 3600 s',
      },
      TableReadThrottles: { ...ofTable('ReadThrottleEvents'), rings: '> 0' },
      TableWriteThrottles: { ...ofTable('WriteThrottleEvents'), rings: '> 0' },
      IteratorAgeupdateaggregates: {
        ...unlessSaid,
        metrics: ['AWS/Lambda IteratorAge Maximum of update-aggregates'],
        rings: '> 300000',
      },
      IteratorAgeeraser: {
        ...unlessSaid,
        metrics: ['AWS/Lambda IteratorAge Maximum of eraser'],
        rings: '> 3600000',
      },
      Unfollowedupdateaggregates: {
        ...daily,
        metrics: [
          'reviews Changes Sum of POST /1/review',
          'AWS/Lambda Invocations Sum of update-aggregates',
        ],
        expression: 'MAX([none, invocations]); 0 * MAX([changes0])',
      },
      Unfollowederaser: {
        ...daily,
        metrics: [
          'reviews Changes Sum of DELETE /1/review/{review_id}',
          'reviews Changes Sum of DELETE /1/user/me',
          'AWS/Lambda Invocations Sum of eraser',
        ],
        expression: 'MAX([none, invocations]); 0 * MAX([changes0,changes1])',
      },
      DeadLetters: {
        ...atOnce,
        metrics: ['AWS/SQS ApproximateNumberOfMessagesVisible Maximum'],
        rings: '> 0',
      },
      AuthorizerFailures: { ...atOnce, metrics: ['reviews AuthorizerFailures Sum'], rings: '> 5' },
      Errorsexpirevotecounters: {
        ...atOnce,
        metrics: ['AWS/Lambda Errors Sum of expire-vote-counters'],
        rings: '> 0',
      },
      NotRunexpirevotecounters: {
        metrics: ['AWS/Lambda Invocations Sum of expire-vote-counters'],
        expression: 'FILL(runs, 0)',
        rings: '< 1',
        within: '26 of 26 × 3600 s',
        missing: 'breaching',
      },
      Errorssendheartbeat: {
        ...atOnce,
        metrics: ['AWS/Lambda Errors Sum of send-heartbeat'],
        rings: '> 0',
      },
      NotRunsendheartbeat: {
        metrics: ['AWS/Lambda Invocations Sum of send-heartbeat'],
        expression: 'FILL(runs, 0)',
        rings: '< 1',
        within: '1 of 1 × 3600 s',
        missing: 'breaching',
      },
      LateWebhooks: { ...unlessSaid, metrics: ['reviews LateWebhooks Sum'], rings: '> 0' },
      Errorssendwebhooks: {
        ...atOnce,
        metrics: ['AWS/Lambda Errors Sum of send-webhooks'],
        rings: '> 0',
      },
      NotRunsendwebhooks: {
        metrics: ['AWS/Lambda Invocations Sum of send-webhooks'],
        expression: 'FILL(runs, 0)',
        rings: '< 1',
        within: '1 of 1 × 3600 s',
        missing: 'breaching',
      },
    });
  });
  test('have a section in the guide, and each section has an alarm', () => {
    const text = readFileSync(new URL('../../../infra/aws/alarms.md', import.meta.url), 'utf8');
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
    // An alarm of one function has the function's name after the heading.
    const sectionOf = (id: string) =>
      headings.find((heading) => id === heading || new RegExp(`^${heading}[a-z]`).test(id)) ??
      `${id} has no section`;
    // choices.slow.ts has the alarm of the option healthCheck.
    const sections = new Set([...all.map(([id]) => sectionOf(id)), 'Unreachable']);
    expect([...sections].sort()).toEqual(headings.sort());
    for (const section of text.split(/^## /m).slice(1)) {
      expect(section).toMatch(/\*\*Means:\*\* .*\*\*Look at.*\*\*[Rr]un:\*\* /s);
    }
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
  test('mail whom they should', () => {
    const mail = { Protocol: 'email', Endpoint: 'ops@example.org' };
    expect(only(service, 'AWS::SNS::Subscription')).toMatchObject(mail);
    for (const { AlarmActions } of propertiesOf(service, 'AWS::CloudWatch::Alarm')) {
      expect(AlarmActions).toHaveLength(1);
    }
    expect(deafTopics(service)).toEqual([]);
  });
  test('a mistake is found: a topic that no alarm, or that any account may publish to', () => {
    const broken = structuredClone(service);
    const { Statement } = only(broken, 'AWS::SNS::TopicPolicy').PolicyDocument;
    const isAllow = ({ Effect }: { Effect: string }) => Effect === 'Allow';
    delete Statement.find(isAllow).Condition;
    expect(deafTopics(broken)).toEqual([expect.stringMatching(/^MonitoringTopic/)]);
    Statement.splice(Statement.findIndex(isAllow), 1);
    expect(deafTopics(broken)).toEqual([expect.stringMatching(/^MonitoringTopic/)]);
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
  const month = Math.round(keys + alarmed);
  expect(guide('infra/aws/README.md')).toContain(
    `about $${month} a month: four secrets ($${keys.toFixed(2)}) and ${watched.length} alarms on ${metrics} metrics ($${alarmed.toFixed(2)})`,
  );
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
    ['POST /1/review', 401, byGateway('UNAUTHORIZED', { 'authorizer.status': '401' }), []],
    ['POST /1/review', 403, byGateway('ACCESS_DENIED', { 'authorizer.status': '403' }), []],
    ['POST /1/review', 500, byFunction(500), ['1 ServerErrors']],
    [
      'PUT /1/review/{review_id}/vote',
      503,
      byFunction(503),
      ['1 ServerErrors', '1 Busy by $.route'],
    ],
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
    expect(countedIn(line, /AccessLog/)).toEqual(expected);
    expect(JSON.parse(line).route).toBe(request);
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
    return { status, counted: lines.flatMap((line) => countedIn(line, itsLog)) };
  }

  test('is an error where DynamoDB is busy', async () => {
    const query = { [parameter]: '6f1d2c3b-4a59-4e68-8f70-9a8b7c6d5e4f' };
    expect(await countedOf(query)).toEqual({ status: 503, counted: ['1 ServerErrors'] });
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
  expect(names).not.toContain('list-languages');
});
