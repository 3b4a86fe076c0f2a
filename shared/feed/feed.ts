import type { DynamoDBRecord } from 'aws-lambda';
import { serviceUnavailable } from '../errors.ts';
import { batchGet, keyString } from '../table/batch.ts';
import { appliedKey, rebuildKey, totalKey, usersTotalKey } from '../table/keys.ts';
import { add, retryStale, transact, type Write } from '../table/transact.ts';

/** What an item adds to the totals, as of one version of it. */
export interface Contribution {
  /** Partition key of the review or user. */
  pk: string;
  version: number;
  /** `<type>|<language>|<kind>` for a public review, `USER` for an account, null for what counts nowhere. */
  counted: string | null;
  /** Epoch seconds until which a removed item must be remembered, because its records may come again. */
  expires_at?: number;
}

/** Amounts to add, by attribute, to one item of the totals, by sort key. */
export type Amounts = Map<string, Record<string, number>>;

const rememberRemovedSeconds = 14 * 86_400;

/** One transaction takes 100 actions; of each contribution there is one, and up to four totals change. */
const chunkSize = 18;

/** What a record of the table's stream says of its item; undefined where the version has not changed. */
export function contributionOf({ dynamodb = {} }: DynamoDBRecord): Contribution | undefined {
  const { Keys, OldImage, NewImage } = dynamodb;
  const pk = Keys?.pk?.S ?? '';
  const before = Number(OldImage?.version?.N ?? 0);
  if (!NewImage) {
    return { pk, version: before + 1, counted: null, expires_at: forgetAt() };
  }
  const version = Number(NewImage.version?.N ?? 0);
  if (version === before) return undefined;
  const { all, facet, kind } = NewImage;
  return { pk, version, counted: countedAs({ all: all?.S, facet: facet?.S, kind: kind?.S }) };
}

/** Until when a removed item is remembered, epoch seconds: its records may be sent again for some days. */
export function forgetAt(): number {
  return Math.floor(Date.now() / 1000) + rememberRemovedSeconds;
}

/** Where an item counts, by its index attributes: see `Contribution`. */
export function countedAs({ all, facet, kind }: { all?: string; facet?: string; kind?: string }) {
  if (all === 'REVIEW') return `${facet}|${kind}`;
  return all === 'USER' ? 'USER' : null;
}

/**
 * Brings the totals up to these contributions. What has been applied of each item is remembered beside it, in the same
 * transaction, so that a contribution that comes twice, late or out of order changes nothing. Throws ApiError 503 while the
 * totals are being rebuilt.
 */
export async function applyContributions(contributions: readonly Contribution[]): Promise<void> {
  const latest = new Map<string, Contribution>();
  for (const contribution of contributions) {
    const known = latest.get(contribution.pk);
    if (!known || known.version < contribution.version) latest.set(contribution.pk, contribution);
  }
  const chunks = [...latest.values()];
  for (let start = 0; start < chunks.length; start += chunkSize) {
    await retryStale(() => applyChunk(chunks.slice(start, start + chunkSize)));
  }
}

/** The item that remembers what the totals hold of an item. */
export function appliedItem({ pk, ...applied }: Contribution) {
  return { ...appliedKey({ pk }), ...applied };
}

/** Adds `sign` times what `counted` stands for. */
export function count(amounts: Amounts, counted: string | null, sign: 1 | -1): void {
  if (counted === null) return;
  if (counted === 'USER') {
    bump(usersTotalKey.sk, 'count');
    return;
  }
  const [type, language, kind = ''] = counted.split('|');
  bump(totalKey().sk, kind);
  bump(totalKey(`${type}|${language}`).sk, kind);

  function bump(sk: string, attribute: string): void {
    const item = amounts.get(sk) ?? {};
    item[attribute] = (item[attribute] ?? 0) + sign;
    amounts.set(sk, item);
  }
}

async function applyChunk(contributions: readonly Contribution[]): Promise<void> {
  const items = await batchGet(contributions.map(appliedKey), { consistent: true });
  const amounts: Amounts = new Map();
  const applied: Write[] = [];
  for (const contribution of contributions) {
    const before = items.get(keyString(appliedKey(contribution)));
    if (before && Number(before.version) >= contribution.version) continue;
    count(amounts, (before?.counted ?? null) as string | null, -1);
    count(amounts, contribution.counted, 1);
    applied.push({
      Put: {
        Item: appliedItem(contribution),
        ...(before
          ? {
              ConditionExpression: '#version = :version',
              ExpressionAttributeNames: { '#version': 'version' },
              ExpressionAttributeValues: { ':version': before.version },
            }
          : { ConditionExpression: 'attribute_not_exists(pk)' }),
      },
    });
  }
  if (applied.length === 0) return;
  await transact([noRebuild(), ...applied, ...additions(amounts)]);
}

function additions(amounts: Amounts): Write[] {
  return [...amounts].flatMap(([sk, item]) => {
    const changed = Object.entries(item).filter(([, amount]) => amount !== 0);
    if (changed.length === 0) return [];
    return [{ Update: add({ pk: totalKey().pk, sk }, Object.fromEntries(changed)) }];
  });
}

function noRebuild(): Write {
  return {
    ConditionCheck: {
      Key: rebuildKey,
      ConditionExpression: 'attribute_not_exists(pk) OR #until < :now',
      ExpressionAttributeNames: { '#until': 'until' },
      ExpressionAttributeValues: { ':now': Math.floor(Date.now() / 1000) },
    },
    otherwise: serviceUnavailable('The totals are being rebuilt'),
  };
}
