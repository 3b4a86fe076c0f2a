import { describe, expect, test } from '@jest/globals';
import { type Points, rings, ringsTogether } from '../../helpers/aws/alarm-state.ts';
import { alarms } from '../../helpers/aws/checks.ts';
import { deployed } from '../../helpers/aws/deployed.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

const { service } = (await synthesized()).everything;
const behind = deployed({ cdn: 'true' }).service;

describe('on made-up data points', () => {
  const days = (hours: number, value: number | undefined) => Array(hours).fill(value);
  const quiet = Array(6).fill([0, 0]);
  // Data points in the order of the metrics, one series each, the newest last.
  const cases: [alarm: string, rings: boolean, points: Points][] = [
    // Everybody who signs in is refused, among 150,000 requests of an hour.
    ['Outagesignin', true, { asked: [9], failed: [3] }],
    // Of three requests of a sign-in, the last one fails.
    ['Outagesignin', true, { asked: [12], failed: [4] }],
    ['Outagesignin', false, { asked: [5], failed: [2] }],
    ['Outagesignin', false, { asked: [100], failed: [20] }],
    ['Outagesignin', false, { asked: [40], failed: [undefined] }],
    ['Outagegettoken', true, { asked: [3], failed: [3] }],
    ['Outagegettoken', false, { asked: [15], failed: [3] }],
    ['Outagepublish', true, { asked: [10], failed: [3] }],
    ['Outagepublish', false, { asked: [2], failed: [2] }],
    ['Outagevote', true, { asked: [500], failed: [101] }],
    ['Outagevote', false, { asked: [500], failed: [100] }],
    ['Outageread', true, { asked: [37_500], failed: [30_000] }],
    // DynamoDB was away for half a minute.
    ['Outageread', false, { asked: [90_000], failed: [3000] }],
    ['ErrorsOfAnHour', true, [[15], [1000]]],
    ['ErrorsOfAnHour', true, [[20], [20]]],
    ['ErrorsOfAnHour', false, [[14], [1000]]],
    ['ErrorsOfAnHour', false, [[2], [40]]],
    ['ErrorsOfAnHour', false, [[19], [19]]],
    ['ErrorsOfAnHour', false, [[undefined], [1000]]],
    ['ErrorsOfSixHours', true, [[31], [10_000]]],
    ['ErrorsOfSixHours', false, [[30], [10_000]]],
    ['Latency', true, [[2001, 2500, 9000]]],
    ['Latency', false, [[2001, 2000, 9000]]],
    ['Latency', false, [[2001, undefined, 9000]]],
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
    ['TooManyRequests', true, [[101, 101]]],
    ['TooManyRequests', false, [[101, undefined]]],
    ['TransactionConflicts', true, [[301, 301, 301]]],
    ['TransactionConflicts', false, [[301, 300, 301]]],
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
    ['AuthorizerFailures', true, { accepted: [undefined], failed: [5] }],
    ['AuthorizerFailures', true, { accepted: [70], failed: [20] }],
    ['AuthorizerFailures', false, { accepted: [80], failed: [20] }],
    ['AuthorizerFailures', false, { accepted: [undefined], failed: [4] }],
    ['AuthorizerFailures', false, { accepted: [100_000], failed: [500] }],
    // The key of the tokens was replaced by another.
    ['RefusedTokensNow', true, { accepted: [undefined], refused: [20] }],
    ['RefusedTokensNow', true, { accepted: [9], refused: [91] }],
    ['RefusedTokensNow', false, { accepted: [10], refused: [90] }],
    ['RefusedTokensNow', false, { accepted: [undefined], refused: [19] }],
    ['RefusedTokensNow', false, { accepted: [undefined], refused: [undefined] }],
    ['AcceptedTokensBefore', true, { accepted: [5000], refused: [200] }],
    ['AcceptedTokensBefore', true, { accepted: [20], refused: [undefined] }],
    ['AcceptedTokensBefore', false, { accepted: [5000], refused: [5000] }],
    ['AcceptedTokensBefore', false, { accepted: [19], refused: [1] }],
    ['AcceptedTokensBefore', false, { accepted: [undefined], refused: [900] }],
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
    ['FailingWebhooks', true, [[3, 5, 5]]],
    ['FailingWebhooks', false, [[5, 2, 5]]],
    ['FailingWebhooks', false, [[undefined, 5, 5]]],
    ['NotRunsendwebhooks', true, [[undefined]]],
    ['NotRunsendwebhooks', false, [[60]]],
  ];
  test.each(cases)('the alarm %s rings: %s, after %j', (alarm, expected, points) => {
    expect(rings(service, alarm, points)).toBe(expected);
  });
  test.each([
    [true, true, true],
    // A program repeats an expired token, as it has all day.
    [false, true, false],
    [false, false, true],
    [false, false, false],
  ])(
    'the alarm RefusedTokens rings: %s, if most are refused: %s, and were not before: %s',
    (expected, RefusedTokensNow, AcceptedTokensBefore) => {
      const parts = { RefusedTokensNow, AcceptedTokensBefore };
      expect(ringsTogether(service, 'RefusedTokens', parts)).toBe(expected);
    },
  );
  test('the alarm KeyRefused rings where the distribution has lost its key', () => {
    const points = (asked: number[], failed: number[]) => ({ asked, failed });
    expect(rings(behind, 'KeyRefused', points([500, 500], [500, 500]))).toBe(true);
    // Somebody has found the address of the API.
    expect(rings(behind, 'KeyRefused', points([500, 500], [250, 250]))).toBe(false);
    expect(rings(behind, 'KeyRefused', points([19, 19], [19, 19]))).toBe(false);
    expect(Object.keys(alarms(service))).not.toContain('KeyRefused');
  });
  test('each alarm rings once, and once it does not', () => {
    for (const ringing of [true, false]) {
      const shown = cases.filter(([, rings]) => rings === ringing).map(([alarm]) => alarm);
      expect([...new Set(shown)].sort()).toEqual(Object.keys(alarms(service)).sort());
    }
  });
});
