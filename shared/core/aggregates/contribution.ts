import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { totalKey } from '../../base/list/keys.ts';
import { popularityOf } from '../../base/list/popularity-rank.ts';
import { type Counter, countersOf } from '../../base/list/rank-tree.ts';
import { pick } from '../../base/pick.ts';
import { type Amounts, gain } from '../../base/table/amounts.ts';
import type { Item, Key } from '../../base/table/item.ts';
import { idIn } from '../../base/table/item.ts';
import { epochSeconds } from '../../base/time.ts';
import type { EntityType } from '../entity/entity-type.ts';
import { countsKey, entityKey, projectionKey, reviewKey, userKey } from '../keys.ts';
import { totalAttributes } from '../review/owner-counts.ts';
import { parseFacet, type ReviewContent, readKind, withoutStars } from '../review/review.ts';

// The numbers that a review or user adds to totals and rank trees, and the counters that they
// belong to.

/** Contribution of one version of an item to totals and rank trees. */
export interface Contribution {
  /** Partition key of the review or user. */
  pk: string;
  version: number;
  /** `<type>|<language>|<content>` of a public review, `USER` of an account, null if nowhere. */
  counted: string | null;
  /** Place in the lists: epoch ms; 0 for an item that counts nowhere. */
  time: number;
  popularity: number;
  /** Partition keys of entity and author. A projection has only those whose lists have trees. */
  owners: readonly string[];
  /** Epoch seconds. Only a removed item expires. */
  expires_at?: number;
}

/** Sort keys of the items that count somewhere. */
const countedSorts = [reviewKey('').sk, userKey('').sk];

const rememberRemovedSeconds = 14 * 86_400;

/**
 * Returns the contribution of a review or user in a stream record, unless it counts as before.
 * Other items lie in their partitions too, such as the case of a review.
 */
export function contributionOf({ dynamodb = {} }: DynamoDBRecord): Contribution | undefined {
  const { Keys, OldImage, NewImage } = dynamodb;
  if (!countedSorts.includes(`${Keys?.sk?.S}`)) return undefined;
  const pk = Keys?.pk?.S ?? '';
  if (!NewImage) return removed({ pk, version: Number(OldImage?.version?.N ?? 0) });
  const after = contribution(attributesIn(pk, NewImage));
  const before = OldImage ? contribution(attributesIn(pk, OldImage)) : contribution({ pk });
  return isSame(before, after) ? undefined : after;
}

/**
 * Returns the types whose totals change with these stream records. It depends on the records alone,
 * so repeated records have the same types.
 */
export function typesIn(records: readonly DynamoDBRecord[]): Set<EntityType> {
  const types = new Set<EntityType>();
  for (const { dynamodb: { Keys, OldImage = {}, NewImage = {} } = {} } of records) {
    if (Keys?.sk?.S !== reviewKey('').sk) continue;
    const counted = [OldImage, NewImage].map(
      (image) => contribution(attributesIn('', image)).counted,
    );
    if (counted[0] === counted[1]) continue;
    for (const facet of counted) if (facet) types.add(parseFacet(facet).entity_type);
  }
  return types;
}

/** Derives the contribution of a review or user from its index attributes. */
export function contribution(item: Readonly<Record<string, unknown>>): Contribution {
  const { pk, version, all, facet, kind, entity, author, date, popularity_rank } = item;
  const nowhere = {
    pk: String(pk),
    version: Number(version),
    counted: null,
    time: 0,
    popularity: 0,
    owners: [],
  };
  if (all !== 'REVIEW' && all !== 'USER') return nowhere;
  const time = Date.parse(String(date).slice(0, String(date).indexOf('#')));
  if (all === 'USER') return { ...nowhere, counted: 'USER', time };
  return {
    ...nowhere,
    counted: `${facet}|${readKind(`${kind}`).content}`,
    time,
    popularity: popularityOf(BigInt(String(popularity_rank))),
    owners: [entityKey(String(entity)).pk, userKey(String(author)).pk],
  };
}

/** Remembers for 14 days that a deleted item counts nowhere: stream records may be repeated. */
export function removed({ pk, version }: Pick<Contribution, 'pk' | 'version'>): Contribution {
  const expires_at = epochSeconds(rememberRemovedSeconds);
  return { ...contribution({ pk, version: version + 1 }), expires_at };
}

/** Is true if two contributions of an item count the same, whatever their versions. */
export function isSame(a: Contribution, b: Contribution): boolean {
  return (
    a.counted === b.counted &&
    a.time === b.time &&
    a.popularity === b.popularity &&
    a.owners.join() === b.owners.join()
  );
}

/** Makes the projection state: a contribution as counted in totals and rank trees. */
export function projectionItem({ pk, ...projected }: Contribution) {
  return { ...projectionKey({ pk }), ...projected };
}

/** Reads the contribution that a projection item holds. */
export function readProjection(item: Item): Contribution {
  const stored = item as Item & Contribution;
  return pick(stored, ['pk', 'version', 'counted', 'time', 'popularity', 'owners']);
}

/** Returns the key of the item that counts the reviews of an entity or author. */
export function ownerKey(pk: string): Key {
  return pk.startsWith(userKey('').pk) ? countsKey(idIn({ pk })) : entityKey(idIn({ pk }));
}

/** Adds `sign` times a contribution to all of its counters. */
export function count(amounts: Amounts, contributed: Contribution, sign: 1 | -1): void {
  for (const { key, attribute } of counters(contributed)) {
    gain(amounts, key, { [attribute]: sign });
  }
}

/**
 * Returns all counters of a contribution.
 *
 * Lists with trees are all users, the reviews of each type and of each facet, and long lists of
 * entities and authors, also by type and by facet. The trees of types add up to all reviews, so
 * there is none of all. Filters by stars exist for an entity or author, so only their trees tell
 * stars apart.
 */
export function counters({ counted, owners, ...place }: Contribution): Counter[] {
  if (counted === null) return [];
  if (counted === 'USER') return countersOf('users', 'user', place);
  const end = counted.lastIndexOf('|');
  const facet = counted.slice(0, end);
  const { entity_type, language } = parseFacet(facet);
  const withStars = counted.slice(end + 1) as ReviewContent;
  const content = withoutStars(withStars);
  const lists = [`all|${entity_type}`, `all|${facet}`];
  const listsWithStars = owners.flatMap((owner) => [
    owner,
    `${owner}|${entity_type}`,
    `${owner}|${facet}`,
  ]);
  const key = totalKey(entity_type);
  return [
    ...totalAttributes({ language, content }).map((attribute) => ({ key, attribute })),
    ...lists.flatMap((list) => countersOf(list, content, place)),
    ...listsWithStars.flatMap((list) => countersOf(list, withStars, place)),
  ];
}

function attributesIn(pk: string, image: Record<string, AttributeValue>) {
  const values = Object.entries(image).map(([name, { S, N }]) => [name, S ?? N]);
  return { ...Object.fromEntries(values), pk };
}
