import { readFileSync } from 'node:fs';
import { estimateImport } from '../../bin/import-estimate.ts';

// 200,000 reviews of 20,000 people, with 60,000 votes.
const counts = { user: 20_000, review: 200_000, vote: 60_000 };

describe('an import into a new table on AWS', () => {
  test('takes 27 minutes and costs $4.24', () => {
    // 6,440,000 write units at 4,000 a second, and 1,680,000 read units.
    expect(estimateImport(counts, 4_000)).toEqual({
      minutes: 27,
      dollars: expect.closeTo(4.235, 3),
    });
  });

  test('is faster on a table that takes more', () => {
    expect(estimateImport(counts, 40_000).minutes).toBe(3);
  });

  test('is in the guide', () => {
    const guide = readFileSync(new URL('../../infra/aws/README.md', import.meta.url), 'utf8');
    expect(guide).toContain('27 minutes and $4.24');
  });

  test('other kinds count, too', () => {
    expect(estimateImport({ application: 1_000_000 }, 4_000)).toEqual({
      minutes: 17,
      dollars: expect.closeTo(3.25, 3),
    });
  });
});
