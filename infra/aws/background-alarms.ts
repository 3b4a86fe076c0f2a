import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import { schedules } from '../../shared/background/schedules.ts';
import type { Background } from './background.ts';
import { changesBy, hour, type Metrics, period } from './metrics.ts';
import type { Ringing } from './ringing.ts';
import type { TableFunction } from './table-function.ts';

// Alarms about the consumers of the stream, the jobs by the clock, and webhooks.

/** The largest delay of each consumer, and the routes whose every success makes a record for it. */
const consumerLimits: Readonly<Record<string, { behind: Duration; fedBy: readonly string[] }>> = {
  'update-aggregates': { behind: Duration.minutes(5), fedBy: ['create-review'] },
  // Erasing a large account takes a while.
  eraser: { behind: Duration.hours(1), fedBy: ['delete-review', 'delete-me'] },
};

/** Returns the alarms about everything that runs behind requests, of the service with this name. */
export function backgroundAlarms(
  metrics: Metrics,
  background: Background,
  name: string,
): Ringing[] {
  return [
    ...background.consumers.flatMap((consumer) => consumerAlarms(consumer, name)),
    ...background.jobs.flatMap(jobAlarms),
    {
      id: 'DeadLetters',
      urgency: 'ticket',
      metric: metrics.deadLetters,
      description:
        'A stream record or a daily job failed for good. The message names the function, and infra/aws/alarms.md says what to do',
      threshold: 0,
      periods: 1,
    },
    {
      id: 'FailingWebhooks',
      urgency: 'ticket',
      metric: metrics.failingWebhooks,
      description:
        'The webhooks of most owners fail, so the reason is probably here: after five days they are turned off',
      // Of the runs of every minute.
      threshold: 2,
      periods: 3,
    },
    {
      id: 'LateWebhooks',
      urgency: 'ticket',
      metric: metrics.lateWebhooks,
      description:
        'Changes wait for over 5 minutes for webhooks of three owners, although their receivers answer',
      threshold: 0,
    },
  ];
}

function consumerAlarms({ node, lambda }: TableFunction, name: string): Ringing[] {
  const limits = consumerLimits[node.id];
  if (!limits) throw new Error(`consumerLimits has no entry for ${node.id}`);
  // Its own metrics do not show that it is off: they are missing then, as without changes.
  const changes = Object.fromEntries(
    limits.fedBy.map((operation, i) => [`changes${i}`, changesBy(name, operation)]),
  );
  const none = new MathExpression({
    expression: `0 * MAX([${Object.keys(changes)}])`,
    usingMetrics: changes,
    period: hour,
  });
  const invocations = lambda.metricInvocations({ statistic: 'Sum', period: hour });
  return [
    {
      id: `IteratorAge-${node.id}`,
      urgency: 'ticket',
      metric: iteratorAgeOf({ node, lambda }),
      description: `${node.id} is over ${limits.behind.toHumanString()} behind the stream`,
      threshold: limits.behind.toMilliseconds(),
    },
    {
      id: `Unfollowed-${node.id}`,
      urgency: 'page',
      metric: new MathExpression({
        expression: 'MAX([none, invocations])',
        usingMetrics: { none, invocations },
        period: hour,
        label: `Calls of ${node.id} where there were changes`,
      }),
      description: `There were changes, but ${node.id} was not called: its event source mapping is disabled or broken. Repair it within a day, because the stream then drops its records`,
      threshold: 1,
      isBelow: true,
      // Within the day that the stream keeps records. Two hours, because one hour may end between a
      // change and its processing.
      periods: 2,
      of: 24,
    },
  ];
}

function jobAlarms({ node, lambda }: TableFunction): Ringing[] {
  const isDaily = schedules.some(
    ({ operation, runs }) => operation === node.id && runs !== 'every minute',
  );
  const missed = isDaily
    ? 'for 26 hours: its rule is disabled or broken. A new service is in this state until its first night'
    : 'for an hour: its rule is disabled or broken';
  const notRun: Ringing = {
    id: `NotRun-${node.id}`,
    urgency: 'ticket',
    metric: new MathExpression({
      expression: 'FILL(runs, 0)',
      usingMetrics: { runs: lambda.metricInvocations({ statistic: 'Sum', period: hour }) },
      period: hour,
      label: `Runs of ${node.id}`,
    }),
    description: `${node.id} has not run ${missed}`,
    threshold: 1,
    isBelow: true,
    // An alarm may cover a day with periods below an hour, and a week with longer periods.
    periods: isDaily ? 26 : 1,
    isMissingBad: true,
  };
  // The daily job is repeated, and is a dead letter if it fails for good.
  if (isDaily) return [notRun];
  return [
    notRun,
    {
      id: `Errors-${node.id}`,
      urgency: 'ticket',
      metric: errorsOf({ node, lambda }),
      // The next minute repeats what failed: of five runs, three fail twice in a row.
      description: `Most runs of ${node.id} of ten minutes failed`,
      threshold: 2,
    },
  ];
}

/** Returns the delay of a consumer, in milliseconds. */
export function iteratorAgeOf({ node, lambda }: Pick<TableFunction, 'node' | 'lambda'>) {
  return lambda.metric('IteratorAge', { statistic: 'Maximum', period, label: node.id });
}

/** Returns the failed runs of a function. */
export function errorsOf({ node, lambda }: Pick<TableFunction, 'node' | 'lambda'>) {
  return lambda.metricErrors({ statistic: 'Sum', period, label: node.id });
}
