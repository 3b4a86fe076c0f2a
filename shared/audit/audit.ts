import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { isPublic, kindOf, listedIn, Review } from '../review/review.ts';
import { batchGet, type Item, keyString } from '../table/batch.ts';
import { claimKey, contactKey, type Key, reviewKey, revisionKey } from '../table/keys.ts';
import { collect, type Entry, getItem, queryIndex, queryItems, scanItems } from '../table/query.ts';
import { StaleRead, transact, type Write } from '../table/transact.ts';

/** An attribute that is not what follows from the items it is derived from. `item` of what should not be there at all, or is missing. */
export interface Difference {
  pk: string;
  sk: string;
  attribute: string;
  stored: unknown;
  counted: unknown;
}

/** What is wrong with one item and those derived from it, and the writes that mend it, on condition that nothing changes meanwhile. */
interface Finding {
  differences: Difference[];
  repair: Write[];
}

/** A place in the table to go on from, for whoever was interrupted. */
export type Position = Key;

/** How far an audit has come, and what it found on the way. */
export interface Progress {
  items: number;
  differences: Difference[];
  repaired: number;
  position: Position | undefined;
}

/**
 * Holds every number that a transaction keeps against a recount: votes, popularity and index attributes of reviews, tallies of revisions,
 * claims, karma and counts of users, counts and ratings of entities. It reads the table in pages and keeps nothing of them, so that its
 * memory is flat, and goes on from a position after an interruption. Beside traffic it is safe: what changes while it is
 * looked at is looked at again, and a repair is conditional on what was read. `settle` is how many milliseconds an index may be behind the
 * table: a difference that is gone by then was none. `isDue` leaves items out.
 */
export async function* audit({
  from,
  repair = false,
  settle = 1_000,
  isDue = () => true,
}: {
  from?: Position;
  repair?: boolean;
  settle?: number;
  isDue?: (item: Item) => boolean;
} = {}): AsyncGenerator<Progress> {
  let last = '';
  for await (const { items, position } of scanItems({ from, pageSize: 250 })) {
    const progress: Progress = { items: items.length, differences: [], repaired: 0, position };
    for (const item of items) {
      // The items of a review lie together, and are looked at together.
      if (!isDue(item) || (item.pk.startsWith('REVIEW#') && item.pk === last)) continue;
      last = item.pk;
      const found = await confirmed(item, settle);
      progress.differences.push(...found.differences);
      if (repair && found.repair.length > 0 && (await isRepaired(found))) {
        progress.repaired += found.differences.length;
      }
    }
    yield progress;
  }
}

/** A finding that is still there when the indexes have settled. */
async function confirmed(item: Item, settle: number): Promise<Finding> {
  const found = await check(item);
  if (found.differences.length === 0) return found;
  await sleep(settle);
  return check(item);
}

async function isRepaired({ repair }: Finding): Promise<boolean> {
  try {
    await transact(repair);
    return true;
  } catch (error) {
    // It has changed since: the next audit sees whether it is right now.
    if (error instanceof StaleRead) return false;
    throw error;
  }
}

const nothing: Finding = { differences: [], repair: [] };

async function check(item: Item): Promise<Finding> {
  if (item.pk.startsWith('REVIEW#')) return checkReview(item.pk);
  if (item.sk === 'ENTITY') return checkOwner(item, 'entity');
  if (item.sk === 'USER') return checkOwner(item, 'author');
  if (item.sk.startsWith('CLAIM#')) return checkClaim(item);
  return nothing;
}

/** The review and all that lies beside it. */
async function checkReview(pk: string): Promise<Finding> {
  const items = await collect(queryItems({ pk, sk: '' }, { pageSize: 1000 }));
  const stored = items.find(({ sk }) => sk === 'REVIEW');
  if (!stored) return orphans(items.filter(({ sk }) => /^(VOTE|REVISION|REPORT)#/.test(sk)));
  const review = v.parse(Review, stored);
  const votes = items.filter(({ sk }) => sk.startsWith('VOTE#'));
  const tallies = new Map<number, { votes_positive: number; votes_negative: number }>();
  for (const { revision, vote } of votes) {
    const tally = tallies.get(Number(revision)) ?? { votes_positive: 0, votes_negative: 0 };
    tally[vote ? 'votes_positive' : 'votes_negative']++;
    tallies.set(Number(revision), tally);
  }
  const none = { votes_positive: 0, votes_negative: 0 };
  const votes_positive = votes.filter(({ vote }) => vote).length;
  const votes_negative = votes.length - votes_positive;
  const popularity = votes_positive - votes_negative;
  const current = tallies.get(review.edits + 1) ?? none;
  const expected: Record<string, unknown> = {
    votes_positive,
    votes_negative,
    popularity,
    revision_votes_positive: current.votes_positive,
    revision_votes_negative: current.votes_negative,
    ...noIndexes,
    ...listedIn({ ...review, popularity }),
  };
  const differences = compare(stored, expected);
  const repair: Write[] = differences.length > 0 ? [setVersioned(stored, differences)] : [];

  for (let n = 1; n <= review.edits; n++) {
    const key = revisionKey(review.id, n);
    const revision = items.find(({ sk }) => sk === key.sk);
    const found = revision
      ? compare(revision, { ...(tallies.get(n) ?? none) })
      : [{ ...key, attribute: 'item', stored: 'none', counted: 'revision' }];
    differences.push(...found);
    if (revision && found.length > 0) repair.push(set(revision, found));
  }

  const key = claimKey(review.user_id, review.entity_id);
  const claim = await getItem(key);
  if (claim?.review_id !== review.id) {
    const stored = claim?.review_id;
    differences.push({ ...key, attribute: 'review_id', stored, counted: review.id });
    if (!claim) {
      const Item = { ...key, review_id: review.id };
      repair.push({ Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } });
    }
  }
  if (differences.length === 0) return nothing;
  // A vote or an edit between the reads would look like a difference.
  const again = await getItem(reviewKey(review.id));
  return again?.version === stored.version ? { differences, repair } : checkReview(pk);
}

/** What the reviews of a user or entity add up to. */
async function checkOwner(stored: Item, scope: 'author' | 'entity'): Promise<Finding> {
  const owner = await getItem(stored);
  if (!owner || owner.deleted_at !== undefined) return nothing;
  const id = owner.pk.slice(owner.pk.indexOf('#') + 1);
  const counted: Record<string, number> = Object.fromEntries(
    Object.keys(owner).flatMap((name) => (isCount(name) ? [[name, 0]] : [])),
  );
  const bump = (name: string, by: number) => {
    counted[name] = (counted[name] ?? 0) + by;
  };
  if (scope === 'author') {
    counted.karma = 0;
    const applications = await collect(queryIndex('author-by-date', `OWNER#${id}`));
    if (owner.applications !== undefined) counted.applications = applications.length;
  }
  for (const value of scope === 'author' ? [id, `UNLISTED#${id}`] : [id]) {
    for await (const entries of queryIndex(`${scope}-by-date`, value, { pageSize: 100 })) {
      for (const review of await readReviews(entries)) {
        if (scope === 'author') bump('karma', review.popularity);
        if (!isPublic(review)) continue;
        bump(`${review.entity_type}|${review.language}|${kindOf(review)}`, 1);
        if (scope === 'author') continue;
        bump('review_count', 1);
        if (review.rating === null) continue;
        bump('rating_count', 1);
        bump('rating_sum', review.rating);
      }
    }
  }
  const isOff = ({ stored = 0, counted }: Difference) => stored !== counted;
  const differences = compare(owner, counted).filter(isOff);
  if (differences.length > 0) return { differences, repair: [set(owner, differences)] };
  return scope === 'author' ? checkContact(owner, id) : nothing;
}

/** What is not public lay on the user once, where public readers may read it. */
function checkContact(user: Item, id: string): Finding {
  const names = ['email', 'musicdb_username', 'identity'].filter(
    (name) => user[name] !== undefined,
  );
  if (names.length === 0) return nothing;
  const { pk, sk } = user;
  const contact = Object.fromEntries(names.map((name) => [name, user[name]]));
  return {
    differences: names.map((attribute) => {
      return { pk, sk, attribute, stored: 'on the user', counted: 'apart' };
    }),
    repair: [
      {
        Put: {
          Item: { ...contactKey(id), ...contact },
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
      {
        Update: {
          Key: { pk, sk },
          UpdateExpression: `REMOVE ${names.map((name) => `#${name}`).join(', ')}`,
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
        },
      },
    ],
  };
}

/** A claim leads to a review of this user and entity. */
async function checkClaim(claim: Item): Promise<Finding> {
  const review = await getItem(reviewKey(String(claim.review_id)));
  if (review || !(await getItem(claim))) return nothing;
  return orphans([claim]);
}

/** What has lost the review that it belongs to. */
function orphans(items: readonly Item[]): Finding {
  return {
    differences: items.map(({ pk, sk }) => ({
      pk,
      sk,
      attribute: 'item',
      stored: sk.slice(0, sk.indexOf('#')).toLowerCase(),
      counted: 'none',
    })),
    repair: items.slice(0, 100).map(({ pk, sk }) => ({ Delete: { Key: { pk, sk } } })),
  };
}

const noIndexes = {
  all: undefined,
  facet: undefined,
  entity: undefined,
  author: undefined,
  date: undefined,
  popularity_rank: undefined,
  kind: undefined,
};

function isCount(name: string): boolean {
  return name.includes('|') || ['review_count', 'rating_sum', 'rating_count'].includes(name);
}

async function readReviews(entries: readonly Entry[]): Promise<Review[]> {
  const keys = entries.map(({ pk, sk }) => ({ pk, sk }));
  const items = await batchGet(keys, { consistent: true });
  return keys.flatMap((key) => {
    const item = items.get(keyString(key));
    return item ? [v.parse(Review, item)] : [];
  });
}

function compare(item: Item, expected: Readonly<Record<string, unknown>>): Difference[] {
  const { pk, sk } = item;
  return Object.entries(expected).flatMap(([attribute, counted]) => {
    const stored = item[attribute];
    // A rank may come as a number or as a bigint.
    return `${stored}` === `${counted}` ? [] : [{ pk, sk, attribute, stored, counted }];
  });
}

/** Sets what was counted where everything compared is still as it was read. */
function set({ pk, sk }: Key, differences: readonly Difference[]): Write {
  const names = differences.map((_, i) => `#n${i}`);
  const isSet = ({ counted }: Difference) => counted !== undefined;
  const assigned = differences.flatMap((each, i) => (isSet(each) ? [`#n${i} = :new${i}`] : []));
  const removed = differences.flatMap((each, i) => (isSet(each) ? [] : [`#n${i}`]));
  return {
    Update: {
      Key: { pk, sk },
      UpdateExpression: [
        assigned.length > 0 ? `SET ${assigned.join(', ')}` : '',
        removed.length > 0 ? `REMOVE ${removed.join(', ')}` : '',
      ].join(' '),
      ConditionExpression: differences
        .map(({ stored }, i) =>
          stored === undefined ? `attribute_not_exists(#n${i})` : `#n${i} = :old${i}`,
        )
        .join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(
        names.map((name, i) => [name, differences[i]?.attribute ?? '']),
      ),
      ExpressionAttributeValues: Object.fromEntries(
        differences.flatMap(({ stored, counted }, i) => [
          ...(counted === undefined ? [] : [[`:new${i}`, counted]]),
          ...(stored === undefined ? [] : [[`:old${i}`, stored]]),
        ]),
      ),
    },
  };
}

/** The same for a review, whose version tells of every other change as well. */
function setVersioned(review: Item, differences: readonly Difference[]): Write {
  const version = { pk: review.pk, sk: review.sk, attribute: 'version', stored: review.version };
  return set(review, [...differences, { ...version, counted: Number(review.version) + 1 }]);
}
