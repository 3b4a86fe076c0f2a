import type { DynamoDBRecord } from 'aws-lambda';
import { serviceUnavailable } from '../errors.ts';
import { batchGet, type Item, keyString } from '../table/batch.ts';
import {
  appliedKey,
  entityKey,
  type Key,
  popularityOf,
  rebuildKey,
  totalKey,
  userKey,
} from '../table/keys.ts';
import { add, retryStale, transact, type Write } from '../table/transact.ts';
import { type Cell, cellsOf, countIn, limits, type Slot, slotOf } from './calendar.ts';

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

/** Of each contribution there are up to five items to read, and a batch takes 100 keys. */
const readSize = 20;

/** Actions of a transaction. */
const maxActions = 100;

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
  const { pk, version, counted, time, popularity, owners, is_divided = false } = item;
  return { pk, version, counted, time, popularity, owners, is_divided } as Contribution;
}

/** What may have grown long, see large-lists.ts: the items of entities and authors, and slots. */
export interface Touched {
  owners: Item[];
  slots: Slot[];
}

/**
 * Brings totals and calendars up to these contributions. What has been applied of each item is remembered beside it, in the same
 * transaction, so that a contribution that comes twice, late or out of order changes nothing. Throws ApiError 503 while all is
 * being rebuilt.
 */
export async function applyContributions(contributions: readonly Contribution[]): Promise<Touched> {
  const latest = new Map<string, Contribution>();
  for (const each of contributions) {
    const known = latest.get(each.pk);
    if (!known || known.version < each.version) latest.set(each.pk, each);
  }
  // Neighbours share nodes, and a transaction writes each node once.
  const sorted = [...latest.values()].sort(
    (a, b) => compare(a.counted ?? '', b.counted ?? '') || a.time - b.time,
  );
  const owners = new Map<string, Item>();
  const slots = new Map<string, Slot>();
  for (let start = 0; start < sorted.length; start += readSize) {
    const touched = await applySlice(sorted.slice(start, start + readSize));
    for (const owner of touched.owners) owners.set(owner.pk, owner);
    for (const slot of touched.slots) slots.set(keyString(slot.node), slot);
  }
  return { owners: [...owners.values()], slots: [...slots.values()] };
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

async function applySlice(contributions: readonly Contribution[]): Promise<Touched> {
  return retryStale(async () => {
    const items = await readBefore(contributions);
    const owners = [...items.values()].filter(({ sk }) => sk === 'ENTITY' || sk === 'USER');
    const withCalendar = new Set(owners.filter(({ calendar }) => calendar).map(({ pk }) => pk));
    const slots: Slot[] = [];

    let pending: Change[] = [];
    let amounts: Amounts = new Map();
    for (const each of contributions) {
      const item = items.get(keyString(appliedKey(each)));
      const before = item && readApplied(item);
      const slot = slotOfEntry(each);
      const { all, isDivided } = divisionOf(slot, items);
      // Others may be at work on it: what is half full by what was read may be full by now.
      if (slot && all + contributions.length > limits.skipped / 2) slots.push(slot);
      const after = {
        ...each,
        owners: each.owners.filter((owner) => withCalendar.has(owner)),
        is_divided: isDivided,
      };
      if (before && !supersedes(after, before)) continue;
      const more = amountsOf([...pending, { before, after }]);
      if (pending.length > 0 && 2 + pending.length + more.size > maxActions) {
        await write(pending, amounts);
        pending = [];
        amounts = amountsOf([{ before, after }]);
      } else {
        amounts = more;
      }
      pending.push({ before, after });
    }
    if (pending.length > 0) await write(pending, amounts);
    return { owners, slots };
  });
}

/** What has been applied so far, the entities and authors, and the nodes that tell whether a slot is divided. */
function readBefore(contributions: readonly Contribution[]): Promise<Map<string, Item>> {
  const keys = contributions.flatMap((each) => {
    const slot = slotOfEntry(each);
    return [
      appliedKey(each),
      ...each.owners.map(ownerKey),
      ...(slot ? [slot.parent, slot.node] : []),
    ];
  });
  const distinct = new Map(keys.map((key) => [keyString(key), key]));
  return batchGet([...distinct.values()], { consistent: true });
}

/** The slot in the list of all that decides for all lists; undefined for what counts nowhere. */
export function slotOfEntry({ counted, time }: Contribution): Slot | undefined {
  return counted === null ? undefined : slotOf(counted === 'USER' ? 'users' : 'all', time);
}

/** How many entries a slot has, and whether they are, or should be, counted by the minute; all of them when it is even. */
export function divisionOf(
  slot: Slot | undefined,
  items: ReadonlyMap<string, Item>,
): { all: number; isDivided: boolean; isEven: boolean } {
  if (!slot) return { all: 0, isDivided: false, isEven: true };
  const all = countIn(items.get(keyString(slot.parent)), slot.child);
  const divided = countIn(items.get(keyString(slot.node)));
  const isDivided = divided > 0 || all > limits.skipped;
  return { all, isDivided, isEven: !isDivided || divided === all };
}

interface Change {
  before: Contribution | undefined;
  after: Contribution;
}

/** The primary key of an entity or author. */
export function ownerKey(pk: string): Key {
  return { pk, sk: pk.slice(0, pk.indexOf('#')) };
}

/** The same version is applied again when an owner has got a calendar since, or the slot has been divided. */
function supersedes(after: Contribution, before: Contribution): boolean {
  if (after.version !== before.version) return after.version > before.version;
  if (after.is_divided && !before.is_divided) return true;
  return after.owners.some((owner) => !before.owners.includes(owner));
}

function amountsOf(changes: readonly Change[]): Amounts {
  const amounts: Amounts = new Map();
  for (const { before, after } of changes) {
    if (before) count(amounts, before, -1);
    count(amounts, after, 1);
  }
  return amounts;
}

async function write(changes: readonly Change[], amounts: Amounts): Promise<void> {
  await transact([
    noRebuild(),
    ...changes.map(({ before, after }) => ({
      Put: { Item: appliedItem(after), ...stillApplied(before) },
    })),
    ...[...amounts.values()].flatMap(({ key, by }) => {
      const changed = Object.entries(by).filter(([, amount]) => amount !== 0);
      return changed.length > 0 ? [{ Update: add(key, Object.fromEntries(changed)) }] : [];
    }),
  ]);
}

function stillApplied(before: Contribution | undefined) {
  if (!before) return { ConditionExpression: 'attribute_not_exists(pk)' };
  const isStillDivided = before.is_divided ? 'attribute_exists' : 'attribute_not_exists';
  return {
    ConditionExpression: `#version = :version AND owners = :owners AND ${isStillDivided}(is_divided)`,
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':version': before.version, ':owners': before.owners },
  };
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

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
