import * as v from 'valibot';
import { pick } from '../pick.ts';
import { Case, countReports, queuedIn, Report } from '../review/case.ts';
import { recount } from '../review/owner-counts.ts';
import { listedIn, Review } from '../review/review.ts';
import { type Amounts, changesOf } from '../table/amounts.ts';
import { getItems } from '../table/batch.ts';
import { type Item, type Key, keyString } from '../table/item.ts';
import { caseKey, claimKey, idIn, reviewKey, revisionKey } from '../table/keys.ts';
import { collect, eachOf, getItem, queryIndex, queryItems } from '../table/query.ts';
import { putNew } from '../table/transact.ts';
import { compare, compareVersioned, type Finding, orphan, set } from './finding.ts';

/** Finds the differences of an item, or of all items of its review, as they are now. */
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

const noIndexes = {
  ...{ all: undefined, facet: undefined, entity: undefined, author: undefined },
  ...{ date: undefined, popularity_rank: undefined, kind: undefined },
};

async function checkReview(pk: string): Promise<Finding[]> {
  const items = await collect(queryItems({ pk, sk: '' }, { pageSize: 1000 }));
  const stored = items.find(({ sk }) => sk === 'REVIEW');
  if (!stored) {
    const Key = { pk, sk: reviewKey('').sk };
    const isGone = { ConditionCheck: { Key, was: { pk: undefined } } };
    const orphans = items.filter(({ sk }) => /^((VOTE|REVISION|REPORT)#|CASE$)/.test(sk));
    return orphans.map((item) => orphan(item, {}, [isGone]));
  }
  const { version } = stored;
  const review = v.parse(Review, stored);
  const unchanged = { ConditionCheck: { Key: reviewKey(review.id), was: { version } } };
  const votes = items.filter(({ sk }) => sk.startsWith('VOTE#'));
  const byRevision = Map.groupBy(votes, ({ revision }) => Number(revision));
  const tallyOf = (revision: number) => tallied(byRevision.get(revision) ?? []);
  const total = tallied(votes);
  const popularity = total.votes_positive - total.votes_negative;
  const current = tallyOf(review.edits + 1);
  const expected = {
    ...total,
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
    if (revision) {
      const differences = compare(revision, tallyOf(n));
      findings.push({ differences, version, repair: [unchanged, set(revision, differences)] });
    } else {
      const missing = { attribute: 'item', stored: 'none', counted: 'revision' };
      findings.push({ differences: [{ ...key, ...missing, isRepairable: false }], version });
    }
  }
  findings.push(...checkCase(items));
  const key = claimKey(review.user_id, review.entity_id);
  const named = { review_id: review.id };
  const claim = await getItem(key);
  const repair = claim ? undefined : [unchanged, putNew({ ...key, ...named })];
  findings.push({ differences: compare(claim ?? { ...key }, named, !claim), version, repair });
  // Repaired last, because this repair changes the version that the other repairs depend on.
  findings.push(compareVersioned(stored, expected));
  return findings;
}

function tallied(votes: readonly Item[]) {
  const votes_positive = votes.filter(({ vote }) => vote).length;
  return { votes_positive, votes_negative: votes.length - votes_positive };
}

/**
 * The case of a review counts the reports since the last decision, and those that it has carried
 * over. Any report opens it.
 */
function checkCase(items: readonly Item[]): Finding[] {
  const item = items.find(({ sk }) => sk === caseKey('').sk);
  if (!item) return [];
  const reviewCase = v.parse(Case, item);
  const reports = items.filter(
    ({ sk, round }) => sk.startsWith('REPORT#') && round === reviewCase.round,
  );
  const { carried } = reviewCase;
  const counts = countReports(
    reports.map((report) => v.parse(Report, report)),
    carried,
  );
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
async function checkOwner(stored: Item, scope: 'author' | 'entity'): Promise<Finding[]> {
  const owner = await getItem(stored);
  if (!owner || owner.deleted_at !== undefined) return [];
  const id = idIn(owner);
  const missingCounts: Amounts = new Map();
  recount(missingCounts, owner);
  if (scope === 'author') {
    const applications = eachOf(queryIndex('author-by-date', `OWNER#${id}`));
    for await (const item of applications) recount(missingCounts, { ...item });
  }
  const reviews = scope === 'author' ? reviewsBy(id) : reviewsOf(id);
  for await (const item of reviews) recount(missingCounts, item);
  const changes = changesOf(missingCounts).find(({ key }) => keyString(key) === keyString(owner));
  const counted = Object.entries(changes?.by ?? {}).map(([name, by]) => {
    return [name, Number(owner[name] ?? 0) + by];
  });
  return [compareVersioned(owner, Object.fromEntries(counted))];
}

/** Claims find withdrawn reviews, which are in no index and still count. Indexes find the rest. */
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
