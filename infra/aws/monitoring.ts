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

/** The largest delay of each consumer, and the routes whose every success makes a record for it. */
const consumerLimits: Readonly<Record<string, { behind: Duration; fedBy: readonly string[] }>> = {
  'update-aggregates': { behind: Duration.minutes(5), fedBy: ['create-review'] },
  // Erasing a large account takes a while.
  eraser: { behind: Duration.hours(1), fedBy: ['delete-review', 'delete-me'] },
};

type Limits = Pick<AlarmProps, 'threshold'> & Partial<AlarmProps>;

/** Limits for a count that must not be zero. */
const belowOne = { threshold: 1, comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD };

/** A dashboard, alarms, and mails about them if an address is given. */
export class Monitoring extends Construct {
  readonly #topic: Topic | undefined;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    const { background, table } = props;
    const { alarmMail, name } = props.options;
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

    const metrics = metricsOf(this, props, name);
    const { requests, clientErrors, serverErrors, latencies, conflicts, iteratorAges } = metrics;
    const { jobErrors, deadLetters, authorizerFailures, throttled, tooMany, consumed } = metrics;

    const failed = new MathExpression({
      expression: '100 * errors / requests',
      usingMetrics: { errors: serverErrors, requests },
      period,
      label: 'Requests with a 5xx response, per cent',
    });
    this.#alarm(
      'ServerErrors',
      failed,
      { threshold: 1 },
      'More than 1 % of the requests have a 5xx response',
    );
    for (const [i, group] of chunks(latencies, perAlarm).entries()) {
      this.#alarm(
        `Latency${i + 1}`,
        anyOf(group, 'The slowest route, p99 in ms'),
        { threshold: 2000, evaluationPeriods: 3 },
        `The slowest 1 % of requests take over 2 s at one of these routes: ${group.map(({ label }) => label).join(', ')}`,
      );
    }
    this.#alarm(
      'Throttles',
      throttled,
      { threshold: 10 },
      'Requests fail because the functions need more concurrent executions than the quota of this account allows',
    );
    this.#alarm(
      'TooManyRequests',
      tooMany,
      { threshold: 100 },
      'Many requests have a 429 response: there is a flood of requests, or `rateLimit` is too low',
    );
    this.#alarm(
      'TransactionConflicts',
      conflicts,
      { threshold: 300, evaluationPeriods: 3 },
      'More than one write a second conflicts with another write. This is the first sign of too much traffic to a review, an author or an entity',
    );
    for (const kind of ['Read', 'Write'] as const) {
      this.#alarm(
        `Table${kind}Throttles`,
        anyOf(tableThrottles(table, kind), `${kind}s throttled`),
        { threshold: 0 },
        `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index: one partition has too much traffic, or a quota is reached`,
      );
    }
    for (const [i, { node, lambda }] of background.consumers.entries()) {
      const limits = consumerLimits[node.id];
      const age = iteratorAges[i];
      if (!limits || !age) throw new Error(`consumerLimits has no entry for ${node.id}`);
      this.#alarm(
        `IteratorAge-${node.id}`,
        age,
        { threshold: limits.behind.toMilliseconds() },
        `${node.id} is over ${limits.behind.toHumanString()} behind the stream`,
      );
      // Its own metrics do not show that it is off: they are missing then, as without changes.
      const changed = Object.fromEntries(
        limits.fedBy.map((operation, i) => [`changes${i}`, changesBy(name, operation)]),
      );
      const none = new MathExpression({
        expression: `0 * MAX([${Object.keys(changed)}])`,
        usingMetrics: changed,
        period: hour,
      });
      const invocations = lambda.metricInvocations({ statistic: 'Sum', period: hour });
      this.#alarm(
        `Unfollowed-${node.id}`,
        new MathExpression({
          expression: 'MAX([none, invocations])',
          usingMetrics: { none, invocations },
          period: hour,
          label: `Calls of ${node.id} where there were changes`,
        }),
        // Within the day that the stream keeps records. Two hours, because one hour may end between
        // a change and its processing.
        { ...belowOne, evaluationPeriods: 24, datapointsToAlarm: 2 },
        `There were changes, but ${node.id} was not called: its event source mapping is disabled or broken. Repair it within a day, because the stream then drops its records`,
      );
    }
    this.#alarm(
      'DeadLetters',
      deadLetters,
      { threshold: 0, evaluationPeriods: 1 },
      'A stream record or a daily job failed for good. The message names the function, and infra/aws/README.md says what to do',
    );
    this.#alarm(
      'AuthorizerFailures',
      authorizerFailures,
      { threshold: 5, evaluationPeriods: 1 },
      'The authorizer fails: requests with a token have a 5xx response',
    );
    for (const errors of jobErrors) {
      this.#alarm(
        `Errors-${errors.label}`,
        errors,
        { threshold: 0, evaluationPeriods: 1 },
        `${errors.label} failed; AWS retries it twice`,
      );
    }
    for (const { node, lambda } of background.jobs) {
      this.#alarm(
        `NotRun-${node.id}`,
        new MathExpression({
          expression: 'FILL(runs, 0)',
          usingMetrics: { runs: lambda.metricInvocations({ statistic: 'Sum', period: hour }) },
          period: hour,
          label: `Runs of ${node.id}`,
        }),
        // An alarm may cover a day with periods below an hour, and a week with longer periods.
        { ...belowOne, evaluationPeriods: 26, treatMissingData: TreatMissingData.BREACHING },
        `${node.id} has not run for 26 hours: its rule is disabled or broken. A new service is in this state until its first night`,
      );
    }

    const search = `SEARCH('{"${name}",Route} MetricName="Changes"', 'Sum', 300)`;
    const changes = new SearchExpression({ expression: search, period });
    const trouble = [throttled, tooMany, conflicts, deadLetters, authorizerFailures, ...jobErrors];
    new Dashboard(this, 'Dashboard', {
      widgets: [
        [
          graph('Requests', [requests], [clientErrors, serverErrors]),
          graph('Slowest one in a hundred, ms', latencies),
        ],
        [graph('Changes', [changes]), graph('Request units of the table', consumed)],
        [graph('Behind the stream, ms', iteratorAges), graph('Trouble', trouble)],
      ],
    });
  }

  /** Adds an alarm for two periods above the threshold, unless `limits` say otherwise. */
  #alarm(id: string, metric: IMetric, limits: Limits, alarmDescription: string) {
    const alarm = new Alarm(this, id, {
      metric,
      alarmDescription,
      evaluationPeriods: 2,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...limits,
    });
    if (this.#topic) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
}

function graph(title: string, left: IMetric[], right: IMetric[] = []) {
  return new GraphWidget({ title, left, right, width: 12, height: 6 });
}
