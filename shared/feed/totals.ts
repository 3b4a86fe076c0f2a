import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { type FacetCounts, type FacetFilter, kinds } from '../review/counts.ts';
import { typesOf } from '../review/entity-type.ts';
import { TableName, table } from '../table/client.ts';
import { between, totalKey, usersTotalKey } from '../table/keys.ts';

/**
 * Counts of all public reviews that a filter may need. Without a type or language in the filter they are under one facet that
 * stands for all, the empty one. They follow the table by a moment, because they are derived from its stream.
 */
export async function readTotals({ entity_type, language }: FacetFilter): Promise<FacetCounts> {
  if (entity_type === undefined && language === undefined) {
    const { Item } = await table.send(new GetCommand({ TableName, Key: totalKey() }));
    return new Map(countsOf('', Item));
  }
  const types = entity_type === undefined ? [] : typesOf(entity_type);
  return readFacetTotals(types.length === 1 ? `${types[0]}|` : '');
}

/** How many accounts there are. */
export async function readUsersTotal(): Promise<number> {
  const { Item } = await table.send(new GetCommand({ TableName, Key: usersTotalKey }));
  return Number(Item?.count ?? 0);
}

async function readFacetTotals(prefix: string): Promise<FacetCounts> {
  const { pk, sk } = totalKey(prefix);
  const counts = new Map<string, number>();
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  do {
    const page = await table.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
        ExpressionAttributeValues: { ':pk': pk, ...between(sk) },
        Limit: 4000,
        ExclusiveStartKey,
      }),
    );
    for (const item of page.Items ?? []) {
      const facet = String(item.sk).slice(totalKey('').sk.length);
      for (const [name, count] of countsOf(facet, item)) counts.set(name, count);
    }
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return counts;
}

function countsOf(facet: string, item: Record<string, unknown> = {}): [string, number][] {
  return kinds.map((kind) => [`${facet}|${kind}`, Number(item[kind] ?? 0)]);
}
