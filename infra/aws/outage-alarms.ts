import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import { type Activity, activities } from './activities.ts';
import { hour, type Metrics, quarter } from './metrics.ts';
import type { Options } from './options.ts';
import type { Ringing } from './ringing.ts';

// Alarms by what people cannot do.

/** Per cent of failures from which on people cannot do something. A retry does not help then. */
const outage = 20;

/** Failures that no client can cause. Functions count theirs apart, and only if there are any. */
const failures = 'FILL(failed, 0) + FILL(unavailable, 0)';

/** Words of an activity for the description of its alarm. */
const deeds: Readonly<Record<Activity, string>> = {
  'sign-in': 'signing in',
  'get-token': 'getting or revoking tokens',
  publish: 'writing, editing and deleting reviews',
  vote: 'voting and reporting',
  read: 'reading',
};

/**
 * Shares of failed requests, in per cent, that ring. One request in a thousand may fail in a month.
 * Within an hour, failures may be 14.4 times as many (all of a month's in two days). Within six
 * hours, three times as many (all of a month's in ten days).
 */
const burnRates = [
  { id: 'ErrorsOfAnHour', urgency: 'page', hours: Duration.hours(1), budget: 1.44 },
  { id: 'ErrorsOfSixHours', urgency: 'ticket', hours: Duration.hours(6), budget: 0.3 },
] as const;

/** Returns the alarms about failures that people meet. */
export function outageAlarms(
  metrics: Metrics,
  { cdn, domain }: Pick<Options, 'cdn' | 'domain'>,
): Ringing[] {
  const { outcomes, tokens, serverErrors, unavailable, requests, authorizerFailures } = metrics;
  return [
    ...activities.map(
      (activity): Ringing => ({
        id: `Outage-${activity}`,
        urgency: 'page',
        // Two failures at night wake nobody.
        metric: new MathExpression({
          expression: `IF(${failures} >= 3, 100 * (${failures}) / asked, 0)`,
          usingMetrics: { ...outcomes[activity] },
          period: quarter,
          label: `Failures of ${deeds[activity]}, per cent`,
        }),
        description: `More than ${outage} % of the requests of ${quarter.toHumanString()} for ${deeds[activity]} fail`,
        threshold: outage,
        periods: 1,
      }),
    ),
    {
      id: 'SignInsOfSixHours',
      urgency: 'ticket',
      // Where few people sign in, three failures take hours to come together.
      metric: new MathExpression({
        expression: `IF(${failures} >= 1, 100 * (${failures}) / asked, 0)`,
        usingMetrics: { ...outcomes['sign-in'] },
        period: hour,
        label: `Failures of ${deeds['sign-in']}, per cent`,
      }),
      description: `In two of six hours, more than ${outage} % of the requests for ${deeds['sign-in']} fail`,
      threshold: outage,
      periods: 2,
      of: 6,
    },
    ...burnRates.map(({ id, urgency, hours, budget }): Ringing => {
      const label = 'Requests with a 5xx response, per cent';
      return {
        id,
        urgency,
        // Two failures of forty requests at night are no reason to wake somebody.
        metric: new MathExpression({
          expression: `IF(requests >= 20 AND ${failures} >= 5, 100 * (${failures}) / requests, 0)`,
          usingMetrics: { failed: serverErrors, unavailable, requests },
          period: hours,
          label,
        }),
        description: `More than ${budget} % of the requests of ${hours.toHumanString()} fail`,
        threshold: budget,
        periods: 1,
      };
    }),
    {
      id: 'AuthorizerFailures',
      urgency: 'page',
      metric: new MathExpression({
        expression: 'IF(failed >= 5, 100 * failed / (failed + FILL(accepted, 0)), 0)',
        usingMetrics: { failed: authorizerFailures, accepted: tokens.accepted },
        period: quarter,
        label: 'Failures of the authorizer, per cent',
      }),
      description: 'The authorizer fails: requests with a token have a 5xx response',
      threshold: outage,
      periods: 1,
    },
    {
      id: 'ReplacedKeys',
      urgency: 'page',
      metric: metrics.replacedKeys,
      description:
        'The signing keys lack the key that tokens and secrets were made with, so all of them are refused',
      threshold: 0,
      periods: 1,
    },
    ...(cdn || domain
      ? [
          {
            id: 'Unanswered',
            urgency: 'page' as const,
            metric: metrics.unanswered,
            description:
              'The service does not get an answer at its own address: its certificate, its DNS or the key that CloudFront sends may be wrong',
            // Of the five minutes of a period.
            threshold: 2,
            periods: 3,
          },
        ]
      : []),
  ];
}
