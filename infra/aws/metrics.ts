import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { FilterPattern, MetricFilter, type MetricFilterProps } from 'aws-cdk-lib/aws-logs';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { routes as allRoutes, type Route } from '../../shared/base/routes.ts';
import { resourceOf } from '../../shared/core/http/match-route.ts';
import { type Activity, activities, requestsOf } from './activities.ts';
import type { Api } from './api.ts';
import type { Background } from './background.ts';

/**
 * Requests of 2 s or more. A regular expression, because the milliseconds are a string in the
 * access log: they are `-` if unset.
 */
const isSlow = '$.milliseconds = %^[2-9]\\d\\d\\d$|^\\d\\d\\d\\d\\d+$%';

/** Routes that wait for somebody else: a database that is searched, or the identity provider. */
const waiting = ['find-entity', 'sign-in', 'finish-sign-in'];

/** Reads alone. A write waits for others to the same review, which one account can cause. */
const slowReads = `{ ${isSlow} && ($.method = "GET" || $.method = "HEAD") && ${waiting
  .map((operation) => `$.route != "* ${resourceOf(routeOf(operation))}"`)
  .join(' && ')} }`;

export const period = Duration.minutes(5);
export const quarter = Duration.minutes(15);
export const hour = Duration.hours(1);
export const day = Duration.days(1);

/** Requests of an activity, and its failures: counted at the gateway, and by functions. */
export interface Outcome {
  asked: Metric;
  failed: Metric;
  unavailable: Metric;
}

export type Metrics = ReturnType<typeof metricsOf>;

/** Returns the metrics of a service with this name, including those from its logs. */
export function metricsOf(
  scope: Construct,
  {
    api,
    background,
    table,
    routes,
  }: { api: Api; background: Background; table: ITable; routes: readonly Route[] },
  name: string,
) {
  const logged = (
    metricName: string,
    pattern: string,
    { id = `${metricName}Logged`, ...others }: { id?: string } & Partial<MetricFilterProps> = {},
  ) => {
    const filter = new MetricFilter(scope, id, {
      logGroup: api.accessLog,
      filterPattern: FilterPattern.literal(pattern),
      metricNamespace: name,
      metricName,
      ...others,
    });
    return filter.metric({ statistic: 'Sum', period });
  };
  const logGroupOf = (operation: string) => {
    const job = background.jobs.find(({ node }) => node.id === operation);
    const found = job ?? api.functions.get(operation);
    if (!found) throw new Error(`${operation} has no function`);
    return found.lambda.logGroup;
  };
  // A change is a successful request except GET: a review published, a vote cast, a token issued.
  logged(
    'Changes',
    '{ $.status < 400 && $.method != "GET" && $.method != "HEAD" && $.method != "OPTIONS" }',
    { dimensions: { Route: '$.route' } },
  );
  // Not API Gateway's own count, because a client can cause a 5xx: the 501 of oEmbed, the 500 of a
  // preflight, and the 503 of a long query string. A 5xx of API Gateway itself has an `error`.
  // Functions count a 503 for a reason of ours as `Unavailable`.
  const failed =
    '$.status >= 500 && $.status != 501 && $.method != "OPTIONS" && ($.error != "-" || $.status != 503)';
  const serverErrors = logged('ServerErrors', `{ ${failed} }`);
  const summed = (metricName: string, dimensionsMap?: Record<string, string>) =>
    new Metric({ namespace: name, metricName, dimensionsMap, statistic: 'Sum', period });
  const outcomeOf = (activity: Activity): Outcome => {
    // `SignIn`, as metrics name it.
    const title = activity.replaceAll(/(^|-)(\w)/g, (_, __, letter: string) =>
      letter.toUpperCase(),
    );
    const metrics = requestsOf(activity, routes).map((asked, i) => {
      const id = (metricName: string) => `${metricName}Logged${i === 0 ? '' : i + 1}`;
      const count = (metricName: string, pattern: string) =>
        logged(metricName, `{ ${pattern} }`, { id: id(metricName) });
      return {
        asked: count(`${title}Requests`, asked),
        failed: count(`${title}Failures`, `${failed} && ${asked}`),
      };
    });
    const [counts] = metrics;
    if (!counts) throw new Error(`no route is for: ${activity}`);
    return { ...counts, unavailable: summed('Unavailable', { Activity: activity }) };
  };
  const outcomes = Object.fromEntries(
    activities.map((activity) => [activity, outcomeOf(activity)]),
  ) as Record<Activity, Outcome>;
  // A metric with a dimension exists, and costs, only for routes where there was such a request.
  logged('SlowRequests', `{ ${isSlow} }`, {
    id: 'SlowRoutesLogged',
    dimensions: { Route: '$.route' },
  });
  // A 429 without an `error` is of a function: others kept changing the same items.
  logged('Busy', '{ ($.status = 503 || $.status = 429) && $.error = "-" }', {
    dimensions: { Route: '$.route' },
  });
  return {
    serverErrors,
    unavailable: summed('Unavailable'),
    outcomes,
    /** Access tokens: accepted by the authorizer, and refused. Any other header is no token. */
    tokens: {
      accepted: logged('AcceptedTokens', '{ $.client != "-" }'),
      refused: logged(
        'RefusedTokens',
        '{ $.error = "UNAUTHORIZED" && $.authorizerRequestId != "-" }',
      ),
    },
    /** Minutes in which the signing keys lack the key that tokens were made with. */
    replacedKeys: summed('ReplacedKeys'),
    /** Minutes in which the service did not get an answer at its own domain or distribution. */
    unanswered: summed('Unanswered'),
    refusedSignIns: logged('RefusedSignIns', '{ $.message.message = "A sign-in failed" }', {
      logGroup: logGroupOf('finish-sign-in'),
    }),
    // The heartbeat counts these hours every minute while a case is open.
    oldestCase: new Metric({
      namespace: name,
      metricName: 'OldestCaseHours',
      dimensionsMap: { Operation: 'send-heartbeat' },
      statistic: 'Maximum',
      period: hour,
      label: 'Hours that the oldest open case has waited',
    }),
    lateWebhooks: logged('LateWebhooks', '{ $.message.message = "Webhooks are late" }', {
      logGroup: logGroupOf('send-webhooks'),
    }),
    failingWebhooks: logged('FailingWebhooks', '{ $.message.message = "All webhooks fail" }', {
      logGroup: logGroupOf('send-webhooks'),
    }),
    webhooksSent: summed('WebhooksSent'),
    webhooksFailed: summed('WebhooksFailed'),
    // In two hours, because a late mail is tried once an hour.
    lateMails: summed('LateMails').with({ period: Duration.hours(2) }),
    lostNotices: summed('LostNotices'),
    recordsAside: summed('RecordsAside'),
    overBudget: summed('OverBudget'),
    requests: api.restApi.metricCount({ period }),
    clientErrors: api.restApi.metricClientError({ statistic: 'Sum', period }),
    // Not the Errors of its Lambda, which include every refused token.
    authorizerFailures: logged('AuthorizerFailures', '{ $.error = "AUTHORIZER_*" }'),
    // Not Lambda's own Throttles, which cover the whole account or need a metric for each function.
    throttled: logged(
      'Throttles',
      '{ $.lambdaStatus = "429" || $.authorizerLambdaStatus = "429" }',
    ),
    tooMany: logged('TooManyRequests', '{ $.status = 429 && $.error != "-" }'),
    latency: api.restApi.metricLatency({ statistic: 'p99', period }),
    integrationLatency: api.restApi.metricIntegrationLatency({ statistic: 'p99', period }),
    slow: logged('SlowReads', slowReads),
    conflicts: table.metric('TransactionConflict', { statistic: 'Sum', period }),
    deadLetters: background.deadLetters.metricApproximateNumberOfMessagesVisible({
      statistic: 'Maximum',
      period,
    }),
    consumed: {
      reads: table.metric('ConsumedReadCapacityUnits', { statistic: 'Sum', period }),
      writes: table.metric('ConsumedWriteCapacityUnits', { statistic: 'Sum', period }),
    },
    /** Changes by a route in an hour. */
    changesBy(operation: string): Metric {
      const route = routeOf(operation);
      const Route = `${route.method} ${resourceOf(route)}`;
      return summed('Changes', { Route }).with({ period: hour });
    },
  };
}

function routeOf(operation: string) {
  const match = allRoutes.find((route) => route.operation === operation);
  if (!match) throw new Error(`there is no route ${operation}`);
  return match;
}
