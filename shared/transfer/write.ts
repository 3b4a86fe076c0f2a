import { ApiError } from '../errors.ts';
import { announceFacet } from '../list/totals.ts';
import { batchWrite } from '../table/batch.ts';
import { keyString } from '../table/item.ts';
import { add, addCounts, maxActions, transact, type Write } from '../table/transact.ts';
import { countCast } from '../vote/daily-votes.ts';
import { bytesIn, type Part, type Touch } from './part.ts';

/** In bytes of JSON; DynamoDB takes 4 MB of items. */
const mostBytes = 3_000_000;
/** Each time a transaction waits for 8 s. */
const attempts = 5;

const isNew = { ConditionExpression: 'attribute_not_exists(pk)' };

/** Parts by transaction. */
export function* packed(parts: readonly Part[]): Generator<Part[]> {
  let together: Part[] = [];
  let touched = new Set<string>();
  let bytes = 0;
  for (const part of parts) {
    const names = namesIn(part);
    const size = part.puts.reduce((sum, item) => sum + bytesIn(item), 0);
    const isFull = new Set([...touched, ...names]).size > maxActions || bytes + size > mostBytes;
    if (together.length > 0 && isFull) {
      yield together;
      [together, touched, bytes] = [[], new Set(), 0];
    }
    together.push(part);
    for (const name of names) touched.add(name);
    bytes += size;
  }
  if (together.length > 0) yield together;
}

/** What a part has an action for, if no other has. */
function namesIn({ puts, touches, cast }: Part): Set<string> {
  return new Set([
    ...puts.map(keyString),
    ...touches.map(({ key }) => keyString(key)),
    ...cast.map(({ userId, day }) => `${userId} ${day}`),
  ]);
}

/** Writes parts in one transaction. Throws StaleRead, or ApiError 503 when the table stays busy. */
export async function write(parts: readonly Part[]): Promise<void> {
  for (const { facet } of parts) if (facet !== undefined) await announceFacet(facet);
  await batchWrite(parts.flatMap(({ early }) => early.map((put) => ({ put }))));
  for (let attempt = 1; ; attempt++) {
    try {
      await transact(actionsOf(parts));
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503 || attempt === attempts) throw error;
    }
  }
}

/** The actions of one transaction: whatever touches the same item is one. */
function actionsOf(parts: readonly Part[]): Write[] {
  const touched = new Map<string, Touch>();
  for (const { key, amounts = {}, condition } of parts.flatMap(({ touches }) => touches)) {
    const name = keyString(key);
    const before = touched.get(name);
    const sum: Record<string, number | bigint | undefined> = { ...before?.amounts };
    for (const [attribute, by = 0] of Object.entries(amounts)) {
      const so = sum[attribute] ?? 0;
      sum[attribute] = typeof by === 'bigint' ? BigInt(so) + by : Number(so) + by;
    }
    // Units of one kind were read at once: whatever they ask of one item is the same.
    touched.set(name, { key, amounts: sum, condition });
  }
  const cast = Map.groupBy(
    parts.flatMap((part) => part.cast),
    ({ userId, day }) => `${userId} ${day}`,
  );
  return [
    ...parts.flatMap(({ puts }) => puts.map((Item): Write => ({ Put: { Item, ...isNew } }))),
    ...[...touched.values()].flatMap(touchOf),
    ...[...cast.values()].flatMap((votes) => {
      const [{ userId, day } = { userId: '', day: '' }] = votes;
      return countCast(userId, day, votes.length);
    }),
  ];
}

function touchOf({ key, amounts = {}, condition }: Touch): Write[] {
  const gained = Object.entries(amounts).flatMap(([name, by]) => (by ? [[name, by] as const] : []));
  if (gained.length === 0) {
    return condition ? [{ ConditionCheck: { Key: key, ...condition } }] : [];
  }
  const counting = key.pk.startsWith('REVIEW#') ? add : addCounts;
  return [{ Update: counting(key, Object.fromEntries(gained), condition) }];
}
