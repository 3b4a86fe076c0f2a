import { randomUUID } from 'node:crypto';
import { reviewKey } from '../../../../shared/core/keys.ts';
import { kindOf, type Review, readKind } from '../../../../shared/core/review/review.ts';
import { readItem } from '../../../helpers/items.ts';
import { sizeOf } from '../../../helpers/sizes.ts';
import { makeUser } from '../../../helpers/world.ts';

test.each([25, 2_500, 3_000, 3_600, 4_090, 5_000])(
  'an index entry says at least the bytes of its review, with a text of %i',
  async (length) => {
    const author = await makeUser();
    const id = await author.publishes({
      entity_id: randomUUID(),
      text: 'z'.repeat(length),
      rating: 5,
    });
    const item = await readItem(reviewKey(id));
    // An import also writes where a review comes from, and a moderator why it is hidden.
    const moderation = { decision: 'hide', reason: 'other', note: 'n'.repeat(500), decided_at: '' };
    const source = { source: 'x'.repeat(100), source_url: `https://a.example/${'y'.repeat(100)}` };
    const widest = { ...item, ...source, moderation };
    const { bytes } = readKind(kindOf(item as unknown as Review));
    expect(bytes).toBeGreaterThanOrEqual(sizeOf(widest));
    expect(bytes).toBeLessThan(sizeOf(widest) + 8_192);
  },
);
