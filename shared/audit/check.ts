import * as v from 'valibot';
import { Case, countReports, queuedIn } from '../moderation/case.ts';
import { Report } from '../moderation/report.ts';
import { recount } from '../review/owner-counts.ts';
import { listedIn, Review } from '../review/review.ts';
import { type Amounts, changesOf } from '../table/amounts.ts';
import { getItems } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { caseKey, claimKey, idIn, reviewKey, revisionKey } from '../table/keys.ts';
import { collect, getItem, queryIndex, queryItems } from '../table/query.ts';
import {
  beyondRepair,
  compare,
  type Finding,
  orphan,
  set,
  setVersioned,
  unchanged,
} from './finding.ts';

/** The differences of an item as it is now, and of all that lies beside a review. */
export async function check(item: Item): Promise<Finding[]> {
  return (await checkItem(item)).filter(({ differences }) => differences.length > 0);
}

async function checkItem(item: Item): Promise<Finding[]> {
  if (item.pk.startsWith('REVIEW#')) return checkReview(item.pk);
  if (item.sk === 'ENTITY') return checkOwner(item, 'entity');
  if (item.sk === 'USER') return checkOwner(item, 'author');
  if (item.sk.startsWith('CLAIM#')) return checkClaim(item);
  return [];
}

/** The review and all that lies beside it. */
async function checkReview(pk: string): Promise<Finding[]> {
  const items = await collect(queryItems({ pk, sk: '' }, { pageSize: 1000 }));
  const stored = items.find(({ sk }) => sk === 'REVIEW');
  if (!stored) {
    const Key = { pk, sk: reviewKey('').sk };
    const isGone = { ConditionCheck: { Key, ConditionExpression: 'attribute_not_exists(pk)' } };
    return items
      .filter(({ sk }) => /^((VOTE|REVISION|REPORT)#|CASE$)/.test(sk))
      .map((item) => orphan(item, {}, [isGone]));
  }
  const { version } = stored;
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
  const findings: Finding[] = [];
  for (let n = 1; n <= review.edits; n++) {
    const key = revisionKey(review.id, n);
    const revision = items.find(({ sk }) => sk === key.sk);
    if (!revision) {
      const missing = { ...key, attribute: 'item', stored: 'none', counted: 'revision' };
      findings.push(beyondRepair(missing, version));
      continue;
    }
    findings.push({
      differences: compare(revision, { ...(tallies.get(n) ?? none) }),
      version,
      repair: (differences) => [unchanged(stored), set(revision, differences)],
    });
  }

  findings.push(...checkCase(items));

  const key = claimKey(review.user_id, review.entity_id);
  const claim = await getItem(key);
  if (claim) {
    const differences = compare(claim, { review_id: review.id });
    findings.push(...differences.map((difference) => beyondRepair(difference, version)));
  } else {
    const Item = { ...key, review_id: review.id };
    findings.push({
      differences: compare({ ...key }, { review_id: review.id }),
      version,
      repair: () => [
        unchanged(stored),
        { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
      ],
    });
  }

  // The last, because its repair changes the version that the others depend on.
  findings.push({
    differences: compare(stored, expected),
    version,
    repair: (differences) => [setVersioned(stored, differences)],
  });
  return findings;
}

/**
 * The case of a review counts the reports since it was last decided, and is open if there are any.
 */
function checkCase(items: readonly Item[]): Finding[] {
  const item = items.find(({ sk }) => sk === caseKey('').sk);
  if (!item) return [];
  const file = v.parse(Case, item);
  const reports = items.filter(({ sk, round }) => sk.startsWith('REPORT#') && round === file.round);
  const counts = countReports(reports.map((report) => v.parse(Report, report)));
  // An import may bring back a report whose erasure has closed the case.
  const state = reports.length > 0 ? 'open' : file.state;
  const expected = {
    state,
    // A case of before reasons were counted has no attribute for them.
    ...Object.fromEntries(
      Object.entries(counts).filter(([name, count]) => count > 0 || item[name] !== undefined),
    ),
    all: undefined,
    date: undefined,
    popularity_rank: undefined,
    ...queuedIn({ ...file, state, reports: counts.reports }),
  };
  return [
    {
      differences: compare(item, expected),
      version: item.version,
      repair: (differences) => [setVersioned(item, differences)],
    },
  ];
}

/**
 * The counts of a user or entity, compared with the sums over its reviews. The owner is read first:
 * as long as it then keeps its version, nothing that was read later has changed.
 */
async function checkOwner(stored: Item, scope: 'author' | 'entity'): Promise<Finding[]> {
  const owner = await getItem(stored);
  if (!owner || owner.deleted_at !== undefined) return [];
  const id = idIn(owner);
  const lacking: Amounts = new Map();
  recount(lacking, owner);
  if (scope === 'author') {
    for (const item of await collect(queryIndex('author-by-date', `OWNER#${id}`))) {
      recount(lacking, { ...item });
    }
  }
  for await (const item of scope === 'author' ? reviewsBy(id) : reviewsOf(id)) {
    recount(lacking, item);
  }
  const changes = changesOf(lacking).find(({ key }) => keyString(key) === keyString(owner));
  const counted = Object.entries(changes?.by ?? {}).map(([name, by]) => {
    return [name, Number(owner[name] ?? 0) + by] as const;
  });
  return [
    {
      differences: compare(owner, Object.fromEntries(counted)),
      version: owner.version,
      repair: (differences) => [setVersioned(owner, differences)],
    },
  ];
}

/** By claims, because a withdrawn review is in no index and still counts, and by indexes, because a claim may be missing. */
async function* reviewsBy(userId: string): AsyncGenerator<Item> {
  const seen = new Set<string>();
  const lists: AsyncIterable<Key[]>[] = [
    claimed(userId),
    queryIndex('author-by-date', userId, { pageSize: 100 }),
    queryIndex('author-by-date', `UNLISTED#${userId}`, { pageSize: 100 }),
  ];
  for (const list of lists) {
    for await (const keys of list) {
      const unseen = keys.filter(({ pk }) => !seen.has(pk) && seen.add(pk));
      yield* (await readReviews(unseen)).filter(({ user_id }) => user_id === userId);
    }
  }
}

async function* claimed(userId: string): AsyncGenerator<Key[]> {
  for await (const claims of queryItems(claimKey(userId, ''), { pageSize: 100 })) {
    yield claims.map(({ review_id }) => reviewKey(String(review_id)));
  }
}

async function* reviewsOf(entityId: string): AsyncGenerator<Item> {
  for await (const entries of queryIndex('entity-by-date', entityId, { pageSize: 100 })) {
    yield* await readReviews(entries);
  }
}

/**
 * A claim leads to a review, unless it is marked. The author may have given it to another one since
 * it was scanned.
 */
async function checkClaim(scanned: Item): Promise<Finding[]> {
  const claim = await getItem(scanned);
  if (!claim || claim.marked_at !== undefined) return [];
  if (await getItem(reviewKey(String(claim.review_id)))) return [];
  return [
    orphan(claim, {
      ConditionExpression: 'review_id = :id AND attribute_not_exists(marked_at)',
      ExpressionAttributeValues: { ':id': claim.review_id },
    }),
  ];
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

async function readReviews(entries: readonly Key[]): Promise<Item[]> {
  const items = await getItems(entries, { consistent: true });
  return items.flatMap((item) => item ?? []);
}
