import { bytesOf } from '../../shared/base/bytes-of.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import { claimKey } from '../../shared/core/keys.ts';
import { reviewItem } from '../../shared/core/review/review-writes.ts';
import { makeUser, reviewBy } from '../helpers/world.ts';

const megabyte = 1024 * 1024;

describe('GET /user/me/export', () => {
  test('splits a large account into parts that fit a Lambda response', async () => {
    const large = await makeUser();
    const long = '🎷'.repeat(5_000);
    const puts = Array.from({ length: 400 }, () => {
      const review = reviewBy(large.id, { text: long, rating: 5 });
      const claim = { ...claimKey(large.id, review.entity_id), review_id: review.id };
      return [{ put: reviewItem(review) }, { put: claim }];
    }).flat();
    await batchWrite(puts);

    const ids = new Set<string>();
    const sizes = [];
    let cursor: string | undefined;
    do {
      const { status, headers, body } = await large.exports(cursor ? { cursor } : undefined);
      expect(status).toBe(200);
      sizes.push(bytesOf({ statusCode: 200, headers, body: JSON.stringify(body) }));
      for (const { id, revisions } of body.reviews) {
        expect(revisions).toMatchObject([{ text: long }]);
        ids.add(id);
      }
      expect(headers.link).toBe(body.next && `<?cursor=${body.next}>; rel="next"`);
      cursor = body.next;
    } while (cursor);
    expect(ids.size).toBe(400);
    expect(sizes.length).toBe(2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(6 * megabyte);
    expect(sizes[0]).toBeGreaterThan(5.9 * megabyte);
  });
});
