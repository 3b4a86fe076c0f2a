import { describe, expect, test } from '@jest/globals';
import { rings, type Series } from '../../helpers/aws/alarm-state.ts';
import { alarms } from '../../helpers/aws/checks.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';

const { service } = (await synthesized()).everything;

describe('on made-up data points', () => {
  const days = (hours: number, value: number | undefined) => Array(hours).fill(value);
  const quiet = Array(9).fill([0, 0]);
  // Data points in the order of the metrics, one series each, the newest last.
  const cases: [alarm: string, rings: boolean, series: Series[]][] = [
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
    ['AuthorizerFailures', true, [[6]]],
    ['AuthorizerFailures', false, [[5]]],
    ['Errorsexpirevotecounters', true, [[1]]],
    ['Errorsexpirevotecounters', false, [[0]]],
    ['NotRunexpirevotecounters', true, [days(26, undefined)]],
    ['NotRunexpirevotecounters', false, [[...days(25, undefined), 1]]],
    ['Errorssendheartbeat', true, [[1]]],
    ['Errorssendheartbeat', false, [[undefined]]],
    ['NotRunsendheartbeat', true, [[undefined]]],
    ['NotRunsendheartbeat', false, [[60]]],
    ['LateWebhooks', true, [[1, 1]]],
    ['LateWebhooks', false, [[1, undefined]]],
    ['Errorssendwebhooks', true, [[1]]],
    ['Errorssendwebhooks', false, [[undefined]]],
    ['NotRunsendwebhooks', true, [[undefined]]],
    ['NotRunsendwebhooks', false, [[60]]],
  ];
  test.each(cases)('the alarm %s rings: %s, after %j', (alarm, expected, series) => {
    expect(rings(service, alarm, series)).toBe(expected);
  });
  test('each alarm rings once, and once it does not', () => {
    for (const ringing of [true, false]) {
      const shown = cases.filter(([, rings]) => rings === ringing).map(([alarm]) => alarm);
      expect([...new Set(shown)].sort()).toEqual(Object.keys(alarms(service)).sort());
    }
  });
});
