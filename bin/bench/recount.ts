import { rebuildTotals } from '../../shared/aggregates/rebuild.ts';
import { isPublic, type Review } from '../../shared/review/review.ts';
import { type Item, keyString } from '../../shared/table/item.ts';
import { scanItems } from '../../shared/table/query.ts';
import { type Listed, sorts } from './lists.ts';
import { measure } from './measure.ts';
import { listed } from './oracle.ts';

const pagesEach = 8;

/**
 * Holds lists against the reviews in the table: `count`, pages at random offsets, and, number by number, totals and rank trees
 * against what a rebuild makes of them. Gives what differs, in words. Nobody may write meanwhile.
 */
export async function checkLists(lists: readonly Listed[]): Promise<string[]> {
  const faults: string[] = [];
  const reviews = ((await scan('sk = :value', 'REVIEW')) as unknown as Review[]).filter(isPublic);
  for (const { name, query } of lists) {
    for (const sort of sorts) {
      const ids = listed(reviews, { ...query, sort }).map(idOf);
      for (let i = 0; i < pagesEach; i++) {
        const offset = Math.floor(Math.random() * ids.length);
        const { body } = await measure('list-reviews', {
          query: { ...query, sort, offset: `${offset}` },
        });
        if (body.count !== ids.length) {
          faults.push(`${name}: count is ${body.count}, not ${ids.length}`);
        }
        if (body.reviews.map(idOf).join() !== ids.slice(offset, offset + 50).join()) {
          faults.push(`${name} ${sort} @${offset}: not the page that follows from the reviews`);
        }
      }
    }
  }

  const kept = await readCounts();
  const { corrected_projections: corrected } = await rebuildTotals();
  const rebuilt = await readCounts();
  for (const name of new Set([...kept.keys(), ...rebuilt.keys()])) {
    if (kept.get(name) !== rebuilt.get(name)) {
      faults.push(`${name} is ${kept.get(name)}, not ${rebuilt.get(name)}`);
    }
  }
  if (corrected > 0) faults.push(`${corrected} reviews had been applied as they no longer are`);
  return faults;
}

function idOf({ id }: { id: string }): string {
  return id;
}

/** All numbers of totals and rank trees; one that is 0 is as good as none. */
async function readCounts(): Promise<Map<string, number>> {
  const items = await scan('begins_with(pk, :value)', 'T');
  return new Map(
    items.flatMap((item) =>
      Object.entries(item).flatMap(([name, number]) =>
        typeof number === 'number' && number !== 0
          ? [[`${keyString(item)} ${name}`, number] as const]
          : [],
      ),
    ),
  );
}

async function scan(FilterExpression: string, value: string): Promise<Item[]> {
  const found: Item[] = [];
  const filter = { FilterExpression, ExpressionAttributeValues: { ':value': value } };
  for await (const { items } of scanItems(filter)) {
    // Of a text no more is of use than whether there is one.
    for (const item of items) found.push({ ...item, text: item.text && '…' });
  }
  return found;
}
