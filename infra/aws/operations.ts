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
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws, Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { routes } from '../../shared/routes.ts';
import { tableDefinition } from '../../shared/table/definition.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import type { Options } from './options.ts';

export interface OperationsProps {
  api: Api;
  background: Background;
  table: ITable;
  options: Options;
}

const period = Duration.minutes(5);
/** CloudWatch takes so many metrics in one alarm. */
const perAlarm = 10;

/** What tells an operator how the service is: a dashboard, alarms, and their mail where an address is given. */
export class Operations extends Construct {
  readonly #topic: Topic | undefined;

  constructor(scope: Construct, id: string, { api, background, table, options }: OperationsProps) {
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
      '{ $.status < 400 && $.method != "GET" && $.method != "OPTIONS" }',
    );
    new MetricFilter(this, 'ChangesLogged', {
      logGroup: api.accessLog,
      filterPattern: changes,
      metricNamespace: name,
      metricName: 'Changes',
      dimensions: { Route: '$.route' },
    });
    // Not the Errors of its Lambda: to refuse a token is one as well.
    const authorizerFailures = new MetricFilter(this, 'AuthorizerFailuresLogged', {
      logGroup: api.accessLog,
      filterPattern: FilterPattern.literal('{ $.error = "AUTHORIZER_*" }'),
      metricNamespace: name,
      metricName: 'AuthorizerFailures',
    }).metric({ statistic: 'Sum', period });

    const requests = api.restApi.metricCount({ period });
    const serverErrors = api.restApi.metricServerError({ statistic: 'Sum', period });
    const clientErrors = api.restApi.metricClientError({ statistic: 'Sum', period });
    const latencies = routes.map(({ operation }) => {
      const route = api.functions.get(operation);
      if (!route) throw new Error(`${operation} has no function`);
      return route.lambda.metricDuration({ statistic: 'p99', period, label: operation });
    });
    const throttled = new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'Throttles',
      statistic: 'Sum',
      period,
    });
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
      threshold: 0,
      evaluationPeriods: 1,
      alarmDescription:
        'The functions of this account need more concurrent executions than its quota',
    });
    for (const kind of ['Read', 'Write'] as const) {
      this.#alarm(`Table${kind}Throttles`, {
        metric: anyOf(tableThrottles(table, kind), `${kind}s throttled`),
        threshold: 0,
        evaluationPeriods: 2,
        alarmDescription: `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index: one partition is too hot, or a quota is met`,
      });
    }
    for (const age of iteratorAges) {
      this.#alarm(`IteratorAge-${age.label}`, {
        metric: age,
        threshold: Duration.minutes(5).toMilliseconds(),
        evaluationPeriods: 2,
        alarmDescription: `${age.label} is over 5 minutes behind the stream`,
      });
    }
    this.#alarm('DeadLetters', {
      metric: deadLetters,
      threshold: 0,
      evaluationPeriods: 1,
      alarmDescription:
        'A stream record or a daily job was given up: find out why, then `admin feed rebuild`, and purge the queue',
    });
    this.#alarm('AuthorizerFailures', {
      metric: authorizerFailures,
      threshold: 0,
      evaluationPeriods: 1,
      alarmDescription: 'The authorizer fails: whoever sends a token is answered 500',
    });
    for (const errors of jobErrors) {
      this.#alarm(`Errors-${errors.label}`, {
        metric: errors,
        threshold: 0,
        evaluationPeriods: 1,
        alarmDescription: `${errors.label} failed; it is tried twice more`,
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
              expression: `SEARCH('{${name},Route} MetricName="Changes"', 'Sum', 300)`,
              period,
            }),
          ]),
          graph('Request units of the table', consumed),
        ],
        [
          graph('Behind the stream, ms', iteratorAges),
          graph('Trouble', [throttled, deadLetters, authorizerFailures, ...jobErrors]),
        ],
      ],
    });
  }

  #alarm(id: string, props: Omit<AlarmProps, 'comparisonOperator' | 'treatMissingData'>): void {
    const alarm = new Alarm(this, id, {
      ...props,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    if (this.#topic) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
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

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
    all.slice(i * size, (i + 1) * size),
  );
}
