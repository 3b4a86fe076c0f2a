import * as v from 'valibot';
import { Case, newCase, queuedIn, replaceCase } from '../moderation/case.ts';
import { isPublic, kindOf, listedIn, Review } from '../review/review.ts';
import { getItems, type Item } from '../table/batch.ts';
import {
  caseKey,
  claimKey,
  contactKey,
  idIn,
  type Key,
  reviewKey,
  revisionKey,
} from '../table/keys.ts';
import { collect, getItem, queryIndex, queryItems } from '../table/query.ts';
import type { Write } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import {
  beyondRepair,
  compare,
  type Difference,
  type Finding,
  orphan,
  set,
  setVersioned,
  unchanged,
} from './finding.ts';

/** What is wrong with an item now, and with all that lies beside a review. */
export async function check(item: Item): Promise<Finding[]> {
  if (item.pk.startsWith('REVIEW#')) return checkReview(item.pk);
  if (item.sk === 'ENTITY') return checkOwner(item, 'entity');
  if (item.sk === 'USER') return checkOwner(item, 'author');
  if (item.sk.startsWith('CLAIM#')) return checkClaim(item);
  return [];
}

/** The review and all that lies beside it. One that changes all the time can not be confirmed. */
async function checkReview(pk: string, tries = 3): Promise<Finding[]> {
  const items = await collect(queryItems({ pk, sk: '' }, { pageSize: 1000 }));
  const stored = items.find(({ sk }) => sk === 'REVIEW');
  if (!stored) {
    return items
      .filter(({ sk }) => /^((VOTE|REVISION|REPORT)#|CASE$)/.test(sk))
      .map((item) => orphan(item));
  }
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
      findings.push(
        beyondRepair({ ...key, attribute: 'item', stored: 'none', counted: 'revision' }),
      );
      continue;
    }
    findings.push({
      differences: compare(revision, { ...(tallies.get(n) ?? none) }),
      repair: (differences) => [unchanged(stored), set(revision, differences)],
    });
  }

  findings.push(...checkCase(stored, review, items));

  const key = claimKey(review.user_id, review.entity_id);
  const claim = await getItem(key);
  if (claim) {
    const differences = compare(claim, { review_id: review.id });
    findings.push(...differences.map(beyondRepair));
  } else {
    const Item = { ...key, review_id: review.id };
    findings.push({
      differences: compare({ ...key }, { review_id: review.id }),
      repair: () => [
        unchanged(stored),
        { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
      ],
    });
  }

  // The last, because its repair changes the version that the others depend on.
  findings.push({
    differences: compare(stored, expected),
    repair: (differences) => [setVersioned(stored, differences)],
  });
  if (findings.every(({ differences }) => differences.length === 0)) return [];
  // A vote or an edit between the reads would look like a difference.
  const again = await getItem(reviewKey(review.id));
  if (again?.version === stored.version) return findings;
  if (tries > 1) return checkReview(pk, tries - 1);
  const { sk } = stored;
  return [beyondRepair({ pk, sk, attribute: 'item', stored: 'changing', counted: 'confirmed' })];
}

/** How many reports come into a case at once. */
const mostReports = 90;

/**
 * The case of a review counts the reports since it was last decided. Reports from before there were cases are listed themselves until they are
 * dismissed: they open the case, unless the review has been hidden, which answers them.
 */
function checkCase(stored: Item, review: Review, items: readonly Item[]): Finding[] {
  const item = items.find(({ sk }) => sk === caseKey('').sk);
  const file = item ? v.parse(Case, item) : newCase(review);
  const reports = items.filter(({ sk }) => sk.startsWith('REPORT#'));
  const listed = reports.filter(({ all }) => all !== undefined).slice(0, mostReports);
  if (listed.length > 0) {
    const round = review.is_hidden ? undefined : file.round;
    const times = listed.map(({ reported_at }) => String(reported_at));
    const isOpen = file.state === 'open';
    const opened: Case = {
      ...file,
      state: 'open',
      reports: file.reports + listed.length,
      opened_at: times.concat(isOpen ? file.opened_at : []).toSorted()[0] ?? '',
    };
    const moved = listed.map((report) => compare(report, { all: undefined, round }));
    return [
      {
        differences: moved.flat(),
        repair: () => [
          unchanged(stored),
          ...listed.map((report, i) => set(report, moved[i] ?? [])),
          ...(review.is_hidden ? [] : [replaceCase(file, opened)]),
        ],
      },
    ];
  }
  if (!item) return [];
  const counted =
    file.state === 'open' ? reports.filter(({ round }) => round === file.round).length : 0;
  const expected = {
    reports: counted,
    all: undefined,
    date: undefined,
    popularity_rank: undefined,
    ...queuedIn({ ...file, reports: counted }),
  };
  return [
    {
      differences: compare(item, expected),
      repair: (differences) => [setVersioned(item, differences)],
    },
  ];
}

/** What the reviews of a user or entity add up to. */
async function checkOwner(stored: Item, scope: 'author' | 'entity'): Promise<Finding[]> {
  const owner = await getItem(stored);
  if (!owner || owner.deleted_at !== undefined) return [];
  const id = idIn(owner);
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
  let areListed = true;
  for await (const review of scope === 'author' ? reviewsBy(id) : reviewsOf(id)) {
    if (scope === 'author') bump('karma', review.popularity);
    if (!isPublic(review)) continue;
    areListed &&= review.kind === kindOf(review);
    bump(`${review.entity_type}|${review.language}|${kindOf(review)}`, 1);
    if (scope === 'author') continue;
    bump('review_count', 1);
    if (review.rating === null) continue;
    bump('rating_count', 1);
    bump('rating_sum', review.rating);
  }
  const isOff = ({ stored = 0, counted }: Difference) => stored !== counted;
  const counts: Finding = {
    differences: compare(owner, counted).filter(isOff),
    // Who counts stars finds them in the index: those of an earlier version are mended first.
    repair: areListed ? (differences) => [set(owner, differences)] : undefined,
  };
  return scope === 'author' ? [counts, ...(await checkContact(owner, id))] : [counts];
}

/** A review, and what its index entries say that it has. */
type ListedReview = Review & { kind: unknown };

/** By claims, because a withdrawn review is in no index and still counts, and by indexes, because a claim may be missing. */
async function* reviewsBy(userId: string): AsyncGenerator<ListedReview> {
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

async function* reviewsOf(entityId: string): AsyncGenerator<ListedReview> {
  for await (const entries of queryIndex('entity-by-date', entityId, { pageSize: 100 })) {
    yield* await readReviews(entries);
  }
}

/** What is not public lay on the user once, where public readers may read it. */
async function checkContact(user: Item, id: string): Promise<Finding[]> {
  const names = ['email', 'musicdb_username', 'identity'].filter(
    (name) => user[name] !== undefined,
  );
  if (names.length === 0) return [];
  const { pk, sk } = user;
  const contact: Item = { ...(await getItem(contactKey(id))), ...contactKey(id) };
  const repair = (differences: readonly Difference[]): Write[] => {
    const moved = differences.map(({ attribute }) => attribute);
    const lacking = moved.filter((name) => isLacking(contact, name));
    const missing = compare(contact, Object.fromEntries(lacking.map((name) => [name, user[name]])));
    return [
      ...(missing.length > 0 ? [set(contact, missing)] : []),
      {
        Update: {
          Key: { pk, sk },
          UpdateExpression: `REMOVE ${moved.map((name) => `#${name}`).join(', ')}`,
          ConditionExpression: isAlive,
          ExpressionAttributeNames: Object.fromEntries(moved.map((name) => [`#${name}`, name])),
        },
      },
    ];
  };
  const differences = names.map((attribute) => {
    return { pk, sk, attribute, stored: 'on the user', counted: 'apart', isRepairable: true };
  });
  return [{ differences, repair }];
}

/** An address of null has been taken away; another null only says that it was not known when the address was changed. */
function isLacking(contact: Item, name: string): boolean {
  return contact[name] === undefined || (name !== 'email' && contact[name] === null);
}

/** A claim leads to a review, unless it is marked. The author may have given it to another one since it was scanned. */
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

function isCount(name: string): boolean {
  return name.includes('|') || ['review_count', 'rating_sum', 'rating_count'].includes(name);
}

async function readReviews(entries: readonly Key[]): Promise<ListedReview[]> {
  const items = await getItems(entries, { consistent: true });
  return items.flatMap((item) => (item ? { ...v.parse(Review, item), kind: item.kind } : []));
}
