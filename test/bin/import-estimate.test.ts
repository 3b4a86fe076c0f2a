import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { estimateImport } from '../../bin/import-estimate.ts';

// 200,000 reviews of 20,000 people, with 60,000 votes.
const counts = { user: 20_000, review: 200_000, vote: 60_000 };

describe('an import into a new table on AWS', () => {
  test('with the consumer off takes 36 minutes and costs $3.49', () => {
    // 4,440,000 units at 4,000 a second are 18.5 minutes, and the rebuild takes 1,000 seconds.
    // Written are 4.44 million units and 0.8 million to count, read 1.68 million.
    expect(estimateImport(counts, { perSecond: 4_000, isPaused: true })).toEqual({
      minutes: 36,
      dollars: expect.closeTo(3.485, 3),
    });
  });

  test('along the stream costs more', () => {
    // 6,440,000 units.
    expect(estimateImport(counts, { perSecond: 4_000, isPaused: false })).toEqual({
      minutes: 27,
      dollars: expect.closeTo(4.235, 3),
    });
  });

  test('is faster on a table that takes more', () => {
    const { minutes } = estimateImport(counts, { perSecond: 40_000, isPaused: true });
    expect(minutes).toBe(19);
  });

  test('is in the guide', () => {
    const guide = readFileSync(new URL('../../infra/aws/README.md', import.meta.url), 'utf8');
    expect(guide).toContain('| minutes, at least | 27 | 36 |');
    expect(guide).toContain('| dollars | $4.24 | $3.49 |');
  });

  test('other kinds count, too', () => {
    const applications = { application: 1_000_000 };
    expect(estimateImport(applications, { perSecond: 4_000, isPaused: true })).toEqual({
      minutes: 17,
      dollars: expect.closeTo(3.25, 3),
    });
  });
});
