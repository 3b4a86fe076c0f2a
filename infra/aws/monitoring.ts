import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
  SearchExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws, Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { chunks } from '../../shared/chunks.ts';
import { resourceOf } from '../../shared/http/match-route.ts';
import { type Route, routes } from '../../shared/routes.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import type { Options } from './options.ts';
import type { TableFunction } from './table-function.ts';

export interface MonitoringProps {
  api: Api;
  background: Background;
  table: ITable;
  options: Options;
}

const period = Duration.minutes(5);
const hour = Duration.hours(1);
/** CloudWatch takes so many metrics in one alarm. */
const perAlarm = 10;

/** How each consumer is watched: how far behind it may be, and routes whose every success is in its part of the stream. */
const consumerLimits: Readonly<Record<string, { behind: Duration; fedBy: readonly string[] }>> = {
  'update-aggregates': { behind: Duration.minutes(5), fedBy: ['create-review'] },
  // The erasure of a large account takes its time.
  eraser: { behind: Duration.hours(1), fedBy: ['delete-review', 'delete-me'] },
};

/** What tells an operator how the service is: a dashboard, alarms, and their mail where an address is given. */
export class Monitoring extends Construct {
  readonly #topic: Topic | undefined;

  constructor(scope: Construct, id: string, { api, background, table, options }: MonitoringProps) {
    super(scope, id);
    const { alarmMail, name } = options;
    if (alarmMail) {
      this.#topic = new Topic(this, 'Topic', { enforceSSL: true });
      this.#topic.addSubscription(new EmailSubscription(alarmMail));
      // The policy that demands TLS takes the place of SNS's own, which lets alarms of the account publish.
      this.#topic.grantPublish(
        new ServicePrincipal('cloudwatch.amazonaws.com', {
          conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
        }),
      );
    }

    // Every success of a route that changes something is an event of the domain: a review published, a vote cast, a token made.
    const changes = FilterPattern.literal(
      '{ $.status < 400 && $.method != "GET" && $.method != "HEAD" && $.method != "OPTIONS" }',
    );
    new MetricFilter(this, 'ChangesLogged', {
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
      new MetricFilter(this, id, {
        logGroup,
        filterPattern: FilterPattern.literal(pattern),
        metricNamespace: name,
        metricName,
      }).metric({ statistic: 'Sum', period });

    // Not those of API Gateway: one is the 503 of a query string that is too long, which any client can send. The functions of bulk lookups
    // make it without a word in their logs, where they tell of every failure; what API Gateway answers instead has an error.
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
    // Not the Errors of its Lambda: to refuse a token is one as well.
    const authorizerFailures = logged('AuthorizerFailures', '{ $.error = "AUTHORIZER_*" }');
    // Not those of Lambda: they are of the whole account, or a metric for each function.
    const throttled = logged(
      'Throttles',
      '{ $.lambdaStatus = "429" || $.authorizerLambdaStatus = "429" }',
    );
    const tooMany = logged('TooManyRequests', '{ $.status = 429 }');

    const requests = api.restApi.metricCount({ period });
    const clientErrors = api.restApi.metricClientError({ statistic: 'Sum', period });
    const latencies = routes.map(({ operation }) =>
      functionOf(api, operation).metricDuration({ statistic: 'p99', period, label: operation }),
    );
    const conflicts = table.metric('TransactionConflict', { statistic: 'Sum', period });
    const iteratorAges = background.consumers.map(({ node, lambda }) =>
      lambda.metric('IteratorAge', { statistic: 'Maximum', period, label: node.id }),
    );
    const jobErrors = background.jobs.map(({ node, lambda }) =>
      lambda.metricErrors({ statistic: 'Sum', period, label: node.id }),
    );
    const deadLetters = background.deadLetters.metricApproximateNumberOfMessagesVisible({
      statistic: 'Maximum',
      period,
    });

    this.#alarm('ServerErrors', {
      metric: new MathExpression({
        expression: '100 * errors / requests',
        usingMetrics: { errors: serverErrors, requests },
        period,
        label: 'Requests answered 5xx, per cent',
      }),
      threshold: 1,
      evaluationPeriods: 2,
      alarmDescription: 'More than 1 % of the requests are answered 5xx',
    });
    for (const [i, group] of chunks(latencies, perAlarm).entries()) {
      this.#alarm(`Latency${i + 1}`, {
        metric: anyOf(group, 'The slowest route, p99 in ms'),
        threshold: 2000,
        evaluationPeriods: 3,
        alarmDescription: `One in a hundred requests takes over 2 s at one of: ${group.map(({ label }) => label).join(', ')}`,
      });
    }
    this.#alarm('Throttles', {
      metric: throttled,
      threshold: 10,
      evaluationPeriods: 2,
      alarmDescription:
        'Requests fail because the functions of this account need more concurrent executions than its quota',
    });
    this.#alarm('TooManyRequests', {
      metric: tooMany,
      threshold: 100,
      evaluationPeriods: 2,
      alarmDescription:
        'Requests are answered 429: a flood, or `rateLimit` is too low for the service',
    });
    this.#alarm('TransactionConflicts', {
      metric: conflicts,
      threshold: 300,
      evaluationPeriods: 3,
      alarmDescription:
        'More than one write a second meets another of the same items: the first sign of a review, an author or an entity that is too busy',
    });
    for (const kind of ['Read', 'Write'] as const) {
      this.#alarm(`Table${kind}Throttles`, {
        metric: anyOf(tableThrottles(table, kind), `${kind}s throttled`),
        threshold: 0,
        evaluationPeriods: 2,
        alarmDescription: `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index: one partition is too hot, or a quota is met`,
      });
    }
    for (const [i, { node, lambda }] of background.consumers.entries()) {
      const limits = consumerLimits[node.id];
      const age = iteratorAges[i];
      if (!limits || !age) throw new Error(`${node.id} is not watched`);
      this.#alarm(`IteratorAge-${node.id}`, {
        metric: age,
        threshold: limits.behind.toMilliseconds(),
        evaluationPeriods: 2,
        alarmDescription: `${node.id} is over ${limits.behind.toHumanString()} behind the stream`,
      });
      // Its own metrics say nothing when it is off: they are missing then, as they are when there is nothing to do.
      const changed = limits.fedBy.map((operation) => changesBy(name, operation));
      this.#alarm(`Unfollowed-${node.id}`, {
        metric: new MathExpression({
          expression: 'MAX([none, invocations])',
          usingMetrics: {
            none: new MathExpression({
              expression: `0 * MAX([${changed.map((_, i) => `changes${i}`)}])`,
              usingMetrics: Object.fromEntries(changed.map((metric, i) => [`changes${i}`, metric])),
              period: hour,
            }),
            invocations: lambda.metricInvocations({ statistic: 'Sum', period: hour }),
          },
          period: hour,
          label: `Calls of ${node.id} where there were changes`,
        }),
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        threshold: 1,
        // Within the day that the stream remembers. One hour alone may end between a change and what follows it.
        evaluationPeriods: 24,
        datapointsToAlarm: 2,
        alarmDescription: `Something changed, but ${node.id} was not called: its event source mapping is disabled or broken, and the stream forgets after a day`,
      });
    }
    this.#alarm('DeadLetters', {
      metric: deadLetters,
      threshold: 0,
      evaluationPeriods: 1,
      alarmDescription:
        'A stream record or a daily job was given up: the message says of which function, and infra/aws/README.md what to do',
    });
    this.#alarm('AuthorizerFailures', {
      metric: authorizerFailures,
      threshold: 5,
      evaluationPeriods: 1,
      alarmDescription: 'The authorizer fails: whoever sends a token is answered 5xx',
    });
    for (const errors of jobErrors) {
      this.#alarm(`Errors-${errors.label}`, {
        metric: errors,
        threshold: 0,
        evaluationPeriods: 1,
        alarmDescription: `${errors.label} failed; it is tried twice more`,
      });
    }
    for (const { node, lambda } of background.jobs) {
      this.#alarm(`NotRun-${node.id}`, {
        metric: new MathExpression({
          expression: 'FILL(runs, 0)',
          usingMetrics: { runs: lambda.metricInvocations({ statistic: 'Sum', period: hour }) },
          period: hour,
          label: `Runs of ${node.id}`,
        }),
        comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
        threshold: 1,
        // An alarm may look back for a day at periods below an hour, and for a week at longer ones.
        evaluationPeriods: 26,
        treatMissingData: TreatMissingData.BREACHING,
        alarmDescription: `${node.id} has not run for 26 hours: its rule is disabled or broken, or the service is so new that its first night is to come`,
      });
    }

    const consumed = (['Read', 'Write'] as const).map((kind) =>
      table.metric(`Consumed${kind}CapacityUnits`, { statistic: 'Sum', period }),
    );
    new Dashboard(this, 'Dashboard', {
      widgets: [
        [
          graph('Requests', [requests], [clientErrors, serverErrors]),
          graph('Slowest one in a hundred, ms', latencies),
        ],
        [
          graph('Changes', [
            new SearchExpression({
              expression: `SEARCH('{"${name}",Route} MetricName="Changes"', 'Sum', 300)`,
              period,
            }),
          ]),
          graph('Request units of the table', consumed),
        ],
        [
          graph('Behind the stream, ms', iteratorAges),
          graph('Trouble', [
            throttled,
            tooMany,
            conflicts,
            deadLetters,
            authorizerFailures,
            ...jobErrors,
          ]),
        ],
      ],
    });
  }

  #alarm(id: string, props: AlarmProps): void {
    const alarm = new Alarm(this, id, {
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
    });
    if (this.#topic) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
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

/** How often a route changed something, in an hour. */
function changesBy(name: string, operation: string): Metric {
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
function anyOf(metrics: readonly IMetric[], label: string): MathExpression {
  const ids = metrics.map((_, i) => `m${i}`);
  return new MathExpression({
    expression: `MAX([${ids}])`,
    usingMetrics: Object.fromEntries(metrics.map((metric, i) => [`m${i}`, metric])),
    period,
    label,
  });
}

/** Of the table itself and of each index: an index that is throttled holds up the writes of the table. */
function tableThrottles({ tableName }: ITable, kind: 'Read' | 'Write'): Metric[] {
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

function graph(title: string, left: IMetric[], right: IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left, right, width: 12, height: 6 });
}
