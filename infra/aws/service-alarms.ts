import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { anyOf, type Metrics, period, tableThrottles } from './metrics.ts';
import type { Ringing } from './ringing.ts';

/**
 * Requests a second of one client, as a server allows by default (CLIENT_RATE_LIMIT). The firewall
 * allows half. One client alone rings no alarm at this rate. Its own requests feel the limits.
 */
export const clientRate = 20;

/** Returns the alarms about what makes people wait, and about what may become an outage. */
export function serviceAlarms(metrics: Metrics, table: ITable): Ringing[] {
  const { slow, requests } = metrics;
  return [
    {
      id: 'SlowRequests',
      urgency: 'ticket',
      metric: new MathExpression({
        expression: 'IF(slow > requests / 1000, slow, 0)',
        usingMetrics: { slow, requests },
        period,
        label: 'Reads of 2 s or more',
      }),
      description:
        'More than 10 reads in 5 minutes take 2 s or more. The dashboard shows their routes',
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
        'Many requests have a 429 response: more clients than one are refused, so `rateLimit` is too low, or there is a flood',
      threshold: clientRate * period.toSeconds(),
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
