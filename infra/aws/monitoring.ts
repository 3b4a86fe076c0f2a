import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  SearchExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws, Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { chunks } from '../../shared/chunks.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import { anyOf, changesBy, hour, metricsOf, period, tableThrottles } from './metrics.ts';
import type { Options } from './options.ts';

export interface MonitoringProps {
  api: Api;
  background: Background;
  table: ITable;
  options: Options;
}

/** Most metrics of one alarm in CloudWatch. */
const perAlarm = 10;

/**
 * Limits of each consumer: the largest delay, and the routes whose every success writes a record
 * for it.
 */
const consumerLimits: Readonly<Record<string, { behind: Duration; fedBy: readonly string[] }>> = {
  'update-aggregates': { behind: Duration.minutes(5), fedBy: ['create-review'] },
  // Erasing a large account takes a while.
  eraser: { behind: Duration.hours(1), fedBy: ['delete-review', 'delete-me'] },
};

/** A dashboard, alarms, and mails about them if an address is given. */
export class Monitoring extends Construct {
  readonly #topic: Topic | undefined;

  constructor(scope: Construct, id: string, { api, background, table, options }: MonitoringProps) {
    super(scope, id);
    const { alarmMail, name } = options;
    if (alarmMail) {
      this.#topic = new Topic(this, 'Topic', { enforceSSL: true });
      this.#topic.addSubscription(new EmailSubscription(alarmMail));
      // The policy that requires TLS replaces SNS's own, which lets alarms of the account publish.
      this.#topic.grantPublish(
        new ServicePrincipal('cloudwatch.amazonaws.com', {
          conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
        }),
      );
    }

    const metrics = metricsOf(this, { api, background, table, name });
    const { requests, clientErrors, serverErrors, latencies, conflicts, iteratorAges } = metrics;
    const { jobErrors, deadLetters, authorizerFailures, throttled, tooMany, consumed } = metrics;

    this.#alarm('ServerErrors', {
      metric: new MathExpression({
        expression: '100 * errors / requests',
        usingMetrics: { errors: serverErrors, requests },
        period,
        label: 'Requests with a 5xx response, per cent',
      }),
      threshold: 1,
      evaluationPeriods: 2,
      alarmDescription: 'More than 1 % of the requests have a 5xx response',
    });
    for (const [i, group] of chunks(latencies, perAlarm).entries()) {
      this.#alarm(`Latency${i + 1}`, {
        metric: anyOf(group, 'The slowest route, p99 in ms'),
        threshold: 2000,
        evaluationPeriods: 3,
        alarmDescription: `The slowest 1 % of requests take over 2 s at one of these routes: ${group.map(({ label }) => label).join(', ')}`,
      });
    }
    this.#alarm('Throttles', {
      metric: throttled,
      threshold: 10,
      evaluationPeriods: 2,
      alarmDescription:
        'Requests fail because the functions need more concurrent executions than the quota of this account allows',
    });
    this.#alarm('TooManyRequests', {
      metric: tooMany,
      threshold: 100,
      evaluationPeriods: 2,
      alarmDescription:
        'Many requests have a 429 response: there is a flood of requests, or `rateLimit` is too low',
    });
    this.#alarm('TransactionConflicts', {
      metric: conflicts,
      threshold: 300,
      evaluationPeriods: 3,
      alarmDescription:
        'More than one write a second conflicts with another write. This is the first sign of too much traffic to a review, an author or an entity',
    });
    for (const kind of ['Read', 'Write'] as const) {
      this.#alarm(`Table${kind}Throttles`, {
        metric: anyOf(tableThrottles(table, kind), `${kind}s throttled`),
        threshold: 0,
        evaluationPeriods: 2,
        alarmDescription: `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index: one partition has too much traffic, or a quota is reached`,
      });
    }
    for (const [i, { node, lambda }] of background.consumers.entries()) {
      const limits = consumerLimits[node.id];
      const age = iteratorAges[i];
      if (!limits || !age) throw new Error(`consumerLimits has no entry for ${node.id}`);
      this.#alarm(`IteratorAge-${node.id}`, {
        metric: age,
        threshold: limits.behind.toMilliseconds(),
        evaluationPeriods: 2,
        alarmDescription: `${node.id} is over ${limits.behind.toHumanString()} behind the stream`,
      });
      // Its own metrics do not show that it is off. They are missing then, as when there is nothing
      // to do.
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
        // Within the day that the stream keeps records. Two hours, because one hour may end between
        // a change and its processing.
        evaluationPeriods: 24,
        datapointsToAlarm: 2,
        alarmDescription: `There were changes, but ${node.id} was not called: its event source mapping is disabled or broken. Repair it within a day, because the stream then drops its records`,
      });
    }
    this.#alarm('DeadLetters', {
      metric: deadLetters,
      threshold: 0,
      evaluationPeriods: 1,
      alarmDescription:
        'A stream record or a daily job failed for good. The message names the function, and infra/aws/README.md says what to do',
    });
    this.#alarm('AuthorizerFailures', {
      metric: authorizerFailures,
      threshold: 5,
      evaluationPeriods: 1,
      alarmDescription: 'The authorizer fails: requests with a token have a 5xx response',
    });
    for (const errors of jobErrors) {
      this.#alarm(`Errors-${errors.label}`, {
        metric: errors,
        threshold: 0,
        evaluationPeriods: 1,
        alarmDescription: `${errors.label} failed; AWS retries it twice`,
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
        // An alarm may cover a day with periods below an hour, and a week with longer periods.
        evaluationPeriods: 26,
        treatMissingData: TreatMissingData.BREACHING,
        alarmDescription: `${node.id} has not run for 26 hours: its rule is disabled or broken. A new service is in this state until its first night`,
      });
    }

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

function graph(title: string, left: IMetric[], right: IMetric[] = []): GraphWidget {
  return new GraphWidget({ title, left, right, width: 12, height: 6 });
}
