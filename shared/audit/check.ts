// Recounts what transactions count: one item at a time, or all items of a review together.
import * as v from 'valibot';
import { pick } from '../pick.ts';
import { Case, countReports, queuedIn, Report } from '../review/case.ts';
import { recount } from '../review/recount.ts';
import { currentRevision, listedIn, type noVotes, Review } from '../review/review.ts';
import { type Amounts, changesOf } from '../table/amounts.ts';
import { getItems } from '../table/batch.ts';
import { type IndexAttributes, type Item, type Key, keyString } from '../table/item.ts';
import { caseKey, claimKey, idIn, reviewKey, revisionKey } from '../table/keys.ts';
import { collect, eachOf, getItem, queryIndex, queryItems } from '../table/query.ts';
import { putNew, type Write } from '../table/transact.ts';
import {
  compare,
  compareVersioned,
  type Difference,
  type Finding,
  orphan,
  set,
} from './finding.ts';

/** Finds the differences of an item, or of all items of its review, as they are now. */
export async function check(item: Item): Promise<Finding[]> {
  return (await checkItem(item)).filter(({ differences }) => differences.length > 0);
}

async function checkItem(item: Item): Promise<Finding[]> {
  if (item.pk.startsWith('REVIEW#')) return checkReview(item.pk);
  if (item.sk === 'ENTITY') return checkOwner(item, 'entity');
  if (item.sk === 'USER' || item.sk === 'COUNTS') return checkOwner(item, 'author');
  if (item.sk.startsWith('CLAIM#')) return checkClaim(item);
  return [];
}

const noIndexes: { [name in keyof Required<IndexAttributes>]: undefined } = {
  all: undefined,
  type: undefined,
  facet: undefined,
  entity: undefined,
  author: undefined,
  date: undefined,
  popularity_rank: undefined,
  kind: undefined,
};

async function checkReview(pk: string): Promise<Finding[]> {
  const items = await collect(queryItems({ pk, sk: '' }, { pageSize: 1000 }));
  const reviewItem = items.find(({ sk }) => sk === 'REVIEW');
  if (!reviewItem) return findOrphans(pk, items);
  const { version } = reviewItem;
  const review = v.parse(Review, reviewItem);
  const unchanged: Write = { ConditionCheck: { Key: reviewKey(review.id), was: { version } } };
  const votes = items.filter(({ sk }) => sk.startsWith('VOTE#'));
  const byRevision = Map.groupBy(votes, ({ revision }) => Number(revision));
  const tallyOf = (revision: number) => tally(byRevision.get(revision) ?? []);
  const counts = countVotes(tally(votes), tallyOf(currentRevision(review)));
  const expected = {
    ...counts,
    ...noIndexes,
    ...listedIn({ ...review, popularity: counts.popularity }),
  };
  return [
    ...checkRevisions(review, items, tallyOf, unchanged),
    ...checkCase(items),
    await checkClaimOf(review, unchanged),
    // Repaired last, because this repair changes the version that the other repairs depend on.
    compareVersioned(reviewItem, expected),
  ];
}

/** Finds the items of a review that does not exist. */
function findOrphans(pk: string, items: readonly Item[]): Finding[] {
  const Key = { pk, sk: reviewKey('').sk };
  const isGone = { ConditionCheck: { Key, was: { pk: undefined } } };
  const orphans = items.filter(({ sk }) => /^((VOTE|REVISION|REPORT)#|CASE$)/.test(sk));
  return orphans.map((item) => orphan(item, {}, [isGone]));
}

type Tally = Pick<typeof noVotes, 'votes_positive' | 'votes_negative'>;

function tally(votes: readonly Item[]): Tally {
  const votes_positive = votes.filter(({ vote }) => vote).length;
  return { votes_positive, votes_negative: votes.length - votes_positive };
}

/** Returns the counts of a review, from all votes and from those on its current revision. */
function countVotes(all: Tally, current: Tally): typeof noVotes {
  return {
    ...all,
    revision_votes_positive: current.votes_positive,
    revision_votes_negative: current.votes_negative,
    popularity: all.votes_positive - all.votes_negative,
  };
}

/** Compares the votes on each earlier revision. A missing revision cannot be repaired. */
function checkRevisions(
  review: Review,
  items: readonly Item[],
  tallyOf: (revision: number) => Tally,
  unchanged: Write,
): Finding[] {
  const { version } = review;
  const findings: Finding[] = [];
  for (let n = 1; n <= review.edits; n++) {
    const key = revisionKey(review.id, n);
    const revision = items.find(({ sk }) => sk === key.sk);
    if (revision) {
      const differences = compare(revision, tallyOf(n));
      findings.push({ differences, version, repair: [unchanged, set(revision, differences)] });
    } else {
      const missing: Difference = {
        ...key,
        attribute: 'item',
        stored: 'none',
        counted: 'revision',
        isRepairable: false,
      };
      findings.push({ differences: [missing], version });
    }
  }
  return findings;
}

/** Compares the claim of an existing review. A missing claim is written again. */
async function checkClaimOf(review: Review, unchanged: Write): Promise<Finding> {
  const key = claimKey(review.user_id, review.entity_id);
  const expected = { review_id: review.id };
  const claim = await getItem(key);
  return {
    differences: compare(claim ?? { ...key }, expected, !claim),
    version: review.version,
    repair: claim ? undefined : [unchanged, putNew({ ...key, ...expected })],
  };
}

/**
 * The case of a review counts the reports since the last decision, and those that it has carried
 * over. Any report opens it.
 */
function checkCase(items: readonly Item[]): Finding[] {
  const item = items.find(({ sk }) => sk === caseKey('').sk);
  if (!item) return [];
  const reviewCase = v.parse(Case, item);
  const reports = items
    .filter(({ sk, round }) => sk.startsWith('REPORT#') && round === reviewCase.round)
    .map((report) => v.parse(Report, report));
  const counts = countReports(reports, reviewCase.carried);
  // An import may restore a report after its erasure has closed the case.
  const state = counts.reports > 0 ? 'open' : reviewCase.state;
  const noQueue = pick(noIndexes, ['all', 'date', 'popularity_rank']);
  const queued = queuedIn({ ...reviewCase, state, ...counts });
  return [compareVersioned(item, { state, ...counts, ...noQueue, ...queued })];
}

/**
 * Compares the counts of a user or entity with the sums over its reviews. The owner is read first.
 * If it keeps its version, none of the data read afterwards has changed.
 */
async function checkOwner(scanned: Item, scope: 'author' | 'entity'): Promise<Finding[]> {
  const owner = await getItem(scanned);
  if (!owner || owner.deleted_at !== undefined) return [];
  const id = idIn(owner);
  const missingCounts: Amounts = new Map();
  recount(missingCounts, owner);
  if (scope === 'author') {
    const applications = eachOf(queryIndex('author-by-date', `OWNER#${id}`));
    for await (const item of applications) recount(missingCounts, { ...item });
  }
  const reviews = scope === 'author' ? reviewsByUser(id) : reviewsOfEntity(id);
  for await (const item of reviews) recount(missingCounts, item);
  const changes = changesOf(missingCounts).find(({ key }) => keyString(key) === keyString(owner));
  const counts = Object.entries(changes?.by ?? {}).map(([name, by]) => {
    return [name, Number(owner[name] ?? 0) + by];
  });
  return [compareVersioned(owner, Object.fromEntries(counts))];
}

/** Claims find withdrawn reviews, which are in no index and still count. Indexes find the rest. */
async function* reviewsByUser(userId: string): AsyncGenerator<Item> {
  const seen = new Set<string>();
  const lists: AsyncIterable<Key[]>[] = [
    claimedReviewKeys(userId),
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

async function* claimedReviewKeys(userId: string): AsyncGenerator<Key[]> {
  for await (const claims of queryItems(claimKey(userId, ''), { pageSize: 100 })) {
    yield claims.map(({ review_id }) => reviewKey(String(review_id)));
  }
}

async function* reviewsOfEntity(entityId: string): AsyncGenerator<Item> {
  for await (const entries of queryIndex('entity-by-date', entityId, { pageSize: 100 })) {
    yield* await readReviews(entries);
  }
}

/** Reads the claim again: the author may have used it for another review since the scan. */
async function checkClaim(scanned: Item): Promise<Finding[]> {
  const claim = await getItem(scanned);
  // The claim of a deleted review.
  if (!claim || claim.marked_at !== undefined || claim.reported !== undefined) return [];
  if (await getItem(reviewKey(String(claim.review_id)))) return [];
  const { review_id } = claim;
  return [orphan(claim, { review_id, marked_at: undefined, reported: undefined })];
}

async function readReviews(entries: readonly Key[]): Promise<Item[]> {
  const items = await getItems(entries, { consistent: true });
  return items.flatMap((item) => item ?? []);
}
