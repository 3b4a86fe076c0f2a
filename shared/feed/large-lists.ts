import { GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { countMatching, facetCounts } from '../review/counts.ts';
import { batchGet, type Item } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import type { Scope } from '../table/definition.ts';
import { calendarKey, type Key } from '../table/keys.ts';
import { StaleRead, transact } from '../table/transact.ts';
import { forEachCount, limits } from './calendar.ts';
import { applyContributions, contribution } from './feed.ts';

/**
 * Gives calendars to those of these entities and authors whose lists have become long. Most lists stay short, and calendars of
 * theirs would double what a review costs. From the mark on every contribution counts in the new calendar too; then all
 * reviews of the list are applied once more, and the reader may rely on it when it holds as many as the owner has. The same
 * again changes nothing, so that it may be interrupted at any time.
 */
export async function openCalendars(owners: readonly Item[]): Promise<void> {
  for (const owner of owners) {
    if (owner.calendar !== 'ready' && listLength(owner) > limits.skipped) await open(owner);
  }
}

/** Says of the item of an entity or author that its list has a calendar: one that is being filled, or one to rely on. */
export async function markCalendar({ pk, sk }: Key, calendar: 'opening' | 'ready'): Promise<void> {
  try {
    await transact([
      {
        Update: {
          Key: { pk, sk },
          UpdateExpression: 'SET calendar = :calendar',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':calendar': calendar },
        },
      },
    ]);
  } catch (error) {
    // The account is gone, and its list with it.
    if (!(error instanceof StaleRead)) throw error;
  }
}

async function open(owner: Item): Promise<void> {
  await markCalendar(owner, 'opening');
  const scope: Scope = owner.sk === 'ENTITY' ? 'entity' : 'author';
  const pages = paginateQuery(
    { client: table, pageSize: 100 },
    {
      TableName,
      IndexName: `${scope}-by-date`,
      KeyConditionExpression: '#scope = :owner',
      ExpressionAttributeNames: { '#scope': scope },
      ExpressionAttributeValues: { ':owner': owner.pk.slice(owner.sk.length + 1) },
    },
  );
  for await (const { Items = [] } of pages) {
    const items = await batchGet(
      Items.map(({ pk, sk }) => ({ pk, sk })),
      { consistent: true },
    );
    await applyContributions([...items.values()].map(contribution));
  }
  // The index follows the table by a moment and may not have had them all: then the next contribution tries again.
  const [counted = {}, root] = await Promise.all([
    read(owner),
    read(calendarKey(owner.pk, 'date', [])),
  ]);
  let applied = 0;
  forEachCount(root, (_, __, count) => {
    applied += count;
  });
  if (applied === listLength(counted)) await markCalendar(owner, 'ready');
}

function listLength(owner: Readonly<Record<string, unknown>>): number {
  return countMatching(facetCounts(owner), {}).all;
}

async function read({ pk, sk }: Key): Promise<Record<string, unknown> | undefined> {
  const { Item } = await table.send(
    new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }),
  );
  return Item;
}
