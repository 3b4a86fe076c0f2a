/** The attributes that an index may be partitioned by, and those it may be sorted by: keys.ts says what is in them. */
export type Scope = 'all' | 'facet' | 'entity' | 'author';
export type Order = 'date' | 'popularity';

/** `all-by-date`, `entity-by-popularity`, … */
export type IndexName = `${Scope}-by-${Order}`;

const scopes: readonly Scope[] = ['all', 'facet', 'entity', 'author'];
const orders: readonly Order[] = ['date', 'popularity'];

/** What every index entry holds beside its keys, so that a page of a list needs no second look. */
const projection = ['user_id', 'facet', 'kind'];

/** The table as data: the local stack creates it from this, and so does CDK. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  timeToLive: 'expires_at',
  /** The DynamoDB type of every key attribute. */
  attributeTypes: {
    pk: 'S',
    sk: 'S',
    all: 'S',
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

/** The attribute that an order sorts by. */
export function sortKeyOf(order: Order): 'date' | 'popularity_rank' {
  return order === 'date' ? 'date' : 'popularity_rank';
}
