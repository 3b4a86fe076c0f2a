import { readFileSync } from 'node:fs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { handler as batchGetEntities } from '../../../functions/batch-get-entities.ts';
import { handler as batchGetReviews } from '../../../functions/batch-get-reviews.ts';
import { routes } from '../../../shared/routes.ts';
import { accessLine, functionLine, takes } from '../../helpers/aws/access-log.ts';
import {
  alarms,
  countedBy,
  deafTopics,
  resources,
  type Template,
} from '../../helpers/aws/checks.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { prices } from '../../helpers/costs.ts';
import { invoke } from '../../helpers/invoke.ts';

const { service } = (await synthesized()).everything;
const indexes = [
  'all-by-date',
  'all-by-popularity',
  'facet-by-date',
  'facet-by-popularity',
  'entity-by-date',
  'entity-by-popularity',
  'author-by-date',
  'author-by-popularity',
];

describe('the alarms', () => {
  // CloudWatch's names for what it counts: nothing here is taken from the code.
  const ofTable = (name: string) => [
    `AWS/DynamoDB ${name} Sum`,
    ...indexes.map((index) => `AWS/DynamoDB ${name} Sum of ${index}`),
  ];
  const unlessSaid = { within: '2 of 2 × 300 s', missing: 'notBreaching' };
  const all = Object.entries(alarms(service));
  const ofLatency = all.filter(([id]) => /^Latency\d$/.test(id)).map(([, alarm]) => alarm);
  const others = all.filter(([, alarm]) => !ofLatency.includes(alarm));

  test('are these', () => {
    expect(Object.fromEntries(others)).toEqual({
      ServerErrors: {
        ...unlessSaid,
        metrics: ['reviews ServerErrors Sum', 'AWS/ApiGateway Count SampleCount'],
        expression: '100 * errors / requests',
        rings: '> 1',
      },
      Throttles: { ...unlessSaid, metrics: ['reviews Throttles Sum'], rings: '> 10' },
      TooManyRequests: {
        ...unlessSaid,
        metrics: ['reviews TooManyRequests Sum'],
        rings: '> 100',
      },
      TransactionConflicts: {
        ...unlessSaid,
        metrics: ['AWS/DynamoDB TransactionConflict Sum'],
        rings: '> 300',
        within: '3 of 3 × 300 s',
      },
      TableReadThrottles: {
        ...unlessSaid,
        metrics: ofTable('ReadThrottleEvents'),
        expression: 'MAX([m0,m1,m2,m3,m4,m5,m6,m7,m8])',
        rings: '> 0',
      },
      TableWriteThrottles: {
        ...unlessSaid,
        metrics: ofTable('WriteThrottleEvents'),
        expression: 'MAX([m0,m1,m2,m3,m4,m5,m6,m7,m8])',
        rings: '> 0',
      },
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
        metrics: [
          'reviews Changes Sum of POST /1/review',
          'AWS/Lambda Invocations Sum of update-aggregates',
        ],
        expression: 'MAX([none, invocations]); 0 * MAX([changes0])',
        rings: '< 1',
        within: '2 of 24 × 3600 s',
        missing: 'notBreaching',
      },
      Unfollowederaser: {
        metrics: [
          'reviews Changes Sum of DELETE /1/review/{review_id}',
          'reviews Changes Sum of DELETE /1/user/me',
          'AWS/Lambda Invocations Sum of eraser',
        ],
        expression: 'MAX([none, invocations]); 0 * MAX([changes0,changes1])',
        rings: '< 1',
        within: '2 of 24 × 3600 s',
        missing: 'notBreaching',
      },
      DeadLetters: {
        metrics: ['AWS/SQS ApproximateNumberOfMessagesVisible Maximum'],
        rings: '> 0',
        within: '1 of 1 × 300 s',
        missing: 'notBreaching',
      },
      AuthorizerFailures: {
        metrics: ['reviews AuthorizerFailures Sum'],
        rings: '> 5',
        within: '1 of 1 × 300 s',
        missing: 'notBreaching',
      },
      Errorsexpirevotecounters: {
        metrics: ['AWS/Lambda Errors Sum of expire-vote-counters'],
        rings: '> 0',
        within: '1 of 1 × 300 s',
        missing: 'notBreaching',
      },
      NotRunexpirevotecounters: {
        metrics: ['AWS/Lambda Invocations Sum of expire-vote-counters'],
        expression: 'FILL(runs, 0)',
        rings: '< 1',
        within: '26 of 26 × 3600 s',
        missing: 'breaching',
      },
    });
  });
  test('watch the latency of every route', () => {
    for (const alarm of ofLatency) {
      expect(alarm).toEqual({
        metrics: expect.any(Array),
        expression: expect.stringMatching(/^MAX\(\[m0(,m\d)*\]\)$/),
        rings: '> 2000',
        within: '3 of 3 × 300 s',
        missing: 'notBreaching',
      });
    }
    expect(ofLatency.flatMap(({ metrics }) => metrics).sort()).toEqual(
      routes.map(({ operation }) => `AWS/Lambda Duration p99 of ${operation}`).sort(),
    );
  });
  test('are of a kind that CloudWatch takes', () => {
    for (const { metrics, within } of all.map(([, alarm]) => alarm)) {
      const [periods, seconds] = [/of (\d+)/, /(\d+) s$/].map((part) =>
        Number(part.exec(within)?.[1]),
      );
      // PutMetricAlarm: a day at most, or a week where a period is an hour or longer.
      const longest = Number(seconds) < 3600 ? 86_400 : 604_800;
      expect(Number(periods) * Number(seconds)).toBeLessThanOrEqual(longest);
      expect(metrics.length).toBeLessThanOrEqual(10);
    }
  });
  test('mail whom they should', () => {
    const [[, { Properties }] = ['', { Properties: {} }]] = resources(
      service,
      'AWS::SNS::Subscription',
    );
    expect(Properties).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.org' });
    for (const [, { Properties }] of resources(service, 'AWS::CloudWatch::Alarm')) {
      expect(Properties.AlarmActions).toHaveLength(1);
    }
    expect(deafTopics(service)).toEqual([]);
  });
  test('a mistake is found: a topic that no alarm, or that any account may publish to', () => {
    const deaf = withPolicy((all) => all.splice(all.findIndex(isAllow), 1));
    const open = withPolicy((all) => delete all.find(isAllow)?.Condition);
    const topic = expect.stringMatching(/^MonitoringTopic/);
    expect([deafTopics(deaf), deafTopics(open)]).toEqual([[topic], [topic]]);
  });
});

interface Statement {
  Effect: string;
  Condition?: unknown;
}

function isAllow({ Effect }: Statement): boolean {
  return Effect === 'Allow';
}

function withPolicy(mistake: (statements: Statement[]) => void): Template {
  const copy = structuredClone(service);
  for (const [, { Properties }] of resources(copy, 'AWS::SNS::TopicPolicy')) {
    mistake(Properties.PolicyDocument.Statement);
  }
  return copy;
}

test('what a month costs at least stands in the guides', async () => {
  const { data, service: deployed } = (await synthesized()).plain;
  const count = (type: string) => resources(deployed, type).length + resources(data, type).length;
  const watched = Object.values(alarms(deployed));
  const metrics = watched.reduce((sum, { metrics }) => sum + metrics.length, 0);
  const keys = count('AWS::SecretsManager::Secret') * prices.secret;
  const alarmed = metrics * prices.alarmMetric;
  const month = Math.round(keys + alarmed);
  expect(guide('infra/aws/README.md')).toContain(
    `about $${month} a month: three secrets ($${keys.toFixed(2)}) and ${watched.length} alarms on ${metrics} metrics ($${alarmed.toFixed(2)})`,
  );
  expect(guide('README.md')).toContain(`$${month} a month`);
});

/** A document, in one line. */
function guide(name: string): string {
  const file = new URL(`../../../${name}`, import.meta.url);
  return readFileSync(file, 'utf8').replaceAll(/\s+/g, ' ');
}

describe('the access log', () => {
  const [[, stage] = ['', { Properties: {} }]] = resources(service, 'AWS::ApiGateway::Stage');
  const format: string = stage.Properties.AccessLogSetting.Format;
  const answered = (request: string, status: number, more: Record<string, string> = {}) => {
    const [httpMethod = '', resourcePath = ''] = request.split(' ');
    return accessLine(format, { httpMethod, resourcePath, status: `${status}`, ...more });
  };
  const byFunction = (status: number) => ({
    'integration.status': `${status}`,
    'integration.integrationStatus': '200',
    responseLatency: '12',
  });
  const byGateway = (type: string, more: Record<string, string> = {}) => ({
    'error.responseType': type,
    ...more,
  });

  test('is JSON, whatever is not set', () => {
    expect(JSON.parse(accessLine(format, { status: '429' }))).toMatchObject({
      status: 429,
      milliseconds: '-',
      bytes: '-',
      error: '-',
      client: '-',
    });
  });
  test('holds no address, path, token or message', () => {
    expect(format).not.toMatch(
      /identity|\.path\b|[Aa]uthorization|user_id|[Mm]essage|\.error["\s]/,
    );
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
    ['PUT /1/review/{review_id}/vote', 503, byFunction(503), ['1 ServerErrors']],
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
  ])('counts of %s, %d, %j: %j', (request, status, more, expected) => {
    const line = answered(request, status, more);
    const counted = countedBy(service, /AccessLog/, (pattern) => takes(pattern, line));
    expect(counted).toEqual(expected);
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
    const counted = lines.flatMap((line) =>
      countedBy(service, itsLog, (pattern) => takes(pattern, line)),
    );
    return { status, counted };
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

test('the dashboard finds changes by names in quotes, as those with a hyphen must be', () => {
  const [[, { Properties }] = ['', { Properties: {} }]] = resources(
    service,
    'AWS::CloudWatch::Dashboard',
  );
  const text = JSON.stringify(Properties.DashboardBody).replaceAll('\\', '');
  expect(text).toContain(`SEARCH('{"reviews",Route} MetricName="Changes"', 'Sum', 300)`);
});
