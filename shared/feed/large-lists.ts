import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetCommand,
  paginateQuery,
  type QueryCommandInput,
  TransactGetCommand,
} from '@aws-sdk/lib-dynamodb';
import { countMatching, facetCounts } from '../review/counts.ts';
import { batchGet, type Item, keyString } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import type { Scope } from '../table/definition.ts';
import { calendarKey, type Key } from '../table/keys.ts';
import { limits } from '../table/read-entries.ts';
import { StaleRead, transact } from '../table/transact.ts';
import { countIn, type Slot } from './calendar.ts';
import { contribution } from './contribution.ts';
import { applyContributions, divisionOf } from './feed.ts';

/** Passes over a slot in a row. */
const attempts = 3;

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

/**
 * Counts the entries of those of these slots that have become large by the minute. It is the slot of the list of all that decides,
 * for it is never smaller than another. From then on every contribution to it counts by the minute at once; then its entries are
 * applied once more. A reader relies on the minutes where they add up. The same again changes nothing.
 */
export async function divideSlots(slots: readonly Slot[]): Promise<void> {
  for (const slot of slots) {
    // The index follows the table by a moment, or is ahead of what has been applied: what is left then is for the next contribution.
    for (let attempt = 0; attempt < attempts && !(await isEven(slot)); attempt++) {
      if (attempt > 0) await sleep(100 * attempt);
      await applyAgain({
        IndexName: 'all-by-date',
        KeyConditionExpression: '#scope = :list AND #date BETWEEN :low AND :high',
        ExpressionAttributeNames: { '#scope': 'all', '#date': 'date' },
        ExpressionAttributeValues: {
          ':list': slot.list === 'users' ? 'USER' : 'REVIEW',
          ':low': slot.bounds.low,
          ':high': slot.bounds.high,
        },
      });
    }
  }
}

async function isEven(slot: Slot): Promise<boolean> {
  return divisionOf(slot, await readAtOnce([slot.parent, slot.node])).isEven;
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
  await applyAgain({
    IndexName: `${scope}-by-date`,
    KeyConditionExpression: '#scope = :owner',
    ExpressionAttributeNames: { '#scope': scope },
    ExpressionAttributeValues: { ':owner': owner.pk.slice(owner.sk.length + 1) },
  });
  // The index follows the table by a moment and may not have had them all: then the next contribution tries again.
  const [counted = {}, root] = await Promise.all([
    read(owner),
    read(calendarKey(owner.pk, 'date', [])),
  ]);
  if (countIn(root) === listLength(counted)) await markCalendar(owner, 'ready');
}

/** Applies all that a query of an index finds. */
async function applyAgain(query: Omit<QueryCommandInput, 'TableName'>): Promise<void> {
  const pages = paginateQuery({ client: table, pageSize: 100 }, { TableName, ...query });
  for await (const { Items = [] } of pages) {
    const items = await batchGet(
      Items.map(({ pk, sk }) => ({ pk, sk })),
      { consistent: true },
    );
    await applyContributions([...items.values()].map(contribution));
  }
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

/** Items as of one moment, by `keyString`. */
async function readAtOnce(keys: readonly Key[]): Promise<Map<string, Item>> {
  const { Responses = [] } = await table.send(
    new TransactGetCommand({ TransactItems: keys.map((Key) => ({ Get: { TableName, Key } })) }),
  );
  return new Map(
    Responses.flatMap(({ Item }) => (Item ? [[keyString(Item as Key), Item as Item]] : [])),
  );
}
