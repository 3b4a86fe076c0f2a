import { DeleteCommand, PutCommand, QueryCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { batchWrite, type Item } from '../table/batch.ts';
import { TableName, table } from '../table/client.ts';
import { appliedKey, type IndexAttributes, rebuildKey, reviewKey, userKey } from '../table/keys.ts';
import {
  type Amounts,
  appliedItem,
  type Contribution,
  count,
  countedAs,
  forgetAt,
} from './feed.ts';

/** Seconds that the consumer keeps its hands off after the last sign of life of a rebuild. */
const lockSeconds = 60;

/**
 * Computes the totals anew from the reviews and users in the table: after an incident, or a bulk load. Meanwhile the consumer
 * waits; what is written during the rebuild is in the stream and follows. Gives what was counted.
 */
export async function rebuildTotals(
  onProgress: (items: number) => void = () => {},
): Promise<{ reviews: number; users: number; corrected: number }> {
  await lock();
  try {
    const { actual, applied } = await readAll(onProgress);
    const corrections = [...actual.values()].filter((contribution) => {
      const known = applied.get(contribution.pk);
      return known?.version !== contribution.version || known.counted !== contribution.counted;
    });
    const orphans = [...applied.values()].filter(
      ({ pk, counted }) => counted !== null && !actual.has(pk),
    );
    await writeApplied([...corrections, ...orphans.map(forgotten)]);
    const amounts: Amounts = new Map();
    for (const { counted } of actual.values()) count(amounts, counted, 1);
    await replaceTotals(amounts);
    const contributions = [...actual.values()];
    const users = contributions.filter(({ counted }) => counted === 'USER').length;
    const listed = contributions.filter(({ counted }) => counted !== null).length;
    return { reviews: listed - users, users, corrected: corrections.length + orphans.length };
  } finally {
    await table.send(new DeleteCommand({ TableName, Key: rebuildKey }));
  }
}

async function lock(): Promise<void> {
  const until = Math.floor(Date.now() / 1000) + lockSeconds;
  await table.send(new PutCommand({ TableName, Item: { ...rebuildKey, until } }));
}

async function readAll(onProgress: (items: number) => void) {
  const actual = new Map<string, Contribution>();
  const applied = new Map<string, Contribution>();
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await table.send(
      new ScanCommand({
        TableName,
        ConsistentRead: true,
        FilterExpression: 'sk IN (:review, :user, :applied)',
        ProjectionExpression: 'pk, sk, #version, counted, #all, facet, kind',
        ExpressionAttributeNames: { '#all': 'all', '#version': 'version' },
        ExpressionAttributeValues: {
          ':review': reviewKey('').sk,
          ':user': userKey('').sk,
          ':applied': appliedKey({ pk: '' }).sk,
        },
        Limit: 4000,
        ExclusiveStartKey,
      }),
    );
    for (const item of (page.Items ?? []) as Item[]) {
      const { pk, version } = item as Item & { version: number };
      if (item.sk === appliedKey(item).sk) {
        applied.set(pk, { pk, version, counted: item.counted as string | null });
      } else {
        actual.set(pk, { pk, version, counted: countedAs(item as IndexAttributes) });
      }
    }
    onProgress(actual.size);
    await lock();
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return { actual, applied };
}

async function writeApplied(contributions: readonly Contribution[]): Promise<void> {
  for (let start = 0; start < contributions.length; start += 1000) {
    const chunk = contributions.slice(start, start + 1000);
    await batchWrite(chunk.map((contribution) => ({ put: appliedItem(contribution) })));
    await lock();
  }
}

/** Puts these totals in the place of all there are. */
async function replaceTotals(amounts: Amounts): Promise<void> {
  const { pk } = rebuildKey;
  const page = await table.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
      ConsistentRead: true,
    }),
  );
  const obsolete = (page.Items ?? []).filter(
    ({ sk }) => sk !== rebuildKey.sk && !amounts.has(sk as string),
  );
  await batchWrite([
    ...obsolete.map(({ sk }) => ({ delete: { pk, sk } })),
    ...[...amounts].map(([sk, totals]) => ({ put: { pk, sk, ...totals } })),
  ]);
}

/** An item that is gone without the totals knowing. */
function forgotten({ pk, version }: Contribution): Contribution {
  return { pk, version: version + 1, counted: null, expires_at: forgetAt() };
}
