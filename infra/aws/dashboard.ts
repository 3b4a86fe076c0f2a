import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { activities } from './activities.ts';
import type { Background } from './background.ts';
import { errorsOf, iteratorAgeOf } from './background-alarms.ts';
import { type Metrics, period } from './metrics.ts';

/** Adds a dashboard with the metrics of the service with this name. */
export function addDashboard(
  scope: Construct,
  metrics: Metrics,
  { background, name }: { background: Background; name: string },
): void {
  const by = (dimension: 'Route' | 'Operation', metricName: string) => {
    const expression = `SEARCH('{"${name}",${dimension}} MetricName="${metricName}"', 'Sum', 300)`;
    return new cloudwatch.SearchExpression({ expression, period });
  };
  const { requests, clientErrors, serverErrors, latency, integrationLatency, tokens } = metrics;
  const { throttled, tooMany, conflicts, deadLetters, authorizerFailures } = metrics;
  const { outcomes } = metrics;
  const failures = activities.map((activity) => outcomes[activity].failed);
  const unavailable = activities.map((activity) => outcomes[activity].unavailable);
  new cloudwatch.Dashboard(scope, 'Dashboard', {
    widgets: [
      [
        graph('Requests', [requests], [clientErrors, serverErrors]),
        graph('Slowest one in a hundred, ms', [latency, integrationLatency]),
      ],
      [
        graph('Failures by what people do', failures, unavailable),
        graph('Access tokens', [tokens.accepted], [tokens.refused, authorizerFailures]),
      ],
      [
        graph('Requests of 2 s or more', [by('Route', 'SlowRequests')]),
        graph('Busy (503), refused sign-ins', [by('Route', 'Busy')], [metrics.refusedSignIns]),
      ],
      [
        graph('Changes', [by('Route', 'Changes')]),
        graph('Request units of the table', metrics.consumed),
      ],
      [
        graph('Behind the stream, ms', background.consumers.map(iteratorAgeOf)),
        graph('Trouble', [
          throttled,
          tooMany,
          conflicts,
          deadLetters,
          ...background.jobs.map(errorsOf),
        ]),
      ],
      [
        graph('Writes repeated because of conflicts', [by('Operation', 'Retries')]),
        graph('Oldest open case, hours', [metrics.oldestCase]),
      ],
      [
        graph('Minutes with late or failing webhooks', [
          metrics.lateWebhooks,
          metrics.failingWebhooks,
        ]),
        graph('Requests over their budget', [by('Operation', 'OverBudget')]),
      ],
    ],
  });
}

function graph(title: string, left: cloudwatch.IMetric[], right: cloudwatch.IMetric[] = []) {
  return new cloudwatch.GraphWidget({ title, left, right, width: 12, height: 6 });
}
