import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration } from 'aws-cdk-lib/core';
import { type Activity, activities } from './activities.ts';
import { type Metrics, period, quarter } from './metrics.ts';
import { type Ringing, shareOf } from './ringing.ts';

// Alarms by what people cannot do.

/** Per cent of failures from which on people cannot do something. A retry does not help then. */
const outage = 20;

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
export function outageAlarms(metrics: Metrics, { cdn }: { cdn: boolean }): Ringing[] {
  const { outcomes, tokens, serverErrors, requests, authorizerFailures, keyless } = metrics;
  return [
    ...activities.map((activity): Ringing => {
      const label = `Failures of ${deeds[activity]}, per cent`;
      return {
        id: `Outage-${activity}`,
        urgency: 'page',
        metric: shareOf(outcomes[activity], { least: 3, period: quarter, label }),
        description: `More than ${outage} % of the requests of ${quarter.toHumanString()} for ${deeds[activity]} have a 5xx response`,
        threshold: outage,
        periods: 1,
      };
    }),
    ...burnRates.map(({ id, urgency, hours, budget }): Ringing => {
      const label = 'Requests with a 5xx response, per cent';
      return {
        id,
        urgency,
        // Two failures of forty requests at night are no reason to wake somebody.
        metric: new MathExpression({
          expression: 'IF(requests >= 20 AND errors >= 5, 100 * errors / requests, 0)',
          usingMetrics: { errors: serverErrors, requests },
          period: hours,
          label,
        }),
        description: `More than ${budget} % of the requests of ${hours.toHumanString()} have a 5xx response`,
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
    ...(cdn
      ? [
          {
            id: 'KeyRefused',
            urgency: 'page' as const,
            metric: shareOf(
              { failed: keyless, asked: requests },
              { least: 20, period, label: 'Requests without the key of CloudFront, per cent' },
            ),
            description:
              'API Gateway refuses most requests, because they lack the key that CloudFront sends: its secret has changed, or the distribution has lost it',
            threshold: 50,
          },
        ]
      : []),
  ];
}

/**
 * Returns the two parts of the alarm about refused tokens: nearly all are refused now, and most
 * were accepted within the day before. A program that repeats an expired token all night is no
 * outage.
 */
export function refusedTokens({ tokens }: Metrics): { now: Ringing; before: Ringing } {
  const usingMetrics = { refused: tokens.refused, accepted: tokens.accepted };
  const share = '100 * FILL(refused, 0) / (FILL(refused, 0) + FILL(accepted, 0))';
  return {
    now: {
      id: 'RefusedTokensNow',
      metric: new MathExpression({
        expression: `IF(FILL(refused, 0) >= 20, ${share}, 0)`,
        usingMetrics,
        period: quarter,
        label: 'Refused tokens of a quarter of an hour, per cent',
      }),
      description: 'Nearly all access tokens are refused. RefusedTokens rings if this is new',
      threshold: 90,
      periods: 1,
    },
    before: {
      id: 'AcceptedTokensBefore',
      metric: new MathExpression({
        expression: `IF(FILL(accepted, 0) >= 20, ${share}, 100)`,
        usingMetrics,
        period: Duration.days(1),
        label: 'Refused tokens of a day, per cent',
      }),
      description: 'Most access tokens of the day before were accepted, as they should be',
      threshold: 50,
      isBelow: true,
      periods: 1,
    },
  };
}
