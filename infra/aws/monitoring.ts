import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { schedules } from '../../shared/background/schedules.ts';
import { alarmTopic } from './alarm-topic.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';
import { anyOf, changesBy, hour, metricsOf, period, tableThrottles } from './metrics.ts';
import type { Options } from './options.ts';

/** The largest delay of each consumer, and the routes whose every success makes a record for it. */
const consumerLimits: Readonly<Record<string, { behind: Duration; fedBy: readonly string[] }>> = {
  'update-aggregates': { behind: Duration.minutes(5), fedBy: ['create-review'] },
  // Erasing a large account takes a while.
  eraser: { behind: Duration.hours(1), fedBy: ['delete-review', 'delete-me'] },
};

/**
 * Shares of failed requests, in per cent, that ring. One request in a thousand may fail in a month.
 * Within an hour, failures may be 14.4 times as many (all of a month's in two days). Within six
 * hours, three times as many (all of a month's in ten days).
 */
const burnRates = [
  { id: 'ErrorsOfAnHour', hours: Duration.hours(1), budget: 1.44 },
  { id: 'ErrorsOfSixHours', hours: Duration.hours(6), budget: 0.3 },
];

/** A dashboard, alarms, and mails about them if an address is given. */
export class Monitoring extends Construct {
  readonly #topic: Topic | undefined;

  constructor(
    scope: Construct,
    id: string,
    props: { api: Api; background: Background; table: ITable; options: Options },
  ) {
    super(scope, id);
    const { background, table } = props;
    const { alarmMail, name } = props.options;
    if (alarmMail) this.#topic = alarmTopic(this, alarmMail);

    const metrics = metricsOf(this, props, name);
    const { requests, clientErrors, serverErrors, conflicts, iteratorAges } = metrics;
    const { latency, integrationLatency, slow } = metrics;
    const { jobErrors, deadLetters, authorizerFailures, throttled, tooMany, consumed } = metrics;

    for (const { id, hours, budget } of burnRates) {
      const failed = new cloudwatch.MathExpression({
        // Two failures of forty requests at night are no reason to wake somebody.
        expression: 'IF(requests >= 20 AND errors >= 5, 100 * errors / requests, 0)',
        usingMetrics: { errors: serverErrors, requests },
        period: hours,
        label: 'Requests with a 5xx response, per cent',
      });
      this.#alarm(id, failed, {
        alarmDescription: `More than ${budget} % of the requests of ${hours.toHumanString()} have a 5xx response`,
        threshold: budget,
        evaluationPeriods: 1,
      });
    }
    this.#alarm('Latency', latency, {
      alarmDescription: 'The slowest 1 % of all requests take over 2 s',
      threshold: 2000,
      evaluationPeriods: 3,
    });
    // The slowest 1 % of all requests do not show a route that few requests ask for.
    const manySlow = new cloudwatch.MathExpression({
      expression: 'IF(slow > requests / 1000, slow, 0)',
      usingMetrics: { slow, requests },
      period,
      label: 'Requests of 2 s or more',
    });
    this.#alarm('SlowRequests', manySlow, {
      alarmDescription:
        'More than 10 requests in 5 minutes take 2 s or more. The dashboard shows their routes',
      threshold: 10,
      evaluationPeriods: 3,
    });
    this.#alarm('Throttles', throttled, {
      alarmDescription:
        'Requests fail because the functions need more concurrent executions than the quota of this account allows',
      threshold: 10,
    });
    this.#alarm('TooManyRequests', tooMany, {
      alarmDescription:
        'Many requests have a 429 response: there is a flood of requests, or `rateLimit` is too low',
      threshold: 100,
    });
    this.#alarm('TransactionConflicts', conflicts, {
      alarmDescription:
        'More than one write a second conflicts with another write. This is the first sign of too much traffic to a review, an author or an entity',
      threshold: 300,
      evaluationPeriods: 3,
    });
    this.#alarm('OldestCase', metrics.oldestCase, {
      alarmDescription: 'A reported review or an appeal has waited for a decision for three days',
      threshold: 72,
      evaluationPeriods: 1,
    });
    for (const kind of ['Read', 'Write'] as const) {
      const throttles = anyOf(tableThrottles(table, kind), `${kind}s throttled`);
      this.#alarm(`Table${kind}Throttles`, throttles, {
        alarmDescription: `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index: one partition has too much traffic, or a quota is reached`,
        threshold: 0,
      });
    }
    for (const [i, { node, lambda }] of background.consumers.entries()) {
      const limits = consumerLimits[node.id];
      const age = iteratorAges[i];
      if (!limits || !age) throw new Error(`consumerLimits has no entry for ${node.id}`);
      this.#alarm(`IteratorAge-${node.id}`, age, {
        alarmDescription: `${node.id} is over ${limits.behind.toHumanString()} behind the stream`,
        threshold: limits.behind.toMilliseconds(),
      });
      // Its own metrics do not show that it is off: they are missing then, as without changes.
      const changes = Object.fromEntries(
        limits.fedBy.map((operation, i) => [`changes${i}`, changesBy(name, operation)]),
      );
      const none = new cloudwatch.MathExpression({
        expression: `0 * MAX([${Object.keys(changes)}])`,
        usingMetrics: changes,
        period: hour,
      });
      const invocations = lambda.metricInvocations({ statistic: 'Sum', period: hour });
      const calls = new cloudwatch.MathExpression({
        expression: 'MAX([none, invocations])',
        usingMetrics: { none, invocations },
        period: hour,
        label: `Calls of ${node.id} where there were changes`,
      });
      this.#alarm(`Unfollowed-${node.id}`, calls, {
        alarmDescription: `There were changes, but ${node.id} was not called: its event source mapping is disabled or broken. Repair it within a day, because the stream then drops its records`,
        threshold: 1,
        comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        // Within the day that the stream keeps records. Two hours, because one hour may end between
        // a change and its processing.
        evaluationPeriods: 24,
        datapointsToAlarm: 2,
      });
    }
    this.#alarm('DeadLetters', deadLetters, {
      alarmDescription:
        'A stream record or a daily job failed for good. The message names the function, and infra/aws/alarms.md says what to do',
      threshold: 0,
      evaluationPeriods: 1,
    });
    this.#alarm('AuthorizerFailures', authorizerFailures, {
      alarmDescription: 'The authorizer fails: requests with a token have a 5xx response',
      threshold: 5,
      evaluationPeriods: 1,
    });
    this.#alarm('LateWebhooks', metrics.lateWebhooks, {
      alarmDescription:
        'A change waits for over 5 minutes for a webhook, although its receiver answers',
      threshold: 0,
    });
    for (const errors of jobErrors) {
      this.#alarm(`Errors-${errors.label}`, errors, {
        alarmDescription: `${errors.label} failed; the run is repeated`,
        threshold: 0,
        evaluationPeriods: 1,
      });
    }
    for (const { node, lambda } of background.jobs) {
      const isDaily = schedules.some(
        ({ operation, runs }) => operation === node.id && runs !== 'every minute',
      );
      const missed = isDaily
        ? 'for 26 hours: its rule is disabled or broken. A new service is in this state until its first night'
        : 'for an hour: its rule is disabled or broken';
      const runs = new cloudwatch.MathExpression({
        expression: 'FILL(runs, 0)',
        usingMetrics: { runs: lambda.metricInvocations({ statistic: 'Sum', period: hour }) },
        period: hour,
        label: `Runs of ${node.id}`,
      });
      this.#alarm(`NotRun-${node.id}`, runs, {
        alarmDescription: `${node.id} has not run ${missed}`,
        threshold: 1,
        comparisonOperator: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        // An alarm may cover a day with periods below an hour, and a week with longer periods.
        evaluationPeriods: isDaily ? 26 : 1,
        treatMissingData: cloudwatch.TreatMissingData.BREACHING,
      });
    }

    const by = (dimension: 'Route' | 'Operation', metricName: string) => {
      const expression = `SEARCH('{"${name}",${dimension}} MetricName="${metricName}"', 'Sum', 300)`;
      return new cloudwatch.SearchExpression({ expression, period });
    };
    const trouble = [throttled, tooMany, conflicts, deadLetters, authorizerFailures, ...jobErrors];
    new cloudwatch.Dashboard(this, 'Dashboard', {
      widgets: [
        [
          graph('Requests', [requests], [clientErrors, serverErrors]),
          graph('Slowest one in a hundred, ms', [latency, integrationLatency]),
        ],
        [
          graph('Requests of 2 s or more', [by('Route', 'SlowRequests')]),
          graph('Busy (503), refused sign-ins', [by('Route', 'Busy')], [metrics.refusedSignIns]),
        ],
        [graph('Changes', [by('Route', 'Changes')]), graph('Request units of the table', consumed)],
        [graph('Behind the stream, ms', iteratorAges), graph('Trouble', trouble)],
        [
          graph('Writes repeated because of conflicts', [by('Operation', 'Retries')]),
          graph('Oldest open case, hours', [metrics.oldestCase]),
        ],
      ],
    });
  }

  /** Adds an alarm for two periods above the threshold, unless `props` say otherwise. */
  #alarm(
    id: string,
    metric: cloudwatch.IMetric,
    props: { alarmDescription: string; threshold: number } & Partial<cloudwatch.AlarmProps>,
  ) {
    const alarm = new cloudwatch.Alarm(this, id, {
      metric,
      evaluationPeriods: 2,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
      ...props,
    });
    if (this.#topic) alarm.addAlarmAction(new SnsAction(this.#topic));
  }
}

function graph(title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []) {
  return new cloudwatch.GraphWidget({ title, left, right, width: 12, height: 6 });
}
