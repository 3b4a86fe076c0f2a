import { randomUUID } from 'node:crypto';
import { withoutRecords } from '../../bin/bulk.ts';
import { languages } from '../../shared/base/languages.ts';
import { entityTypes } from '../../shared/core/entity/entity-type.ts';
import { claimKey } from '../../shared/core/keys.ts';
import type { Review } from '../../shared/core/review/review.ts';
import { reviewItem } from '../../shared/core/review/review-writes.ts';
import { userItem } from '../../shared/core/user/user-repository.ts';
import { rebuildTotals } from '../../shared/features/audit/rebuild.ts';
import { recountOwners } from '../../shared/features/audit/recount.ts';
import { choices } from './choices.ts';
import { storeItems } from './items.ts';
import { reviewBy, text } from './world.ts';

// The widest lists that the rules allow: every type in every language, and many of them, with every
// content, over two years and in a rush.

const { below: number } = choices(11);

/** Languages in which each type has many reviews. Each other language has one of each type. */
const usual = languages.slice(0, 45);
const day = 86_400_000;
const start = Date.UTC(2024, 0, 1);
const rush = { start: Date.UTC(2026, 0, 5, 20), length: 30 * 60_000 };

export interface WidestLists {
  reviews: Review[];
  /** An entity and an author with an eighth of all reviews each. */
  entity_id: string;
  user_id: string;
}

/** Fills the table, which takes about a minute unless fewer reviews are enough. */
export async function makeWidestLists({ reviewsEach = 50 } = {}): Promise<WidestLists> {
  const entity_id = randomUUID();
  const user_id = randomUUID();
  const authors = Array.from({ length: 3_300 }, () => randomUUID());
  const reviews: Review[] = [];
  const add = (entity_type: Review['entity_type'], language: string) => {
    const i = reviews.length;
    const isInRush = i % 4 === 0;
    const time = isInRush ? rush.start + number(rush.length) : start + number(730 * day);
    const published_on = new Date(time).toISOString();
    const content = i % 3;
    const owner = i % 8;
    const [author = '', entity] =
      owner === 0
        ? [user_id, randomUUID()]
        : [authors[i >> 3], owner === 1 ? entity_id : randomUUID()];
    reviews.push({
      ...reviewBy(author, {
        entity_id: entity ?? '',
        entity_type,
        language,
        text: content === 1 ? null : text,
        rating: content === 2 ? null : 1 + number(5),
      }),
      created: published_on,
      last_updated: published_on,
      published_on,
      popularity: content !== 1 && number(4) === 0 ? number(9) - 3 : 0,
    });
  };
  for (const language of usual) {
    for (let k = 0; k < reviewsEach; k++) for (const type of entityTypes) add(type, language);
  }
  for (const language of languages.slice(usual.length)) {
    for (const type of entityTypes) add(type, language);
  }
  const who = { display_name: 'Ann', created: '2024-01-01T00:00:00.000Z', karma: 0 };
  const items = [
    ...[user_id, ...authors].map((id) => userItem({ id, ...who })),
    ...reviews.map(reviewItem),
    ...reviews.map((each) => ({ ...claimKey(each.user_id, each.entity_id), review_id: each.id })),
  ];
  await withoutRecords(() => storeItems(items));
  await recountOwners();
  await rebuildTotals(undefined, { inTransactions: true });
  return { reviews, entity_id, user_id };
}
