import { type Points, rings } from '../../helpers/aws/alarm-state.ts';
import { alarms, resources } from '../../helpers/aws/checks.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

const { service } = (await synthesized()).everything;

describe('on made-up data points', () => {
  const days = (hours: number, value: number | undefined) => Array(hours).fill(value);
  const quiet = Array(6).fill([0, 0]);
  /** Failures and requests of six hours. */
  const signIns = (failed: number[], asked: number[]) => ({
    asked,
    failed,
    unavailable: days(6, undefined),
  });
  // Data points in the order of the metrics, one series each, the newest last.
  const cases: [alarm: string, rings: boolean, points: Points][] = [
    // Everybody who signs in is refused, among 150,000 requests of an hour.
    ['Outagesignin', true, { asked: [9], failed: [3], unavailable: [undefined] }],
    // Of three requests of a sign-in, the last one fails.
    ['Outagesignin', true, { asked: [12], failed: [4], unavailable: [undefined] }],
    // DynamoDB throttles all of them, which the function tells.
    ['Outagesignin', true, { asked: [9], failed: [undefined], unavailable: [3] }],
    ['Outagesignin', true, { asked: [9], failed: [1], unavailable: [2] }],
    ['Outagesignin', false, { asked: [5], failed: [2], unavailable: [undefined] }],
    ['Outagesignin', false, { asked: [100], failed: [20], unavailable: [undefined] }],
    ['Outagesignin', false, { asked: [40], failed: [undefined], unavailable: [undefined] }],
    ['Outagegettoken', true, { asked: [3], failed: [3], unavailable: [undefined] }],
    ['Outagegettoken', false, { asked: [15], failed: [3], unavailable: [undefined] }],
    ['Outagepublish', true, { asked: [10], failed: [3], unavailable: [undefined] }],
    ['Outagepublish', false, { asked: [2], failed: [2], unavailable: [undefined] }],
    ['Outagevote', true, { asked: [500], failed: [101], unavailable: [undefined] }],
    ['Outagevote', false, { asked: [500], failed: [100], unavailable: [undefined] }],
    ['Outageread', true, { asked: [37_500], failed: [30_000], unavailable: [undefined] }],
    // DynamoDB was away for half a minute.
    ['Outageread', false, { asked: [90_000], failed: [3000], unavailable: [undefined] }],
    ['ErrorsOfAnHour', true, [[15], [undefined], [1000]]],
    ['ErrorsOfAnHour', true, [[5], [10], [1000]]],
    ['ErrorsOfAnHour', true, [[undefined], [20], [20]]],
    ['ErrorsOfAnHour', false, [[14], [undefined], [1000]]],
    ['ErrorsOfAnHour', false, [[2], [undefined], [40]]],
    ['ErrorsOfAnHour', false, [[19], [undefined], [19]]],
    ['ErrorsOfAnHour', false, [[undefined], [undefined], [1000]]],
    ['ErrorsOfSixHours', true, [[31], [undefined], [10_000]]],
    ['ErrorsOfSixHours', false, [[20], [10], [10_000]]],
    [
      'SlowRequests',
      true,
      [
        [11, 11, 11],
        [900, 900, 900],
      ],
    ],
    [
      'SlowRequests',
      false,
      [
        [11, 10, 11],
        [900, 900, 900],
      ],
    ],
    [
      'SlowRequests',
      false,
      [
        [11, 11, 11],
        [11_000, 11_000, 11_000],
      ],
    ],
    [
      'SlowRequests',
      false,
      [
        [11, undefined, 11],
        [900, 900, 900],
      ],
    ],
    ['OverBudget', true, [[1]]],
    ['OverBudget', false, [[undefined]]],
    ['Throttles', true, [[11, 11]]],
    ['Throttles', false, [[11, 10]]],
    ['TooManyRequests', true, [[6001, 6001]]],
    ['TooManyRequests', false, [[6001, 6000]]],
    ['OldestCase', true, [[72.1]]],
    ['OldestCase', false, [[72]]],
    ['OldestCase', false, [[undefined]]],
    ['TableReadThrottles', true, [...quiet.slice(1), [1, 1]]],
    ['TableReadThrottles', false, quiet],
    ['TableReadThrottlesByPopularity', true, [...quiet.slice(2), [1, 1]]],
    ['TableReadThrottlesByPopularity', false, quiet.slice(1)],
    ['TableWriteThrottlesByPopularity', true, [...quiet.slice(2), [1, 1]]],
    ['TableWriteThrottlesByPopularity', false, quiet.slice(1)],
    ['TableWriteThrottles', true, [[1, 1], ...quiet.slice(1)]],
    ['TableWriteThrottles', false, quiet],
    ['IteratorAgeupdateaggregates', true, [[300_001, 300_001]]],
    ['IteratorAgeupdateaggregates', false, [[300_001, 300_000]]],
    ['IteratorAgeeraser', true, [[3_600_001, 3_600_001]]],
    ['IteratorAgeeraser', false, [[3_600_001, 3_600_000]]],
    // Changes in two hours, and no call of the consumer.
    ['Unfollowedupdateaggregates', true, [[...days(22, undefined), 4, 1], days(24, undefined)]],
    ['Unfollowedupdateaggregates', false, [days(24, 4), days(24, 1)]],
    ['Unfollowedupdateaggregates', false, [days(24, undefined), days(24, undefined)]],
    [
      'Unfollowederaser',
      true,
      [days(24, undefined), [...days(22, undefined), 1, 1], days(24, undefined)],
    ],
    ['Unfollowederaser', false, [days(24, 1), days(24, 1), days(24, 1)]],
    ['DeadLetters', true, [[1]]],
    ['DeadLetters', false, [[0]]],
    ['RecordsAside', true, [[1]]],
    ['RecordsAside', false, [[undefined]]],
    ['AuthorizerFailures', true, { accepted: [undefined], failed: [5] }],
    ['AuthorizerFailures', true, { accepted: [70], failed: [20] }],
    ['AuthorizerFailures', false, { accepted: [80], failed: [20] }],
    ['AuthorizerFailures', false, { accepted: [undefined], failed: [4] }],
    ['AuthorizerFailures', false, { accepted: [100_000], failed: [500] }],
    // One person cannot sign in, and some hours later another. A sign-in has three requests.
    ['SignInsOfSixHours', true, signIns([1, 0, 0, 0, 1, 0], [3, 0, 2, 0, 1, 0])],
    ['SignInsOfSixHours', false, signIns([1, 0, 0, 0, 0, 0], [1, 0, 2, 0, 1, 0])],
    ['SignInsOfSixHours', false, signIns([1, 1, 1, 1, 1, 1], [5, 9, 5, 5, 7, 5])],
    ['CertificateExpiry', true, [[29]]],
    ['CertificateExpiry', false, [[30]]],
    ['CertificateExpiry', false, [[undefined]]],
    ['ReplacedKeys', true, [[1]]],
    ['ReplacedKeys', false, [[undefined]]],
    ['Unanswered', true, [[3, 5, 5]]],
    ['Unanswered', false, [[3, 2, 5]]],
    ['Unanswered', false, [[undefined, 5, 5]]],
    ['NotRunexpirevotecounters', true, [days(26, undefined)]],
    ['NotRunexpirevotecounters', false, [[...days(25, undefined), 1]]],
    ['Errorssendheartbeat', true, [[3, 3]]],
    // One failed minute, which the next one repeats; and a bad few minutes.
    ['Errorssendheartbeat', false, [[undefined, 1]]],
    ['Errorssendheartbeat', false, [[2, 5]]],
    ['NotRunsendheartbeat', true, [[undefined]]],
    ['NotRunsendheartbeat', false, [[60]]],
    ['LateWebhooks', true, [[1, 1]]],
    ['LateWebhooks', false, [[1, undefined]]],
    ['Errorssendwebhooks', true, [[5, 5]]],
    ['Errorssendwebhooks', false, [[1, 1]]],
    ['FailingWebhooks', true, { sent: [undefined], failing: [2] }],
    // Somebody has received a message, or one bad minute was repeated with success.
    ['FailingWebhooks', false, { sent: [1], failing: [9] }],
    ['FailingWebhooks', false, { sent: [undefined], failing: [1] }],
    ['NotRunsendwebhooks', true, [[undefined]]],
    ['NotRunsendwebhooks', false, [[60]]],
    // A small service: one mail, tried 40 and 80 minutes after the decision.
    ['LateMails', true, [[2]]],
    ['LateMails', false, [[1]]],
    ['LateMails', false, [[undefined]]],
    ['LostNotices', true, [[1]]],
    ['LostNotices', false, [[undefined]]],
    ['Errorssendnotices', true, [[5, 5]]],
    ['Errorssendnotices', false, [[1, 1]]],
    ['NotRunsendnotices', true, [[undefined]]],
    ['NotRunsendnotices', false, [[60]]],
    ['Errorsupdatenames', true, [[5, 5]]],
    ['Errorsupdatenames', false, [[1, 1]]],
    ['NotRunupdatenames', true, [[undefined]]],
    ['NotRunupdatenames', false, [[60]]],
  ];
  test.each(cases)('the alarm %s rings: %s, after %j', (alarm, expected, points) => {
    expect(rings(service, alarm, points)).toBe(expected);
  });
  test('without any data, only the alarms of jobs that run by the clock ring', () => {
    const ringing = Object.entries(alarms(service)).filter(([alarm, { metrics }]) =>
      rings(
        service,
        alarm,
        metrics.map(() => days(26, undefined)),
      ),
    );
    const jobs = [
      'expirevotecounters',
      'sendheartbeat',
      'sendnotices',
      'sendwebhooks',
      'updatenames',
    ].map((job) => `NotRun${job}`);
    expect(ringing.map(([alarm]) => alarm).sort()).toEqual(jobs);
    // FILL gives nothing for a metric that has never had a value.
    const heard = resources(service, 'AWS::CloudWatch::Alarm').flatMap(([id, { Properties }]) =>
      Properties.TreatMissingData === 'breaching'
        ? [id.replace(/^Monitoring|[0-9A-F]{8}$/g, '')]
        : [],
    );
    expect(heard.sort()).toEqual(jobs);
  });
  test('each alarm rings once, and once it does not', () => {
    for (const ringing of [true, false]) {
      const shown = cases.filter(([, rings]) => rings === ringing).map(([alarm]) => alarm);
      expect([...new Set(shown)].sort()).toEqual(Object.keys(alarms(service)).sort());
    }
  });
});
