import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { handler as getReview } from '../../../functions/api/get-review.ts';
import { accessLine, functionLine } from '../../helpers/aws/access-log.ts';
import { only, propertiesOf } from '../../helpers/aws/checks.ts';
import { type LogLine, queried } from '../../helpers/aws/insights.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { invoke } from '../../helpers/invoke.ts';

const { service } = (await synthesized()).everything;
const format: string = only(service, 'AWS::ApiGateway::Stage').AccessLogSetting.Format;
const definitions = propertiesOf(service, 'AWS::Logs::QueryDefinition');
const lambdaId = '0a6c1f9e-3a52-4f0f-8f5e-0c8a4d7e2b11';

/** Returns the saved query with this name. */
function query(title: string): string {
  return definitions.find(({ Name }) => Name === `reviews/${title}`)?.QueryString;
}

/** Returns a line of the access log for a request that a function answered. */
function access(route: string, status: number, milliseconds: number, more = {}): LogLine {
  const [httpMethod = '', resourcePath = ''] = route.split(' ');
  const context = {
    httpMethod,
    resourcePath,
    status: `${status}`,
    responseLatency: `${milliseconds}`,
    ...more,
  };
  return { log: 'AccessLog', line: accessLine(format, context) };
}

/** Returns what the real code logs for a first request that fails, with the request's ids. */
async function logsOfFailure() {
  const lines: LogLine[] = [];
  const ids = { requestId: 'r-of-client', extendedRequestId: 'IGwHxF4XIAMEHaw=' };
  for (const level of ['error', 'info'] as const) {
    jest.spyOn(console, level).mockImplementation((message) => {
      const of = level === 'error' ? 'ERROR' : 'INFO';
      lines.push({ log: 'getreviewLogs', line: functionLine(message, of, lambdaId) });
    });
  }
  const broken = Object.assign(new Error('no such table'), { name: 'ResourceNotFoundException' });
  jest.spyOn(DynamoDBDocumentClient.prototype, 'send').mockImplementation(() => {
    throw broken;
  });
  const handler = (event: { requestContext: object }, context: object) =>
    (getReview as (event: object, context: object) => unknown)(
      { ...event, requestContext: { ...event.requestContext, ...ids } },
      context,
    );
  const path = { review_id: '6f1d2c3b-4a59-4e68-8f70-9a8b7c6d5e4f' };
  const { status } = await invoke(handler, { path });
  await invoke(handler, { path });
  jest.restoreAllMocks();
  return { status, ids, lines };
}

process.env.AWS_LAMBDA_FUNCTION_NAME = 'reviews-getreview';
process.env._X_AMZN_TRACE_ID =
  'Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1';
const { status, ids, lines: logged } = await logsOfFailure();

const failed = access('GET /1/review/{review_id}', 500, 41, {
  ...ids,
  'integration.requestId': lambdaId,
  'authorizer.requestId': '7d1f0e55-9d0a-4c39-a0f7-3a7f5e0c9b21',
  xrayTraceId: '1-67891233-abcdef012345678912345678',
});
const refusedToken: LogLine = {
  log: 'authorizerLogs',
  line: functionLine({ errorType: 'Error', errorMessage: 'Unauthorized', stackTrace: [] }),
};
const lines = [
  failed,
  ...logged,
  refusedToken,
  access('GET /1/review', 200, 9),
  access('GET /1/review', 200, 2400),
  access('PUT /1/review/{review_id}/vote', 503, 8100),
  access('PUT /1/review/{review_id}', 412, 20, { 'authorizer.client_id': 'app-1' }),
  access('PUT /1/review/{review_id}', 412, 22, { 'authorizer.client_id': 'app-1' }),
  access('POST /1/review', 429, 1, { 'error.responseType': 'THROTTLED' }),
  access('GET /1/review', 503, 1, { 'error.responseType': 'INTEGRATION_FAILURE' }),
];

test('the function logs the ids of the access log, and its cold start once', () => {
  expect(status).toBe(500);
  const trace = '1-67891233-abcdef012345678912345678';
  expect(logged.map(({ line }) => JSON.parse(line))).toMatchObject([
    { level: 'INFO', requestId: lambdaId, message: { message: 'Cold start', ...ids, trace } },
    { level: 'ERROR', requestId: lambdaId, message: { message: 'Request failed', ...ids, trace } },
    { level: 'ERROR', requestId: lambdaId, message: { message: 'Request failed', ...ids, trace } },
  ]);
  expect(JSON.parse(failed.line)).toMatchObject({
    ...ids,
    functionRequestId: lambdaId,
    authorizerRequestId: '7d1f0e55-9d0a-4c39-a0f7-3a7f5e0c9b21',
    trace,
  });
});

describe('the saved queries', () => {
  test('are six: three on the access log, three on logs that a prefix selects', () => {
    const of = (LogGroupNames?: [{ Ref: string }]) =>
      LogGroupNames?.map(({ Ref }) => Ref.replace(/[0-9A-F]{8}$/, '')) ?? [];
    expect(
      Object.fromEntries(definitions.map(({ Name, LogGroupNames }) => [Name, of(LogGroupNames)])),
    ).toEqual({
      'reviews/Slowest by route': ['ApiAccessLog'],
      'reviews/Refused by client': ['ApiAccessLog'],
      'reviews/Conflicts': ['ApiAccessLog'],
      'reviews/Request by id': [],
      'reviews/Cold starts': [],
      'reviews/Errors by name': [],
    });
  });
  test.each([
    ['of a client', 'r-of-client', 4],
    ['of API Gateway', 'IGwHxF4XIAMEHaw=', 4],
    ['of Lambda', lambdaId, 4],
    ['of X-Ray', '1-67891233-abcdef012345678912345678', 4],
    ['of the authorizer', '7d1f0e55-9d0a-4c39-a0f7-3a7f5e0c9b21', 1],
  ])('lead from an id %s to the cause', (_, id, count) => {
    const rows = queried(query('Request by id').replace('ID', id), lines);
    expect(rows).toHaveLength(count);
    expect(rows[0]).toMatchObject({
      '@log': 'AccessLog',
      status: 500,
      functionRequestId: lambdaId,
    });
    expect(rows.slice(1).map((row) => row['message.error.name'])).toEqual(
      count === 1 ? [] : [undefined, 'ResourceNotFoundException', 'ResourceNotFoundException'],
    );
  });
  test('show the slowest routes first', () => {
    const rows = queried(query('Slowest by route'), lines);
    expect(rows.slice(0, 2)).toEqual([
      { route: 'PUT /1/review/{review_id}/vote', requests: 1, p50: 8100, p99: 8100, slowest: 8100 },
      { route: 'GET /1/review', requests: 3, p50: 9, p99: 2400, slowest: 2400 },
    ]);
  });
  test('show who is refused what', () => {
    expect(queried(query('Refused by client'), lines)).toEqual([
      { client: 'app-1', route: 'PUT /1/review/{review_id}', status: 412, error: '-', refused: 2 },
      { client: '-', route: 'POST /1/review', status: 429, error: 'THROTTLED', refused: 1 },
    ]);
  });
  test('show conflicts, without failures of API Gateway', () => {
    const rows = queried(query('Conflicts'), lines);
    expect(rows.map(({ route, status, conflicts }) => [route, status, conflicts])).toEqual([
      ['PUT /1/review/{review_id}', 412, 2],
      ['PUT /1/review/{review_id}/vote', 503, 1],
    ]);
  });
  test('show cold starts by function, with their duration and memory', () => {
    const [row, ...others] = queried(query('Cold starts'), lines);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ '@log': 'getreviewLogs', starts: 1 });
    expect(row?.slowest).toBeGreaterThan(10);
    expect(row?.megabytes).toBeGreaterThan(10);
  });
  test('show errors by name, without refused tokens', () => {
    expect(queried(query('Errors by name'), [...lines, crashed()])).toMatchObject([
      {
        '@log': 'getreviewLogs',
        'message.message': 'Request failed',
        'message.error.name': 'ResourceNotFoundException',
        errors: 2,
      },
      { '@log': 'eraserLogs', 'message.errorType': 'TypeError', errors: 1 },
    ]);
  });
  test('a mistake is found: a field that no line has', () => {
    expect(() => queried('filter reqestId = "1"', lines)).toThrow('no line has the field reqestId');
  });
});

/** Returns what Lambda logs for an error that a function does not catch. */
function crashed(): LogLine {
  const message = { errorType: 'TypeError', errorMessage: 'x is not a function', stackTrace: [] };
  return { log: 'eraserLogs', line: functionLine(message) };
}
