import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';

/**
 * Urgency of an alarm. For a `page` somebody gets up: people cannot do what they came for, or would
 * lose something within a day. A `ticket` waits for the next working day.
 */
type Urgency = 'page' | 'ticket';

/** An alarm, and its urgency. */
export interface Ringing {
  id: string;
  urgency: Urgency;
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
