import * as v from 'valibot';
import { pick } from '../../base/pick.ts';
import { type Amounts, changesOf, gain } from '../../base/table/amounts.ts';
import { type IndexAttributes, type Item, idIn, keyString } from '../../base/table/item.ts';
import { putNew, type Write } from '../../base/table/transact.ts';
import { contribution, ownerKey, readProjection } from '../../core/aggregates/contribution.ts';
import { entityOf } from '../../core/entity/record.ts';
import {
  caseKey,
  claimKey,
  countsKey,
  entityKey,
  longTextKey,
  projectionKey,
  reviewKey,
  revisionKey,
  userKey,
} from '../../core/keys.ts';
import { Case, countReports, queuedIn, Report } from '../../core/review/case.ts';
import { moveOfLongText } from '../../core/review/long-text.ts';
import { isObsolete } from '../../core/review/owner-counts.ts';
import { currentRevision, listedIn, type noVotes, Review } from '../../core/review/review.ts';
import { kindOf, kinds } from '../kinds.ts';
import { isEntry, placesIn } from '../things/public.ts';
import { checkEntries, checkEntry, checkName, thingOf } from './check-things.ts';
import {
  compare,
  compareVersioned,
  type Difference,
  type Finding,
  orphan,
  set,
} from './finding.ts';
import { recount } from './recount.ts';
import type { Source } from './source.ts';

/** Finds the differences of the items of a partition, as the source has them. */
export async function check(pk: string, source: Source): Promise<Finding[]> {
  const findings = await checkPartition(pk, source);
  return findings.filter(({ differences }) => differences.length > 0);
}

async function checkPartition(pk: string, source: Source): Promise<Finding[]> {
  if (pk.startsWith(reviewKey('').pk)) return checkReview(pk, source);
  if (pk.startsWith(userKey('').pk)) return checkUser(pk, source);
  if (pk.startsWith(entityKey('').pk)) return checkEntity(pk, source);
  if (entityOf(pk)) return checkName(pk, source);
  // The partitions of entries are large, so each entry is checked alone.
  if (isEntry({ pk }) && pk.includes('\n')) return checkEntry(pk, source);
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

async function checkReview(pk: string, source: Source): Promise<Finding[]> {
  const items = await source.partition(pk);
  const reviewItem = items.find(({ sk }) => sk === 'REVIEW');
  if (!reviewItem) {
    return [...findOrphans(pk, items), await checkProjection({ pk, sk: '' }, items, source)];
  }
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
    checkLongText(review, items),
    ...checkRevisions(review, items, tallyOf, unchanged),
    ...checkCase(items),
    await checkClaimOf(review, unchanged, source),
    await checkProjection({ ...reviewItem, ...expected }, items, source),
    // Repaired last, because this repair changes the version that the other repairs depend on.
    compareVersioned(reviewItem, expected),
  ];
}

/** Finds the items of a review that does not exist. */
function findOrphans(pk: string, items: readonly Item[]): Finding[] {
  const Key = { pk, sk: reviewKey('').sk };
  const isGone = { ConditionCheck: { Key, was: { pk: undefined } } };
  const orphans = items.filter((item) => {
    const kind = kindOf(item);
    return kind && kinds[kind].beside === 'review';
  });
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

/**
 * Finds the text that a review has in an item of its own. A missing one cannot be repaired. A long
 * text that older code has stored in the review is moved.
 */
function checkLongText(review: Review, items: readonly Item[]): Finding {
  const { id, version, long_text } = review;
  const key = longTextKey(id);
  const move = moveOfLongText(review);
  if (move) {
    const Update = { Key: reviewKey(id), set: move.set, was: { version } };
    const inline = { ...reviewKey(id), attribute: 'text', stored: 'whole', counted: 'beginning' };
    const repair: Write[] = [{ Update }, { Put: { Item: move.longText } }];
    return { differences: [{ ...inline, isRepairable: true }], version, repair };
  }
  const item = items.find(({ sk }) => sk === key.sk);
  const stored = item && Buffer.byteLength(`${item.text}`);
  const fault = { ...key, attribute: 'bytes of text', stored, counted: long_text };
  const differences = stored === long_text ? [] : [{ ...fault, isRepairable: false }];
  return { differences, version };
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
async function checkClaimOf(review: Review, unchanged: Write, source: Source): Promise<Finding> {
  const key = claimKey(review.user_id, review.entity_id);
  const expected = { review_id: review.id };
  const claim = await source.item(key);
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
 * Compares the counts of a user with the sums over its reviews and applications. The items with the
 * counts are read first. If they keep their versions, nothing read afterwards has changed.
 */
async function checkUser(pk: string, source: Source): Promise<Finding[]> {
  const id = idIn({ pk });
  const items = await source.partition(pk);
  const find = (sk: string) => items.find((item) => item.sk === sk);
  const claims = items.filter(({ sk }) => sk.startsWith('CLAIM#'));
  const findings = await Promise.all(claims.map((claim) => checkClaim(claim, source)));
  const user = find(userKey('').sk);
  findings.push(await checkProjection(user ?? { pk, sk: '' }, items, source));
  if (!user || user.deleted_at !== undefined) return findings;
  const lacking: Amounts = new Map();
  for await (const review of source.reviewsOfUser(id)) recount(lacking, review);
  const counts = find(countsKey('').sk) ?? { ...countsKey(id) };
  return [
    ...findings,
    compareCounts(user, lacking, { applications: await source.applicationsOf(id) }),
    compareCounts(counts, lacking),
  ];
}

/** Compares the counts of an entity, which may be missing, with the sums over its reviews. */
async function checkEntity(pk: string, source: Source): Promise<Finding[]> {
  const id = idIn({ pk });
  const [entity = entityKey(id)] = await source.partition(pk);
  const lacking: Amounts = new Map();
  for await (const review of source.reviewsOfEntity(id)) recount(lacking, review);
  const thing = await thingOf(id, [], source);
  return [
    compareCounts({ ...entity }, lacking),
    await checkEntries(placesIn(thing), thing, source),
  ];
}

/** Compares the counts of an item with what its reviews add up to. */
function compareCounts(
  item: Item,
  counted: Amounts,
  others: Readonly<Record<string, number>> = {},
): Finding {
  const amounts: Amounts = new Map();
  gain(amounts, item, counted.get(keyString(item))?.by ?? {});
  gain(amounts, item, others);
  recount(amounts, item);
  const changes = changesOf(amounts)[0]?.by ?? {};
  const expected = Object.entries(changes).map(([name, by]) => [
    name,
    Number(item[name] ?? 0) + by,
  ]);
  const obsolete = Object.keys(item).filter(isObsolete);
  return compareVersioned(item, {
    ...Object.fromEntries(expected),
    ...Object.fromEntries(obsolete.map((name) => [name, undefined])),
  });
}

/** Finds the claim of a review that does not exist. */
async function checkClaim(claim: Item, source: Source): Promise<Finding> {
  const { review_id, marked_at, reported } = claim;
  const isOfDeleted = marked_at !== undefined || reported !== undefined;
  const isKept = isOfDeleted || (await source.item(reviewKey(String(review_id))));
  return isKept
    ? { differences: [] }
    : orphan(claim, { review_id, marked_at: undefined, reported: undefined });
}

/**
 * Compares the projection state of a review or user with the item as it should be. Totals and rank
 * trees count what the states say. A state that is behind may still be on its way.
 */
async function checkProjection(
  item: Item,
  items: readonly Item[],
  source: Source,
): Promise<Finding> {
  const key = projectionKey(item);
  const stored: Item = items.find(({ sk }) => sk === key.sk) ?? { ...key };
  const projected = readProjection(stored);
  const actual = contribution(item);
  const differences = compare(stored, {
    counted: actual.counted ?? (projected.counted === undefined ? undefined : null),
    ...(actual.counted !== null && pick(actual, ['time', 'popularity'])),
  });
  const version = `${item.version} ${stored.version}`;
  const isBehind = !(Number(stored.version) >= Number(item.version));
  if (differences.length > 0) return { differences: unrepairable(differences), version, isBehind };
  for (const owner of actual.owners) {
    const rank_tree = (await source.item(ownerKey(owner)))?.rank_tree;
    const isCounted = projected.owners.includes(owner);
    if (isCounted ? rank_tree !== undefined : rank_tree !== 'ready') continue;
    const fault = { ...key, attribute: 'owners', stored: isCounted, counted: !isCounted };
    differences.push({ ...fault, isRepairable: false });
  }
  return { differences, version, isBehind };
}

const unrepairable = (differences: readonly Difference[]) =>
  differences.map((each) => ({ ...each, isRepairable: false }));
