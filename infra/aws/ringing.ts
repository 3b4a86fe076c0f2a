import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Duration } from 'aws-cdk-lib/core';

/**
 * Urgency of an alarm. For a `page` somebody gets up: people cannot do what they came for, or would
 * lose something within a day. A `ticket` waits for the next working day.
 */
export type Urgency = 'page' | 'ticket';

/** An alarm, and its urgency. */
export interface Ringing {
  id: string;
  /** Undefined for an alarm that is a part of another one. */
  urgency?: Urgency;
  metric: cloudwatch.IMetric;
  description: string;
  /** Rings above it. With `isBelow`, below it. */
  threshold: number;
  isBelow?: boolean;
  /** Periods in a row, two unless given, or as many `of` a number. */
  periods?: number;
  of?: number;
  /** Rings without data as well. */
  isMissingBad?: boolean;
}

/** Adds up a share in per cent, of at least `least` failures: two at night wake nobody. */
export function shareOf(
  usingMetrics: { failed: cloudwatch.IMetric; asked: cloudwatch.IMetric },
  { least, period, label }: { least: number; period: Duration; label: string },
): cloudwatch.MathExpression {
  return new cloudwatch.MathExpression({
    expression: `IF(failed >= ${least}, 100 * failed / asked, 0)`,
    usingMetrics,
    period,
    label,
  });
}

/** Returns the properties of an alarm. */
export function alarmProps(ringing: Ringing): cloudwatch.AlarmProps {
  const { metric, description, threshold, isBelow, periods = 2, of = periods } = ringing;
  const { GREATER_THAN_THRESHOLD, LESS_THAN_THRESHOLD } = cloudwatch.ComparisonOperator;
  const { BREACHING, NOT_BREACHING } = cloudwatch.TreatMissingData;
  return {
    metric,
    alarmDescription: description,
    threshold,
    comparisonOperator: isBelow ? LESS_THAN_THRESHOLD : GREATER_THAN_THRESHOLD,
    evaluationPeriods: of,
    datapointsToAlarm: of === periods ? undefined : periods,
    treatMissingData: ringing.isMissingBad ? BREACHING : NOT_BREACHING,
  };
}
