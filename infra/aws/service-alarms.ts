import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { anyOf, type Metrics, period, tableThrottles } from './metrics.ts';
import type { Ringing } from './ringing.ts';

/** Returns the alarms about what makes people wait, and about what may become an outage. */
export function serviceAlarms(metrics: Metrics, table: ITable): Ringing[] {
  const { slow, requests } = metrics;
  return [
    {
      id: 'Latency',
      urgency: 'ticket',
      metric: metrics.latency,
      description: 'The slowest 1 % of all requests take over 2 s',
      threshold: 2000,
      periods: 3,
    },
    {
      id: 'SlowRequests',
      urgency: 'ticket',
      // The slowest 1 % of all requests do not show a route that few requests ask for.
      metric: new MathExpression({
        expression: 'IF(slow > requests / 1000, slow, 0)',
        usingMetrics: { slow, requests },
        period,
        label: 'Requests of 2 s or more',
      }),
      description:
        'More than 10 requests in 5 minutes take 2 s or more. The dashboard shows their routes',
      threshold: 10,
      periods: 3,
    },
    {
      id: 'Throttles',
      urgency: 'ticket',
      metric: metrics.throttled,
      description:
        'Requests fail because the functions need more concurrent executions than the quota of this account allows',
      threshold: 10,
    },
    {
      id: 'TooManyRequests',
      urgency: 'ticket',
      metric: metrics.tooMany,
      description:
        'Many requests have a 429 response: there is a flood of requests, or `rateLimit` is too low',
      threshold: 100,
    },
    {
      id: 'TransactionConflicts',
      urgency: 'ticket',
      metric: metrics.conflicts,
      description:
        'More than one write a second conflicts with another write. This is the first sign of too much traffic to a review, an author or an entity',
      threshold: 300,
      periods: 3,
    },
    ...(['Read', 'Write'] as const).flatMap((kind) =>
      (['date', 'popularity'] as const).map(
        (order): Ringing => ({
          id: `Table${kind}Throttles${order === 'date' ? '' : 'ByPopularity'}`,
          urgency: 'ticket',
          metric: anyOf(tableThrottles(table, kind, order), `${kind}s throttled`),
          description: `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index by ${order}: one partition has too much traffic, or a quota is reached`,
          threshold: 0,
        }),
      ),
    ),
    {
      id: 'OverBudget',
      urgency: 'ticket',
      metric: metrics.overBudget,
      description:
        'A request was ended because it had read more of the table than its route may. Such data should not exist',
      threshold: 0,
      periods: 1,
    },
    {
      id: 'OldestCase',
      urgency: 'ticket',
      metric: metrics.oldestCase,
      description: 'A reported review or an appeal has waited for a decision for three days',
      threshold: 72,
      periods: 1,
    },
  ];
}
