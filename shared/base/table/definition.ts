// The keys and indexes of the table.

const scopes = ['all', 'type', 'facet', 'entity', 'author'] as const;
const orders = ['date', 'popularity'] as const;

/** Index partition keys, and index orders. kinds.ts lists the values that they hold. */
export type IndexScope = (typeof scopes)[number];
export type Order = (typeof orders)[number];

/** `all-by-date`, `entity-by-popularity`, … */
export type IndexName = `${IndexScope}-by-${Order}`;

/** Attributes of every index entry beside its keys. A list page needs no second read to filter. */
const projection = ['user_id', 'facet', 'kind'];

/** Definition of the table, for the local server and for CDK. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'expires_at',
  attributeTypes: {
    pk: 'S',
    sk: 'S',
    all: 'S',
    type: 'S',
    facet: 'S',
    entity: 'S',
    author: 'S',
    date: 'S',
    popularity_rank: 'N',
  },
  indexes: scopes.flatMap((scope) =>
    orders.map((order) => ({
      name: `${scope}-by-${order}` satisfies IndexName,
      partitionKey: scope,
      sortKey: sortKeyOf(order),
      projection: projection.filter((attribute) => attribute !== scope),
    })),
  ),
} as const;

/** Returns the attribute that an order sorts by. */
export function sortKeyOf(order: Order): 'date' | 'popularity_rank' {
  return order === 'date' ? 'date' : 'popularity_rank';
}
