import type { DynamoDBRecord } from 'aws-lambda';
import { type Item, keyString } from '../table/batch.ts';
import { appliedKey, entityKey, type Key, popularityOf, totalKey, userKey } from '../table/keys.ts';
import { type Cell, cellsOf, type Slot, slotOf } from './calendar.ts';

/** What an item adds to totals and calendars, as of one version of it. */
export interface Contribution {
  /** Partition key of the review or user. */
  pk: string;
  version: number;
  /** `<type>|<language>|<kind>` for a public review, `USER` for an account, null for what counts nowhere. */
  counted: string | null;
  /** Where it stands in the lists: epoch ms; 0 for what counts nowhere. */
  time: number;
  popularity: number;
  /** The entity and author it belongs to, as partition keys; of what has been applied, only those whose lists have calendars. */
  owners: readonly string[];
  /** Whether its slot is divided, so that it counts in its minute too. */
  is_divided: boolean;
  /** Epoch seconds until which a removed item must be remembered, because its records may come again. */
  expires_at?: number;
}

/** Amounts to add, by attribute, to items, by `keyString`. */
export type Amounts = Map<string, { key: Key; by: Record<string, number> }>;

const rememberRemovedSeconds = 14 * 86_400;

/** What a record of the table's stream says of its item; undefined where the version has not changed. */
export function contributionOf({ dynamodb = {} }: DynamoDBRecord): Contribution | undefined {
  const { Keys, OldImage, NewImage } = dynamodb;
  const pk = Keys?.pk?.S ?? '';
  const before = Number(OldImage?.version?.N ?? 0);
  if (!NewImage) return removed({ pk, version: before });
  const version = Number(NewImage.version?.N ?? 0);
  if (version === before) return undefined;
  const { all, facet, kind, entity, author, date, popularity_rank } = NewImage;
  return contribution({
    pk,
    version,
    all: all?.S,
    facet: facet?.S,
    kind: kind?.S,
    entity: entity?.S,
    author: author?.S,
    date: date?.S,
    popularity_rank: popularity_rank?.N,
  });
}

/** What a review or user adds, by its index attributes. */
export function contribution(item: Readonly<Record<string, unknown>>): Contribution {
  const { pk, version, all, facet, kind, entity, author, date, popularity_rank } = item;
  const of = { pk: String(pk), version: Number(version), is_divided: false };
  if (all !== 'REVIEW' && all !== 'USER') {
    return { ...of, counted: null, time: 0, popularity: 0, owners: [] };
  }
  const time = Date.parse(String(date).slice(0, String(date).indexOf('#')));
  if (all === 'USER') return { ...of, counted: 'USER', time, popularity: 0, owners: [] };
  return {
    ...of,
    counted: `${facet}|${kind}`,
    time,
    popularity: popularityOf(BigInt(String(popularity_rank))),
    owners: [entityKey(String(entity)).pk, userKey(String(author)).pk],
  };
}

/** What an item that is gone adds: nothing, and for some days that must be known, as its records may be sent again. */
export function removed({ pk, version }: Pick<Contribution, 'pk' | 'version'>): Contribution {
  const expires_at = Math.floor(Date.now() / 1000) + rememberRemovedSeconds;
  return { ...contribution({ pk, version: version + 1 }), expires_at };
}

/** The item that remembers what totals and calendars hold of an item. */
export function appliedItem({ pk, is_divided, ...applied }: Contribution) {
  return { ...appliedKey({ pk }), ...applied, ...(is_divided && { is_divided }) };
}

/** Reads such an item. */
export function readApplied(item: Item): Contribution {
  const { pk, version, counted, time = 0, popularity = 0, owners = [], is_divided = false } = item;
  return { pk, version, counted, time, popularity, owners, is_divided } as Contribution;
}

/** The primary key of an entity or author. */
export function ownerKey(pk: string): Key {
  return { pk, sk: pk.slice(0, pk.indexOf('#')) };
}

/** The slot in the list of all that decides for all lists; undefined for what counts nowhere. */
export function slotOfEntry({ counted, time }: Contribution): Slot | undefined {
  return counted === null ? undefined : slotOf(counted === 'USER' ? 'users' : 'all', time);
}

/** Adds `sign` times a contribution to all that it counts in. */
export function count(amounts: Amounts, contributed: Contribution, sign: 1 | -1): void {
  for (const { key, attribute } of cells(contributed)) {
    const name = keyString(key);
    const item = amounts.get(name) ?? { key, by: {} };
    item.by[attribute] = (item.by[attribute] ?? 0) + sign;
    amounts.set(name, item);
  }
}

/** The lists with calendars are: all reviews, those of an entity or author that has many, each of them by facet, and all users. */
function cells({ counted, owners, is_divided, ...place }: Contribution): Cell[] {
  if (counted === null) return [];
  if (counted === 'USER') return cellsOf('users', 'date', 'user', place, is_divided);
  const [type = '', language = '', kind = ''] = counted.split('|');
  const lists = ['all', ...owners].flatMap((list) => [list, `${list}|${type}|${language}`]);
  return [
    { key: totalKey(type), attribute: `${language}|${kind}` },
    ...lists.flatMap((list) => cellsOf(list, 'date', kind, place, is_divided)),
    ...lists.flatMap((list) => cellsOf(list, 'popularity', kind, place, is_divided)),
  ];
}
