import { currentOperation } from './operation.ts';

interface MetricOptions {
  /** The dimension. */
  by?: 'Operation' | 'Activity';
  /** Adds the values of all to a metric without dimensions, which an alarm needs. */
  isSummed?: boolean;
}

/**
 * Adds a value to a metric of the current operation or activity in CloudWatch, as a line of the log
 * in Embedded Metric Format. A metric costs nothing in an hour without values. A server writes
 * nothing.
 */
export function countMetric(
  name: string,
  value: number,
  { by = 'Operation', isSummed = false }: MetricOptions = {},
): void {
  const namespace = process.env.METRICS_NAMESPACE;
  if (namespace === undefined) return;
  const operation = currentOperation();
  const values = { Operation: operation?.name, Activity: operation?.activity };
  const isKnown = values[by] !== undefined;
  const line = {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: [...(isKnown ? [[by]] : []), ...(isSummed ? [[]] : [])],
          Metrics: [{ Name: name }],
        },
      ],
    },
    ...(isKnown && { [by]: values[by] }),
    [name]: value,
  };
  // Not the console: Lambda puts its text into a field, where CloudWatch sees no metric.
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/**
 * Counts a request that fails with 503 for a reason of ours: the table or the identity provider.
 * Alarms count it.
 */
export function countUnavailable(): void {
  countMetric('Unavailable', 1, { by: 'Activity', isSummed: true });
}
