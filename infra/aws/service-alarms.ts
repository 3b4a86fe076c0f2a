import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Duration } from 'aws-cdk-lib/core';
import { anyOf, hour, type Metrics, period, tableThrottles } from './metrics.ts';
import type { Options } from './options.ts';
import type { Ringing } from './ringing.ts';

/**
 * Requests a second of one client, as a server allows by default (CLIENT_RATE_LIMIT). The firewall
 * allows half. One client alone rings no alarm at this rate. Its own requests feel the limits.
 */
const clientRate = 20;

/** Returns the alarms about what makes people wait, and about what may become an outage. */
export function serviceAlarms(
  metrics: Metrics,
  table: ITable,
  { budget, domain, cdn }: Pick<Options, 'budget' | 'domain' | 'cdn'>,
  mailed: IMetric | undefined,
): Ringing[] {
  const { slow, requests } = metrics;
  return [
    ...(budget ? [spend(metrics, budget.dollars)] : []),
    // With `cdn` the certificate is in us-east-1, and so is its alarm.
    ...(domain && !cdn ? [expiry(domain.certificateArn)] : []),
    ...(mailed ? [signUpMails(mailed)] : []),
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
    throttles(table, 'Read', 'date'),
    throttles(table, 'Read', 'popularity'),
    throttles(table, 'Write', 'date'),
    throttles(table, 'Write', 'popularity'),
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

/** Tells of throttling of the table with its indexes by date, or of those by popularity. */
function throttles(table: ITable, kind: 'Read' | 'Write', order: 'date' | 'popularity'): Ringing {
  return {
    id: `Table${kind}Throttles${order === 'date' ? '' : 'ByPopularity'}`,
    urgency: 'ticket',
    metric: anyOf(tableThrottles(table, kind, order), `${kind}s throttled`),
    description: `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index by ${order}: one partition has too much traffic, or a quota is reached`,
    threshold: 0,
  };
}

/**
 * US dollars for a request with its log and its function, and for a unit of the table. Indexes add
 * about as many units of writing again. Prices of us-east-1; others differ by a fifth.
 */
const dollarsFor = { request: 0.0000041, read: 0.000000125, write: 0.00000125 };

/** Hours of a month that the budget would last for if the alarm rings: three days. */
const exhausted = 72;

/**
 * Tells within an hour of a cost that would use up the monthly budget in three days. AWS Budgets
 * lag by up to a day. Unlike other alarms it depends on clients, because they make the cost.
 */
function spend({ requests, consumed: [reads, writes] }: Metrics, budget: number): Ringing {
  const { request, read, write } = dollarsFor;
  const plain = (dollars: number) => dollars.toFixed(9);
  return {
    id: 'Spend',
    urgency: 'ticket',
    metric: new MathExpression({
      expression: `FILL(requests, 0) * ${plain(request)} + FILL(reads, 0) * ${plain(read)} + FILL(writes, 0) * ${plain(write)}`,
      usingMetrics: { requests, ...(reads && writes && { reads, writes }) },
      period: hour,
      label: 'Dollars of an hour, about',
    }),
    description: `The service costs so much an hour that the budget of $${budget} a month would last for ${exhausted} hours`,
    threshold: budget / exhausted,
    periods: 1,
  };
}

/**
 * Cognito sends 50 mails a day from its own address, and nothing counts them. Most go to people who
 * sign up, and some to those who have forgotten a password. Then nobody gets a code any more. Like
 * `Spend` it depends on clients, because they use up what all share.
 */
function signUpMails(metric: IMetric): Ringing {
  return {
    id: 'SignUpMails',
    urgency: 'ticket',
    metric,
    description:
      'Over 30 people have signed up in a day. Cognito sends 50 mails a day, and then nobody new can sign up: set `mailFrom`',
    threshold: 30,
    periods: 1,
  };
}

/** AWS renews a certificate 60 days before its end, if its DNS records still allow it. */
export function expiry(CertificateArn: string): Ringing {
  return {
    id: 'CertificateExpiry',
    urgency: 'ticket',
    metric: new Metric({
      namespace: 'AWS/CertificateManager',
      metricName: 'DaysToExpiry',
      dimensionsMap: { CertificateArn },
      statistic: 'Minimum',
      period: Duration.days(1),
    }),
    description: 'The certificate of the domain expires within 30 days, and was not renewed',
    threshold: 30,
    isBelow: true,
    periods: 1,
  };
}
