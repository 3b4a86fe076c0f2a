import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { handler as getReview } from '../../../functions/api/get-review.ts';
import { runAs } from '../../../shared/base/operation.ts';
import { accessLine, fieldOf, functionLine } from '../../helpers/aws/access-log.ts';
import { only, propertiesOf } from '../../helpers/aws/checks.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { invoke } from '../../helpers/invoke.ts';

const { service } = (await synthesized()).everything;
const format = only(service, 'AWS::ApiGateway::Stage').AccessLogSetting.Format;
const definitions = propertiesOf(service, 'AWS::Logs::QueryDefinition');
const lambdaId = '0a6c1f9e-3a52-4f0f-8f5e-0c8a4d7e2b11';

/** Words of the query language. All other words are fields, or names that `as` gives. */
const language = new Set(
  'fields filter stats sort by as and or not like asc desc count pct max ispresent bin'.split(' '),
);

/** Returns the fields that a query names, without those of every line. */
function fieldsIn(query: string) {
  const given = [...query.matchAll(/ as (\w+)/g)].map(([, name]) => name);
  const named = query.replaceAll(/"[^"]*"/g, '').match(/(?<![\w.@])[a-z_][\w.]*/gi) ?? [];
  return [...new Set(named)].filter((name) => !language.has(name) && !given.includes(name));
}

/** Returns the texts that a query compares fields with. `-` is an unset value, `ID` to be typed. */
const textsIn = (query: string) =>
  [...query.matchAll(/"([^"]*)"/g)]
    .map(([, text = '']) => text)
    .filter((text) => !/^(-|ID)$/.test(text));

/** Returns a line of the access log for a request that a function answered. */
function access(route: string, status: number, milliseconds: number, more = {}) {
  const [httpMethod = '', resourcePath = ''] = route.split(' ');
  const context = {
    httpMethod,
    resourcePath,
    status: `${status}`,
    responseLatency: `${milliseconds}`,
    ...more,
  };
  return accessLine(format, context);
}

/** Returns what the real code logs for a first request that fails, with the request's ids. */
async function logsOfFailure() {
  const lines: string[] = [];
  const ids = { requestId: 'r-of-client', extendedRequestId: 'IGwHxF4XIAMEHaw=' };
  for (const level of ['error', 'info'] as const) {
    jest.spyOn(console, level).mockImplementation((message) => {
      const of = level === 'error' ? 'ERROR' : 'INFO';
      lines.push(functionLine(message, of, lambdaId));
    });
  }
  const broken = Object.assign(new Error('no such table'), { name: 'ResourceNotFoundException' });
  jest.spyOn(DynamoDBDocumentClient.prototype, 'send').mockImplementation(() => {
    throw broken;
  });
  const handler = (event: { requestContext: object }, context: object) =>
    runAs({ name: 'get-review' }, () =>
      (getReview as (event: object, context: object) => unknown)(
        { ...event, requestContext: { ...event.requestContext, ...ids } },
        context,
      ),
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
const accessLines = [
  failed,
  access('PUT /1/review/{review_id}', 412, 20, { 'authorizer.client_id': 'app-1' }),
  access('GET /1/review', 503, 1, { 'error.responseType': 'INTEGRATION_FAILURE' }),
];
const refusedToken = { errorType: 'Error', errorMessage: 'Unauthorized', stackTrace: [] };
const crash = { errorType: 'TypeError', errorMessage: 'x is not a function', stackTrace: [] };
const refusal = { message: 'Access token refused', reason: 'expired', client_id: 'app-1' };
const allLines = [
  ...accessLines,
  ...logged,
  functionLine(refusal, 'INFO'),
  functionLine(refusedToken),
  functionLine(crash),
];

test('the function logs the ids of the access log, and its cold start once', () => {
  expect(status).toBe(500);
  const trace = '1-67891233-abcdef012345678912345678';
  // Pages share a function, so its name would not tell.
  const named = { ...ids, trace, operation: 'get-review' };
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'INFO', requestId: lambdaId, message: { message: 'Cold start', ...named } },
    { level: 'ERROR', requestId: lambdaId, message: { message: 'Request failed', ...named } },
    { level: 'ERROR', requestId: lambdaId, message: { message: 'Request failed', ...named } },
  ]);
  expect(JSON.parse(failed)).toMatchObject({
    ...ids,
    functionRequestId: lambdaId,
    authorizerRequestId: '7d1f0e55-9d0a-4c39-a0f7-3a7f5e0c9b21',
    trace,
  });
});

describe('the saved queries', () => {
  test('are five: two on the access log, three on logs that a prefix selects', () => {
    const of = (LogGroupNames?: [{ Ref: string }]) =>
      LogGroupNames?.map(({ Ref }) => Ref.replace(/[0-9A-F]{8}$/, '')) ?? [];
    expect(
      Object.fromEntries(definitions.map(({ Name, LogGroupNames }) => [Name, of(LogGroupNames)])),
    ).toEqual({
      'reviews/Slowest by route': ['ApiAccessLog'],
      'reviews/Refused by client': ['ApiAccessLog'],
      'reviews/Request by id': [],
      'reviews/Refused tokens': [],
      'reviews/Errors by name': [],
    });
  });

  test.each(
    definitions.map(({ Name, QueryString, LogGroupNames }) => [Name, QueryString, LogGroupNames]),
  )('%s names fields that lines have, and texts that stand in them', (_, query, groups) => {
    const lines = groups ? accessLines : allLines;
    const events = lines.map((line) => JSON.parse(line));
    const isField = (name: string) =>
      events.some((event) => fieldOf(event, `$.${name}`) !== undefined);
    expect(fieldsIn(query).filter((name) => !isField(name))).toEqual([]);
    expect(textsIn(query).filter((text) => !lines.join().includes(`"${text}"`))).toEqual([]);
  });

  test.each([
    ['of a client', 'r-of-client', 4],
    ['of API Gateway', 'IGwHxF4XIAMEHaw=', 4],
    ['of Lambda', lambdaId, 4],
    ['of X-Ray', '1-67891233-abcdef012345678912345678', 4],
    ['of the authorizer', '7d1f0e55-9d0a-4c39-a0f7-3a7f5e0c9b21', 1],
  ])('an id %s stands in all lines of its request', (_, id, count) => {
    const found = allLines.filter((line) => line.includes(id));
    expect(found).toHaveLength(count);
    expect(found[0]).toBe(failed);
  });
});
