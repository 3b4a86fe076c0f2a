import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Duration } from 'aws-cdk-lib/core';
import { tableDefinition } from '../../shared/base/table/definition.ts';
import { schedules } from '../../shared/features/background.ts';
import { type Activity, activities } from './activities.ts';
import type { Background } from './background.ts';
import { day, hour, type Metrics, period, quarter } from './metrics.ts';
import type { Options } from './options.ts';
import type { TableFunction } from './table-function.ts';

/** A row of the table of alarms. alarms.md says what to do about each. */
export interface Ringing {
  id: string;
  /**
   * For a `page` somebody gets up: people cannot do what they came for, or would lose something
   * within a day. A `ticket` waits for the next working day.
   */
  urgency: 'page' | 'ticket';
  metric: IMetric;
  description: string;
  /** Rings above this number, 0 unless given, or below the other. */
  above?: number;
  below?: number;
  /** Periods in a row, one unless given, or as many `of` a number. */
  periods?: number;
  of?: number;
  /** Rings without data as well. */
  isMissingBad?: true;
  /** False if the service has no such thing. */
  isMeant?: boolean;
}

/** Words of an activity for the description of its alarm. */
const deeds: Readonly<Record<Activity, string>> = {
  'sign-in': 'signing in',
  'get-token': 'getting or revoking tokens',
  publish: 'writing, editing and deleting reviews',
  vote: 'voting and reporting',
  read: 'reading',
};

/** Per cent of failures from which on people cannot do something. A retry does not help then. */
const outage = 20;

/** Failures that no client can cause. Functions count theirs apart, and only if there are any. */
const failures = 'FILL(failed, 0) + FILL(unavailable, 0)';

/**
 * US dollars for a request with its log and its function, and for a unit of the table. Indexes add
 * about as many units of writing again. Prices of us-east-1; others differ by a fifth.
 */
const spend =
  'FILL(requests, 0) * 0.0000041 + FILL(reads, 0) * 0.000000125 + FILL(writes, 0) * 0.00000125';

/** Largest delay of each consumer, and the routes whose every success makes a record for it. */
const consumerLimits: Readonly<Record<string, { behind: Duration; fedBy: readonly string[] }>> = {
  'update-aggregates': { behind: Duration.minutes(5), fedBy: ['create-review'] },
  // Erasing a large account takes a while.
  eraser: { behind: Duration.hours(1), fedBy: ['delete-review', 'delete-me'] },
};

/** Returns the alarms of a service. */
export function alarmsOf(
  metrics: Metrics,
  {
    background,
    table,
    mailed,
    options: { budget, cdn, domain, notices },
  }: {
    background: Background;
    table: ITable;
    mailed: IMetric | undefined;
    options: Pick<Options, 'budget' | 'cdn' | 'domain' | 'notices'>;
  },
): Ringing[] {
  const { outcomes, requests, tokens } = metrics;
  const ofAll = { failed: metrics.serverErrors, unavailable: metrics.unavailable, requests };
  // Two failures of forty requests at night are no reason to wake somebody.
  const share = `IF(requests >= 20 AND ${failures} >= 5, 100 * (${failures}) / requests, 0)`;
  const failing = (activity: Activity, least: number, length: Duration) =>
    math(
      `IF(${failures} >= ${least}, 100 * (${failures}) / asked, 0)`,
      { ...outcomes[activity] },
      length,
    );
  const all: Ringing[] = [
    ...activities.map(
      (activity): Ringing => ({
        id: `Outage-${activity}`,
        urgency: 'page',
        // Two failures at night wake nobody.
        metric: failing(activity, 3, quarter),
        description: `More than ${outage} % of the requests of 15 minutes for ${deeds[activity]} fail`,
        above: outage,
      }),
    ),
    {
      id: 'SignInsOfSixHours',
      urgency: 'ticket',
      // Where few people sign in, three failures take hours to come together.
      metric: failing('sign-in', 1, hour),
      description: `In two of six hours, more than ${outage} % of the requests for signing in fail`,
      above: outage,
      periods: 2,
      of: 6,
    },
    {
      id: 'ErrorsOfAnHour',
      urgency: 'page',
      metric: math(share, ofAll, hour),
      // One request in a thousand may fail in a month. 14.4 times as many use that up in two days.
      description: 'More than 1.44 % of the requests of an hour fail',
      above: 1.44,
    },
    {
      id: 'ErrorsOfSixHours',
      urgency: 'ticket',
      metric: math(share, ofAll, Duration.hours(6)),
      // Three times as many use it up in ten days.
      description: 'More than 0.3 % of the requests of six hours fail',
      above: 0.3,
    },
    {
      id: 'AuthorizerFailures',
      urgency: 'page',
      metric: math(
        'IF(failed >= 5, 100 * failed / (failed + FILL(accepted, 0)), 0)',
        { failed: metrics.authorizerFailures, accepted: tokens.accepted },
        quarter,
      ),
      description: 'The authorizer fails: requests with a token have a 5xx response',
      above: outage,
    },
    {
      id: 'ReplacedKeys',
      urgency: 'page',
      metric: metrics.replacedKeys,
      description:
        'The signing keys lack the key that tokens and secrets were made with, so all of them are refused',
    },
    {
      id: 'Unanswered',
      urgency: 'page',
      metric: metrics.unanswered,
      description:
        'The service does not get an answer at its own address: its certificate, its DNS or the key that CloudFront sends may be wrong',
      // Of the five minutes of a period.
      above: 2,
      periods: 3,
      isMeant: cdn || domain !== undefined,
    },
    {
      id: 'SlowRequests',
      urgency: 'ticket',
      metric: math('IF(slow > requests / 1000, slow, 0)', { slow: metrics.slow, requests }, period),
      description:
        'More than 10 reads in 5 minutes take 2 s or more. The dashboard shows their routes',
      above: 10,
      periods: 3,
    },
    {
      id: 'Throttles',
      urgency: 'ticket',
      metric: metrics.throttled,
      description:
        'Requests fail because the functions need more concurrent executions than the quota of this account allows',
      above: 10,
      periods: 2,
    },
    {
      id: 'TooManyRequests',
      urgency: 'ticket',
      metric: metrics.tooMany,
      description:
        'Many requests have a 429 response: more clients than one are refused, so `rateLimit` is too low, or there is a flood',
      // One client at 20 requests a second, as a server allows by default, rings nothing.
      above: 20 * period.toSeconds(),
      periods: 2,
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
    },
    {
      id: 'Spend',
      urgency: 'ticket',
      metric: math(spend, { requests, ...metrics.consumed }, hour),
      // AWS Budgets lag by up to a day. Unlike most alarms it depends on clients, as cost does.
      description: `The service costs so much an hour that the budget of $${budget?.dollars} a month would last for 72 hours`,
      above: (budget?.dollars ?? 0) / 72,
      isMeant: budget !== undefined,
    },
    {
      id: 'SignUpMails',
      urgency: 'ticket',
      metric: mailed ?? requests,
      description:
        'Over 30 people have signed up in a day. Cognito sends 50 mails a day, and then nobody new can sign up: set `mailFrom`',
      // The others are for people who have forgotten a password. Nothing counts mails.
      above: 30,
      isMeant: mailed !== undefined,
    },
    // With `cdn` the certificate is in us-east-1, and so is its alarm.
    ...(domain && !cdn ? [expiry(domain.certificateArn)] : []),
    {
      id: 'OldestCase',
      urgency: 'ticket',
      metric: metrics.oldestCase,
      description: 'A reported review or an appeal has waited for a decision for three days',
      above: 72,
    },
    ...background.consumers.flatMap((consumer) => consumerAlarms(consumer, metrics)),
    ...background.jobs.flatMap(jobAlarms),
    {
      id: 'DeadLetters',
      urgency: 'ticket',
      metric: metrics.deadLetters,
      description:
        'A stream record or a daily job failed for good. The message names the function, and infra/aws/alarms.md says what to do',
    },
    {
      id: 'RecordsAside',
      urgency: 'ticket',
      metric: metrics.recordsAside,
      description:
        'A consumer has put aside a stream record that alone failed for ten minutes. infra/aws/alarms.md says how to redo its work',
    },
    {
      id: 'LateMails',
      urgency: 'ticket',
      // A failed mail waits longer and longer, so most runs have nothing to send and succeed.
      metric: metrics.lateMails,
      description:
        'Mails to authors or moderators fail for over half an hour: Amazon SES takes none, or refuses some',
      // One failed attempt may be chance.
      above: 1,
      isMeant: notices,
    },
    {
      id: 'LostNotices',
      urgency: 'ticket',
      metric: metrics.lostNotices,
      description:
        'Somebody was not told of a decision, because no mail could be sent for two days',
      isMeant: notices,
    },
    {
      id: 'FailingWebhooks',
      urgency: 'ticket',
      // A message that anybody gets shows that the reason is not here.
      metric: math(
        'IF(FILL(sent, 0) > 0, 0, FILL(failing, 0))',
        { sent: metrics.webhooksSent, failing: metrics.failingWebhooks },
        hour,
      ),
      description:
        'Nobody has received a message of a webhook for an hour, and those of three accounts failed together: the reason is probably here, and after five days the webhooks are turned off',
      above: 1,
    },
    {
      id: 'LateWebhooks',
      urgency: 'ticket',
      metric: metrics.lateWebhooks,
      description:
        'Runs leave webhooks of three accounts without a message, because other accounts have slow receivers',
      periods: 2,
    },
  ];
  return all.filter(({ isMeant }) => isMeant !== false);
}

function consumerAlarms({ node, lambda }: TableFunction, metrics: Metrics): Ringing[] {
  const { behind, fedBy } = consumerLimits[node.id] ?? { behind: period, fedBy: [] };
  if (fedBy.length === 0) throw new Error(`consumerLimits has no entry for ${node.id}`);
  // Its own metrics do not show that it is off: they are missing then, as without changes.
  const changes = Object.fromEntries(
    fedBy.map((operation, i) => [`changes${i}`, metrics.changesBy(operation)]),
  );
  const none = math(`0 * MAX([${Object.keys(changes)}])`, changes, hour);
  const invocations = lambda.metricInvocations({ statistic: 'Sum', period: hour });
  return [
    {
      id: `IteratorAge-${node.id}`,
      urgency: 'ticket',
      metric: iteratorAgeOf({ node, lambda }),
      description: `${node.id} is over ${behind.toHumanString()} behind the stream`,
      above: behind.toMilliseconds(),
      periods: 2,
    },
    {
      id: `Unfollowed-${node.id}`,
      urgency: 'page',
      metric: math('MAX([none, invocations])', { none, invocations }, hour),
      description: `There were changes, but ${node.id} was not called: its event source mapping is disabled or broken. Repair it within a day, because the stream then drops its records`,
      below: 1,
      // Two hours, because one hour may end between a change and its processing.
      periods: 2,
      of: 24,
    },
  ];
}

function jobAlarms({ node, lambda }: TableFunction): Ringing[] {
  const schedule = schedules.find(({ operation }) => operation === node.id);
  const isDaily = schedule?.runs !== 'every minute';
  const runs = lambda.metricInvocations({ statistic: 'Sum', period: hour });
  return [
    {
      id: `NotRun-${node.id}`,
      urgency: 'ticket',
      metric: math('FILL(runs, 0)', { runs }, hour),
      description: `${node.id} has not run for ${isDaily ? '26 hours' : 'an hour'}: its rule is disabled or broken`,
      below: 1,
      periods: isDaily ? 26 : 1,
      isMissingBad: true,
    },
    {
      id: `Errors-${node.id}`,
      urgency: 'ticket',
      metric: errorsOf({ node, lambda }),
      // The next minute repeats what failed: of five runs, three fail twice in a row.
      description: `Most runs of ${node.id} of ten minutes failed`,
      above: 2,
      periods: 2,
      // The daily job is repeated, and is a dead letter if it fails for good.
      isMeant: !isDaily,
    },
  ];
}

/** Returns the alarm on a certificate. AWS renews it 60 days before its end. */
export function expiry(CertificateArn: string): Ringing {
  return {
    id: 'CertificateExpiry',
    urgency: 'ticket',
    metric: new Metric({
      namespace: 'AWS/CertificateManager',
      metricName: 'DaysToExpiry',
      dimensionsMap: { CertificateArn },
      statistic: 'Minimum',
      period: day,
    }),
    description: 'The certificate of the domain expires within 30 days, and was not renewed',
    below: 30,
  };
}

/**
 * Returns the alarm on throttles of the table with its indexes by date, or of those by popularity.
 * A throttled index blocks writes of the table. An alarm takes ten metrics at most.
 */
function throttles(table: ITable, kind: 'Read' | 'Write', order: 'date' | 'popularity'): Ringing {
  const indexes = tableDefinition.indexes
    .filter(({ name }) => name.endsWith(`-by-${order}`))
    .map(({ name }) => ({ GlobalSecondaryIndexName: name }));
  const each = [...(order === 'date' ? [{}] : []), ...indexes].map((index) =>
    table.metric(`${kind}ThrottleEvents`, {
      dimensionsMap: { TableName: table.tableName, ...index },
      statistic: 'Sum',
      period,
    }),
  );
  const usingMetrics = Object.fromEntries(each.map((metric, i) => [`m${i}`, metric]));
  return {
    id: `Table${kind}Throttles${order === 'date' ? '' : 'ByPopularity'}`,
    urgency: 'ticket',
    metric: math(`MAX([${Object.keys(usingMetrics)}])`, usingMetrics, period),
    description: `DynamoDB throttles ${kind.toLowerCase()}s of the table or an index by ${order}: one partition has too much traffic, or a quota is reached`,
    periods: 2,
  };
}

/** Returns the delay of a consumer, in milliseconds. */
export function iteratorAgeOf({ node, lambda }: Pick<TableFunction, 'node' | 'lambda'>) {
  return lambda.metric('IteratorAge', { statistic: 'Maximum', period, label: node.id });
}

/** Returns the failed runs of a function. */
export function errorsOf({ node, lambda }: Pick<TableFunction, 'node' | 'lambda'>) {
  return lambda.metricErrors({ statistic: 'Sum', period, label: node.id });
}

function math(expression: string, usingMetrics: Record<string, IMetric>, length: Duration) {
  return new MathExpression({ expression, usingMetrics, period: length });
}
