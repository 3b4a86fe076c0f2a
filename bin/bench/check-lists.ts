import { scanItems } from '../../shared/base/table/query.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { isPublic, type Review } from '../../shared/core/review/review.ts';
import { type Listed, sorts } from './lists.ts';
import { measure } from './measure.ts';
import { listed } from './oracle.ts';

const pagesEach = 8;

/** Returns a sentence for each page that differs from the reviews. Nothing may write meanwhile. */
export async function checkLists(lists: readonly Listed[]): Promise<string[]> {
  const differences: string[] = [];
  const reviews = await publicReviews();
  for (const { name, query } of lists) {
    for (const sort of sorts) {
      const ids = listed(reviews, { ...query, sort }).map(({ id }) => id);
      for (let i = 0; i < pagesEach; i++) {
        const offset = Math.floor(Math.random() * ids.length);
        const { body } = await measure('list-reviews', {
          query: { ...query, sort, offset: `${offset}` },
        });
        if (body.count !== ids.length) {
          differences.push(`${name}: count is ${body.count}, not ${ids.length}`);
        }
        const shown = body.reviews.map(({ id }: Review) => id);
        if (shown.join() !== ids.slice(offset, offset + 50).join()) {
          differences.push(`${name} ${sort} @${offset}: the page differs from the reviews`);
        }
      }
    }
  }
  return differences;
}

async function publicReviews(): Promise<Review[]> {
  const reviews: Review[] = [];
  for await (const { items } of scanItems({ sk: reviewKey('').sk })) {
    for (const review of (items as unknown as Review[]).filter(isPublic)) {
      // Only the presence of a text matters.
      reviews.push({ ...review, text: review.text && '…' });
    }
  }
  return reviews;
}
