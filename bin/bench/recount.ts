import { type Item, keyString } from '../../shared/base/table/item.ts';
import { scanItems } from '../../shared/base/table/query.ts';
import { isPublic, type Review } from '../../shared/core/review/review.ts';
import { rebuildTotals } from '../../shared/features/audit/public.ts';
import { type Listed, sorts } from './lists.ts';
import { measure } from './measure.ts';
import { listed } from './oracle.ts';

// Compares lists and counts with the reviews themselves.

const pagesEach = 8;

/** Checks lists against the reviews, and counts against a rebuild. Nothing may write meanwhile. */
export async function checkLists(lists: readonly Listed[]): Promise<string[]> {
  const differences: string[] = [];
  const reviews = ((await scan(({ sk }) => sk === 'REVIEW')) as unknown as Review[]).filter(
    isPublic,
  );
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

  const before = await readCounts();
  const { corrected_projections: corrected } = await rebuildTotals();
  const rebuilt = await readCounts();
  for (const name of new Set([...before.keys(), ...rebuilt.keys()])) {
    if (before.get(name) !== rebuilt.get(name)) {
      differences.push(`${name} is ${before.get(name)}, not ${rebuilt.get(name)}`);
    }
  }
  if (corrected > 0) differences.push(`${corrected} reviews were counted in an outdated state`);
  return differences;
}

/** Reads all numbers of totals and rank trees. A number of 0 is left out, like an absent number. */
async function readCounts() {
  const counts = new Map<string, number>();
  for (const item of await scan(({ pk }) => pk.startsWith('T'))) {
    for (const [name, number] of Object.entries(item)) {
      if (typeof number === 'number' && number !== 0) {
        counts.set(`${keyString(item)} ${name}`, number);
      }
    }
  }
  return counts;
}

async function scan(isWanted: (item: Item) => boolean): Promise<Item[]> {
  const matches: Item[] = [];
  for await (const { items } of scanItems()) {
    for (const item of items.filter(isWanted)) {
      // Only the presence of a text matters.
      matches.push({ ...item, text: item.text && '…' });
    }
  }
  return matches;
}
