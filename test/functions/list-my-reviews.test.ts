import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { idsOf, makeUsers, visitor } from '../helpers/world.ts';

const [user, other] = await makeUsers(2);

/** Newest first. */
const ids: string[] = [];
for (let i = 0; i < 12; i++) {
  // Reviews of the same millisecond have no order.
  stopClock(Date.now() + 1);
  ids.unshift(await user.publishes({ is_draft: i % 3 === 1 }));
  if (i % 3 === 2) await setHidden(ids[0] ?? '', true);
  await other.publishes({ is_draft: i % 2 === 0 });
}

describe('GET /user/me/reviews', () => {
  test('returns published, draft and hidden reviews, newest first', async () => {
    const { status, body } = await user.listsOwnReviews();
    expect(status).toBe(200);
    expect(body).toMatchObject({ count: 12, limit: 50, offset: 0 });
    expect(Object.keys(body)).toEqual(['count', 'limit', 'offset', 'reviews']);
    expect(idsOf(body.reviews)).toEqual(ids);
    for (const [i, { is_draft, is_hidden, published_on, user: by }] of body.reviews.entries()) {
      expect(is_hidden).toBe(i % 3 === 0);
      expect(is_draft).toBe(i % 3 === 1);
      expect(published_on === null).toBe(i % 3 === 1);
      expect(by.id).toBe(user.id);
    }
    const { body: plain } = await visitor.reads(ids[2] ?? '');
    const state = { is_draft: false, is_hidden: false, moderation: null };
    expect(body.reviews[2]).toEqual({ ...plain.review, ...state });
  });
});
