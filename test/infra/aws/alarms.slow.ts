import { readFileSync } from 'node:fs';
import { rings, type Series } from '../../helpers/aws/alarm-state.ts';
import { alarms, propertiesOf, resources, type Template } from '../../helpers/aws/checks.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

const { plain, everything } = await synthesized();
// The user pool, a budget and a check from outside go with other options than the rest.
const other = deployed({
  name: 'reviews',
  alarmMail: 'ops@example.org',
  budget: 50,
  healthCheck: 'reviews.example.org',
});
const stacks = [everything.service, other.service, other.health ?? { Resources: {} }];
const watches = new Map(
  stacks.flatMap((stack) =>
    Object.entries(alarms(stack)).map(([id, watch]) => [id, { ...watch, stack }] as const),
  ),
);

/**
 * An alarm: its metrics, by CloudWatch's names, its periods, and points at which it rings or does
 * not. Points have a series for each metric, with the newest value last.
 */
interface Alarm {
  of: string[];
  within: string;
  rings: Series[][];
  silent: Series[][];
}

const once = '1 of 1 × 300 s';
const twice = '2 of 2 × 300 s';
const thrice = '3 of 3 × 300 s';
const quarter = '1 of 1 × 900 s';
const hourly = '1 of 1 × 3600 s';
const none = undefined;
const times = (count: number, value: number | undefined): Series => Array(count).fill(value);

const requests = 'AWS/ApiGateway Count SampleCount';
const errors = ['reviews ServerErrors Sum', 'reviews Unavailable Sum', requests];
const askedAndFailed = (name: string, activity: string) => [
  `reviews ${name}Requests Sum`,
  `reviews ${name}Failures Sum`,
  `reviews Unavailable Sum of ${activity}`,
];

/** Rings as soon as something is counted. */
const counted = (metric: string): Alarm => ({
  of: [`reviews ${metric} Sum`],
  within: once,
  rings: [[[1]]],
  silent: [[[none]], [[0]]],
});

/** Of requests, failures at the gateway, and failures of functions. */
const outage = (name: string, activity: string, more: Partial<Alarm> = {}): Alarm => ({
  of: askedAndFailed(name, activity),
  within: quarter,
  rings: [
    [[3], [3], [none]],
    [[500], [101], [none]],
  ],
  silent: [
    [[2], [2], [none]],
    [[500], [100], [none]],
  ],
  ...more,
});

const throttles = (name: string, order: 'date' | 'popularity'): Alarm => {
  const scopes = ['all', 'type', 'facet', 'entity', 'author'];
  const indexes = scopes.map((scope) => ` of ${scope}-by-${order}`);
  const of = order === 'date' ? ['', ...indexes] : indexes;
  const quiet = of.slice(1).map(() => [0, 0]);
  return {
    of: of.map((index) => `AWS/DynamoDB ${name} Sum${index}`),
    within: twice,
    rings: [
      [...quiet, [1, 1]],
      [[1, 1], ...quiet],
    ],
    silent: [[...quiet, [0, 0]]],
  };
};

const lag = (consumer: string, most: number): Alarm => ({
  of: [`AWS/Lambda IteratorAge Maximum of ${consumer}`],
  within: twice,
  rings: [[[most + 1, most + 1]]],
  silent: [[[most + 1, most]]],
});

const notRun = (job: string, hours = 1): Alarm => ({
  of: [`AWS/Lambda Invocations Sum of ${job}`],
  within: `${hours} of ${hours} × 3600 s`,
  rings: [[times(hours, none)]],
  silent: [[[...times(hours - 1, none), 1]]],
});

/** One failed minute, which the next one repeats, and a bad few minutes ring nothing. */
const mostRuns = (job: string): Alarm => ({
  of: [`AWS/Lambda Errors Sum of ${job}`],
  within: twice,
  rings: [[[3, 3]]],
  silent: [[[none, 1]], [[2, 5]]],
});

const expected: Record<string, Alarm> = {
  Outagesignin: outage('SignIn', 'sign-in', {
    rings: [
      // Of three requests of a sign-in, the last one fails.
      [[12], [4], [none]],
      // DynamoDB throttles all of them, which the function tells.
      [[9], [none], [3]],
      [[9], [1], [2]],
    ],
    silent: [
      [[5], [2], [none]],
      [[40], [none], [none]],
    ],
  }),
  Outagegettoken: outage('GetToken', 'get-token'),
  Outagepublish: outage('Publish', 'publish'),
  Outagevote: outage('Vote', 'vote'),
  // DynamoDB was away for half a minute.
  Outageread: outage('Read', 'read', { silent: [[[90_000], [3000], [none]]] }),
  SignInsOfSixHours: {
    of: askedAndFailed('SignIn', 'sign-in'),
    within: '2 of 6 × 3600 s',
    // One person cannot sign in, and some hours later another.
    rings: [[[3, 0, 2, 0, 1, 0], [1, 0, 0, 0, 1, 0], times(6, none)]],
    silent: [
      [[1, 0, 2, 0, 1, 0], [1, 0, 0, 0, 0, 0], times(6, none)],
      [[5, 9, 5, 5, 7, 5], times(6, 1), times(6, none)],
    ],
  },
  ErrorsOfAnHour: {
    of: errors,
    within: hourly,
    rings: [
      [[15], [none], [1000]],
      [[5], [10], [1000]],
      [[none], [20], [20]],
    ],
    silent: [
      [[14], [none], [1000]],
      [[2], [none], [40]],
      [[19], [none], [19]],
    ],
  },
  ErrorsOfSixHours: {
    of: errors,
    within: '1 of 1 × 21600 s',
    rings: [[[31], [none], [10_000]]],
    silent: [[[20], [10], [10_000]]],
  },
  AuthorizerFailures: {
    of: ['reviews AuthorizerFailures Sum', 'reviews AcceptedTokens Sum'],
    within: quarter,
    rings: [
      [[5], [none]],
      [[20], [70]],
    ],
    silent: [
      [[20], [80]],
      [[4], [none]],
    ],
  },
  CertificateExpiry: {
    of: [
      'AWS/CertificateManager DaysToExpiry Minimum of arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-4000-8000-000000000000',
    ],
    within: '1 of 1 × 86400 s',
    rings: [[[29]]],
    silent: [[[30]]],
  },
  ReplacedKeys: counted('ReplacedKeys'),
  Unanswered: {
    of: ['reviews Unanswered Sum'],
    within: thrice,
    rings: [[[3, 5, 5]]],
    silent: [[[3, 2, 5]], [[none, 5, 5]]],
  },
  Unreachable: {
    of: ['AWS/Route53 HealthCheckStatus Minimum of HealthCheckId'],
    within: '3 of 3 × 60 s',
    rings: [[[0, 0, 0]], [times(3, none)]],
    silent: [[[0, 1, 0]]],
  },
  SlowRequests: {
    of: ['reviews SlowReads Sum', requests],
    within: thrice,
    rings: [[times(3, 11), times(3, 900)]],
    silent: [
      [[11, 10, 11], times(3, 900)],
      [times(3, 11), times(3, 11_000)],
      [[11, none, 11], times(3, 900)],
    ],
  },
  Throttles: {
    of: ['reviews Throttles Sum'],
    within: twice,
    rings: [[[11, 11]]],
    silent: [[[11, 10]]],
  },
  TooManyRequests: {
    of: ['reviews TooManyRequests Sum'],
    within: twice,
    rings: [[[6001, 6001]]],
    silent: [[[6001, 6000]]],
  },
  TableReadThrottles: throttles('ReadThrottleEvents', 'date'),
  TableReadThrottlesByPopularity: throttles('ReadThrottleEvents', 'popularity'),
  TableWriteThrottles: throttles('WriteThrottleEvents', 'date'),
  TableWriteThrottlesByPopularity: throttles('WriteThrottleEvents', 'popularity'),
  OverBudget: counted('OverBudget'),
  Spend: {
    of: [
      requests,
      'AWS/DynamoDB ConsumedReadCapacityUnits Sum',
      'AWS/DynamoDB ConsumedWriteCapacityUnits Sum',
    ],
    within: hourly,
    // $50 in 72 hours are 69 cents an hour: 100,000 lists of 50 cost more than that.
    rings: [[[100_000], [5_200_000], [0]]],
    silent: [[[30_000], [1_560_000], [1_000]]],
  },
  SignUpMails: {
    of: ['AWS/Cognito SignUpSuccesses Sum of UserPool,UserPoolClient'],
    within: '1 of 1 × 86400 s',
    rings: [[[31]]],
    silent: [[[30]]],
  },
  OldestCase: {
    of: ['reviews OldestCaseHours Maximum of send-heartbeat'],
    within: hourly,
    rings: [[[72.1]]],
    silent: [[[72]]],
  },
  IteratorAgeupdateaggregates: lag('update-aggregates', 300_000),
  IteratorAgeeraser: lag('eraser', 3_600_000),
  // Changes in two hours, and no call of the consumer.
  Unfollowedupdateaggregates: {
    of: [
      'reviews Changes Sum of POST /1/review',
      'AWS/Lambda Invocations Sum of update-aggregates',
    ],
    within: '2 of 24 × 3600 s',
    rings: [[[...times(22, none), 4, 1], times(24, none)]],
    silent: [[times(24, 4), times(24, 1)]],
  },
  Unfollowederaser: {
    of: [
      'reviews Changes Sum of DELETE /1/review/{review_id}',
      'reviews Changes Sum of DELETE /1/user/me',
      'AWS/Lambda Invocations Sum of eraser',
    ],
    within: '2 of 24 × 3600 s',
    rings: [[times(24, none), [...times(22, none), 1, 1], times(24, none)]],
    silent: [[times(24, 1), times(24, 1), times(24, 1)]],
  },
  DeadLetters: {
    ...counted(''),
    of: ['AWS/SQS ApproximateNumberOfMessagesVisible Maximum'],
  },
  RecordsAside: counted('RecordsAside'),
  NotRunexpirevotecounters: notRun('expire-vote-counters', 26),
  NotRunsendheartbeat: notRun('send-heartbeat'),
  NotRunsendnotices: notRun('send-notices'),
  NotRunsendwebhooks: notRun('send-webhooks'),
  NotRunupdatenames: notRun('update-names'),
  Errorssendheartbeat: mostRuns('send-heartbeat'),
  Errorssendnotices: mostRuns('send-notices'),
  Errorssendwebhooks: mostRuns('send-webhooks'),
  Errorsupdatenames: mostRuns('update-names'),
  LateWebhooks: {
    of: ['reviews LateWebhooks Sum'],
    within: twice,
    rings: [[[1, 1]]],
    silent: [[[1, none]]],
  },
  FailingWebhooks: {
    of: ['reviews WebhooksSent Sum', 'reviews FailingWebhooks Sum'],
    within: hourly,
    rings: [[[none], [2]]],
    // Somebody has received a message, or one bad minute was repeated with success.
    silent: [
      [[1], [9]],
      [[none], [1]],
    ],
  },
  // A small service: one mail, tried 40 and 80 minutes after the decision.
  LateMails: {
    of: ['reviews LateMails Sum'],
    within: '1 of 1 × 7200 s',
    rings: [[[2]]],
    silent: [[[1]]],
  },
  LostNotices: counted('LostNotices'),
};

test('there are these alarms, each of a kind that CloudWatch takes', () => {
  expect([...watches.keys()].sort()).toEqual(Object.keys(expected).sort());
  for (const { metrics, within } of watches.values()) {
    const [, periods, seconds] = (/of (\d+) × (\d+) s$/.exec(within) ?? []).map(Number);
    // PutMetricAlarm: a day at most, or a week where a period is an hour or longer.
    const longest = Number(seconds) < 3600 ? 86_400 : 604_800;
    expect(Number(periods) * Number(seconds)).toBeLessThanOrEqual(longest);
    expect(metrics.length).toBeLessThanOrEqual(10);
  }
});

test.each(Object.entries(expected))('%s watches its metrics, and rings', (id, alarm) => {
  const { stack, metrics, within } = watches.get(id) ?? {};
  expect({ of: metrics, within }).toEqual({ of: alarm.of, within: alarm.within });
  const isRinging = (points: Series[]) => rings(stack as Template, id, points);
  expect(alarm.rings.filter((points) => !isRinging(points))).toEqual([]);
  expect(alarm.silent.filter(isRinging)).toEqual([]);
  // Without any data, only the alarms on what runs by the clock ring.
  const nothing = alarm.of.map(() => times(26, none));
  expect(isRinging(nothing)).toBe(/^(NotRun|Unreachable)/.test(id));
});

test('alarms ring for missing data only if something has stopped', () => {
  // FILL gives nothing for a metric that has never had a value.
  const heard = stacks.flatMap((stack) =>
    resources(stack, 'AWS::CloudWatch::Alarm').flatMap(([id, { Properties }]) =>
      Properties.TreatMissingData === 'breaching' ? [id] : [],
    ),
  );
  for (const id of heard) expect(id).toMatch(/^(MonitoringNotRun|Unreachable)/);
  // Five jobs, four of them in either service.
  expect(heard).toHaveLength(10);
});

describe('the guide', () => {
  const text = readFileSync(new URL('../../../infra/aws/alarms.md', import.meta.url), 'utf8');
  const [before = '', ...sections] = text.split(/^## /m);
  const headings = sections.map((section) => section.split('\n')[0] ?? '');
  // An alarm of one function or activity, or of indexes, has its name after the heading.
  const sectionOf = (id: string) =>
    headings.find((heading) => new RegExp(`^${heading}([a-z]|ByPopularity|$)`).test(id)) ??
    `${id} has no section`;

  test('has a section for each alarm, and no other', () => {
    const named = new Set([...watches.keys()].map(sectionOf));
    expect([...named].sort()).toEqual(headings.toSorted());
    for (const section of sections) {
      expect(section).toMatch(/\*\*Look at.*\*\*[Rr]un:\*\* /s);
    }
  });
  test('has a row for each section, with the topic that its alarms tell', () => {
    const rows = [
      ...before.matchAll(/^\| \[(\w+)\]\(#(\w+)\)[^|]*\| (page|ticket) \| [^|]+ \|$/gm),
    ];
    expect(rows.map(([, name, anchor]) => [name, anchor])).toEqual(
      headings.map((heading) => [heading, heading.toLowerCase()]),
    );
    const topics = new Map(rows.map(([, name = '', , topic]) => [name, topic]));
    for (const [id, { tells }] of watches) {
      expect([id, tells?.toLowerCase()]).toEqual([id, topics.get(sectionOf(id))]);
    }
  });
  test('names what costs money in an idle month', () => {
    const { data, service } = plain;
    const secrets = [service, data].flatMap((stack) =>
      propertiesOf(stack, 'AWS::SecretsManager::Secret'),
    );
    const watched = Object.values(alarms(service));
    const metrics = watched.flatMap((alarm) => alarm.metrics).length;
    const boards = resources(service, 'AWS::CloudWatch::Dashboard').length;
    expect({ secrets: secrets.length, alarms: watched.length, metrics, boards }).toEqual({
      secrets: 4,
      alarms: 35,
      metrics: 75,
      boards: 1,
    });
  });
});
