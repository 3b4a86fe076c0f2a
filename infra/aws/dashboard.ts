import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { activities } from './activities.ts';
import { errorsOf, iteratorAgeOf } from './alarms.ts';
import type { Background } from './background.ts';
import { type Metrics, period } from './metrics.ts';
import type { Options } from './options.ts';

/** Adds a dashboard: two graphs a row, each with metrics on its left and right axis. */
export function addDashboard(
  scope: Construct,
  metrics: Metrics,
  { background, options: { name } }: { background: Background; options: Pick<Options, 'name'> },
): void {
  const by = (dimension: 'Route' | 'Operation', metricName: string) => {
    const expression = `SEARCH('{"${name}",${dimension}} MetricName="${metricName}"', 'Sum', 300)`;
    return [new cloudwatch.SearchExpression({ expression, period })];
  };
  const { outcomes, tokens, consumed } = metrics;
  type Graph = readonly [string, cloudwatch.IMetric[], cloudwatch.IMetric[]?];
  const graphs: readonly Graph[] = [
    ['Requests', [metrics.requests], [metrics.clientErrors, metrics.serverErrors]],
    ['Slowest one in a hundred, ms', [metrics.latency, metrics.integrationLatency]],
    [
      'Failures by what people do',
      activities.map((activity) => outcomes[activity].failed),
      activities.map((activity) => outcomes[activity].unavailable),
    ],
    ['Access tokens', [tokens.accepted], [tokens.refused, metrics.authorizerFailures]],
    ['Requests of 2 s or more', by('Route', 'SlowRequests')],
    ['Busy (503, 429), refused sign-ins', by('Route', 'Busy'), [metrics.refusedSignIns]],
    ['Changes', by('Route', 'Changes')],
    ['Request units of the table', [consumed.reads, consumed.writes]],
    ['Behind the stream, ms', background.consumers.map(iteratorAgeOf)],
    [
      'Trouble',
      [
        metrics.throttled,
        metrics.tooMany,
        metrics.conflicts,
        metrics.deadLetters,
        ...background.jobs.map(errorsOf),
      ],
    ],
    ['Writes repeated because of conflicts', by('Operation', 'Retries')],
    ['Oldest open case, hours', [metrics.oldestCase]],
    ['Messages of webhooks, delivered and failed', [metrics.webhooksSent, metrics.webhooksFailed]],
    ['Requests over their budget', by('Operation', 'OverBudget')],
    ['Failed attempts of late mails, lost notices', [metrics.lateMails], [metrics.lostNotices]],
  ];
  const widgets = graphs.map(
    ([title, left, right]) =>
      new cloudwatch.GraphWidget({ title, left, right, width: 12, height: 6 }),
  );
  const rows = Map.groupBy(widgets, (widget) => Math.floor(widgets.indexOf(widget) / 2));
  new cloudwatch.Dashboard(scope, 'Dashboard', { widgets: [...rows.values()] });
}
