/**
 * Adds a value to a metric of this operation in CloudWatch, as a line of the log in Embedded Metric
 * Format. A metric costs nothing in an hour without values. A server writes nothing. An alarm needs
 * the values of all operations, `isSummed`, in a metric without dimensions.
 */
export function countMetric(name: string, value: number, { isSummed = false } = {}): void {
  const namespace = process.env.METRICS_NAMESPACE;
  if (namespace === undefined) return;
  const line = {
    _aws: {
      Timestamp: Date.now(),
      CloudWatchMetrics: [
        {
          Namespace: namespace,
          Dimensions: [['Operation'], ...(isSummed ? [[]] : [])],
          Metrics: [{ Name: name }],
        },
      ],
    },
    Operation: process.env.OPERATION,
    [name]: value,
  };
  // Not the console: Lambda puts its text into a field, where CloudWatch sees no metric.
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
