import { languages } from '../../../../shared/base/languages.ts';
import { totalKey } from '../../../../shared/base/list/keys.ts';
import { metered } from '../../../../shared/base/table/budget.ts';
import {
  countReviews,
  listReviews,
  readCountsByLanguage,
} from '../../../../shared/core/review/review-list.ts';
import { setAttributes } from '../../../helpers/items.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { makeUser } from '../../../helpers/world.ts';

beforeAll(async () => {
  const author = await makeUser();
  await author.publishes({ entity_type: 'work', language: 'de' });
  await author.publishes({ entity_type: 'work', language: 'en' });
  await applyStream();
});

const page = { offset: 0, limit: 1, order: 'date', descending: true } as const;
const reads: [string, () => Promise<unknown>][] = [
  ['a list', () => listReviews(page)],
  ['a list of a type', () => listReviews({ ...page, entity_type: 'work' })],
  ['a list in a language', () => listReviews({ ...page, language: 'de' })],
  ['a list of texts', () => listReviews({ ...page, review_type: 'review' })],
  ['the number of reviews', countReviews],
];

/** Bytes of the table's answers to each read. */
async function bytesOfReads() {
  const bytes = [];
  for (const [, read] of reads) bytes.push((await metered(read)).usage.bytes);
  return bytes;
}

test('what shows one number reads none of the counts by language', async () => {
  const before = await bytesOfReads();
  const more = languages.filter((code) => code !== 'de').map((code) => [code.toUpperCase(), 1]);
  await setAttributes(totalKey('work'), Object.fromEntries(more));
  // Answers differ by a few bytes in the width of their numbers.
  for (const [i, bytes] of (await bytesOfReads()).entries()) {
    expect([reads[i]?.[0], Math.abs(bytes - Number(before[i])) < 20]).toEqual([
      reads[i]?.[0],
      true,
    ]);
  }
  expect([...(await readCountsByLanguage()).values()][0]?.languages.size).toBe(languages.length);
});

test('the numbers are right', async () => {
  const counts = await Promise.all([
    listReviews(page),
    listReviews({ ...page, language: 'de' }),
    listReviews({ ...page, language: 'zu' }),
    listReviews({ ...page, entity_type: 'artist', language: 'de' }),
    listReviews({ ...page, entity_type: 'work', language: 'de', review_type: 'review' }),
  ]);
  expect(await countReviews()).toBe(2);
  expect(counts.map(({ count }) => count)).toEqual([2, 1, 1, 0, 1]);
});
