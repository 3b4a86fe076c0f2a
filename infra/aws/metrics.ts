import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { resourceOf } from '../../shared/http/match-route.ts';
import { type Route, routes } from '../../shared/routes.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import type { TableFunction } from './table-function.ts';

export const period = Duration.minutes(5);
export const hour = Duration.hours(1);

/** Metrics of a service with this name, those of its log lines among them. */
export function metricsOf(
  scope: Construct,
  {
    api,
    background,
    table,
    name,
  }: { api: Api; background: Background; table: ITable; name: string },
) {
  // Every success of a route that changes something is an event of the domain: a review published,
  // a vote cast, a token made.
  const changes = FilterPattern.literal(
    '{ $.status < 400 && $.method != "GET" && $.method != "HEAD" && $.method != "OPTIONS" }',
  );
  new MetricFilter(scope, 'ChangesLogged', {
    logGroup: api.accessLog,
    filterPattern: changes,
    metricNamespace: name,
    metricName: 'Changes',
    dimensions: { Route: '$.route' },
  });
  const logged = (
    metricName: string,
    pattern: string,
    { id = `${metricName}Logged`, logGroup = api.accessLog as ILogGroup } = {},
  ) =>
    new MetricFilter(scope, id, {
      logGroup,
      filterPattern: FilterPattern.literal(pattern),
      metricNamespace: name,
      metricName,
    }).metric({ statistic: 'Sum', period });

  // Not those of API Gateway: one is the 503 of a query string that is too long, which any client
  // can send. The functions of bulk lookups make it without a word in their logs, where they tell
  // of every failure; what API Gateway answers instead has an error.
  const bulk = ['batch-get-reviews', 'batch-get-entities'];
  const byOthers = bulk
    .flatMap((operation) =>
      ['GET', 'HEAD'].map((method) => `$.route != "${method} ${resourceOf(routeOf(operation))}"`),
    )
    .join(' && ');
  const serverErrors = logged(
    'ServerErrors',
    `{ $.status >= 500 && ($.error != "-" || (${byOthers})) }`,
  );
  for (const operation of bulk) {
    logged('ServerErrors', '{ $.message.message = "Request failed" }', {
      id: `Errors-${operation}`,
      logGroup: functionOf(api, operation).logGroup,
    });
  }
  return {
    serverErrors,
    requests: api.restApi.metricCount({ period }),
    clientErrors: api.restApi.metricClientError({ statistic: 'Sum', period }),
    // Not the Errors of its Lambda: to refuse a token is one as well.
    authorizerFailures: logged('AuthorizerFailures', '{ $.error = "AUTHORIZER_*" }'),
    // Not those of Lambda: they are of the whole account, or a metric for each function.
    throttled: logged(
      'Throttles',
      '{ $.lambdaStatus = "429" || $.authorizerLambdaStatus = "429" }',
    ),
    tooMany: logged('TooManyRequests', '{ $.status = 429 }'),
    latencies: routes.map(({ operation }) =>
      functionOf(api, operation).metricDuration({ statistic: 'p99', period, label: operation }),
    ),
    conflicts: table.metric('TransactionConflict', { statistic: 'Sum', period }),
    iteratorAges: background.consumers.map(({ node, lambda }) =>
      lambda.metric('IteratorAge', { statistic: 'Maximum', period, label: node.id }),
    ),
    jobErrors: background.jobs.map(({ node, lambda }) =>
      lambda.metricErrors({ statistic: 'Sum', period, label: node.id }),
    ),
    deadLetters: background.deadLetters.metricApproximateNumberOfMessagesVisible({
      statistic: 'Maximum',
      period,
    }),
    consumed: (['Read', 'Write'] as const).map((kind) =>
      table.metric(`Consumed${kind}CapacityUnits`, { statistic: 'Sum', period }),
    ),
  };
}

function routeOf(operation: string): Route {
  const found = routes.find((route) => route.operation === operation);
  if (!found) throw new Error(`${operation} is no route`);
  return found;
}

function functionOf(api: Api, operation: string): TableFunction['lambda'] {
  const found = api.functions.get(operation);
  if (!found) throw new Error(`${operation} has no function`);
  return found.lambda;
}

/** Number of changes that a route made in an hour. */
export function changesBy(name: string, operation: string): Metric {
  const { method } = routeOf(operation);
  return new Metric({
    namespace: name,
    metricName: 'Changes',
    dimensionsMap: { Route: `${method} ${resourceOf(routeOf(operation))}` },
    statistic: 'Sum',
    period: hour,
  });
}

/** The largest of the metrics at each time. */
export function anyOf(metrics: readonly IMetric[], label: string): MathExpression {
  const ids = metrics.map((_, i) => `m${i}`);
  return new MathExpression({
    expression: `MAX([${ids}])`,
    usingMetrics: Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric])),
    period,
    label,
  });
}

/**
 * Of the table itself and of each index: an index that is throttled holds up the writes of the
 * table.
 */
export function tableThrottles({ tableName }: ITable, kind: 'Read' | 'Write'): Metric[] {
  const indexes = tableDefinition.indexes.map(({ name }) => ({ GlobalSecondaryIndexName: name }));
  return [{}, ...indexes].map(
    (index) =>
      new Metric({
        namespace: 'AWS/DynamoDB',
        metricName: `${kind}ThrottleEvents`,
        dimensionsMap: { TableName: tableName, ...index },
        statistic: 'Sum',
        period,
      }),
  );
}
