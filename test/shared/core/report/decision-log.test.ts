import { expect, jest, test } from '@jest/globals';
import { newDecision } from '../../../../shared/core/report/decision-log.ts';

/** Makes a decision at each of these moments, and returns the times that are stored. */
function timesOf(moments: string[]): string[] {
  jest.useFakeTimers();
  return moments.map((moment) => {
    jest.setSystemTime(new Date(moment));
    const by = { reason: 'other', note: '', moderator_id: null } as const;
    const about = { user_id: null, review_id: null, reports: 0 };
    return newDecision('dismiss', by, about).decided_at;
  });
}

test('keeps the order of decisions within a millisecond', () => {
  const moment = '2090-01-01T00:00:00.000Z';
  expect(timesOf([moment, moment, moment, '2090-01-01T00:00:00.001Z'])).toEqual([
    '2090-01-01T00:00:00.000Z',
    '2090-01-01T00:00:00.001Z',
    '2090-01-01T00:00:00.002Z',
    '2090-01-01T00:00:00.003Z',
  ]);
});

test('follows a clock that was set back', () => {
  const moments = ['2091-01-01T00:00:00.000Z', '2090-06-01T00:00:00.000Z'];
  expect(timesOf(moments)).toEqual(moments);
});
