import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../errors.ts';
import { announceFacet } from '../list/totals.ts';
import { nobody } from '../oauth/personal-token-repository.ts';
import { countChanges } from '../review/counts.ts';
import { facetOf, isPublic, type Review } from '../review/review.ts';
import { reviewItem } from '../review/review-writes.ts';
import { batchGet, batchWrite, type Item, keyString } from '../table/batch.ts';
import {
  applicationKey,
  claimKey,
  contactKey,
  entityKey,
  type Key,
  projectionKey,
  rankStep,
  reviewKey,
  revisionKey,
  userKey,
  voteKey,
} from '../table/keys.ts';
import { add, maxActions, StaleRead, transact, type Write } from '../table/transact.ts';
import { isAlive } from '../user/user.ts';
import { userItem } from '../user/user-repository.ts';
import { countCast } from '../vote/daily-votes.ts';
import { tally } from '../vote/vote.ts';
import { voteItem } from '../vote/vote-repository.ts';
import {
  type FullReviewRecord,
  type KeptRecord,
  keptItem,
  othersOf,
  type TransferRecord,
  type UserRecord,
  type VoteRecord,
} from './record.ts';

/** A record, and where it stands, for whoever has to look there. */
export interface Sourced<T extends TransferRecord = TransferRecord> {
  where: string;
  record: T;
}

/** What became of the records: how many were written, were there already or were refused; by kind, and by reason. */
export interface Outcome {
  written: Record<string, number>;
  present: Record<string, number>;
  refused: Record<string, number>;
}

/** What is written together or not at all: a review with the votes, reports and case that follow it, or some of these on their own. */
type Unit =
  | { kind: 'user'; user: Sourced<UserRecord> }
  | { kind: 'kept'; kept: Sourced<KeptRecord> }
  | {
      kind: 'review';
      review: Sourced<FullReviewRecord>;
      votes: Vote[];
      kept: Sourced<KeptRecord>[];
    }
  | { kind: 'votes'; reviewId: string; votes: Vote[] };
type Vote = Sourced<VoteRecord>;

/** Amounts that an item gains, on a condition: of several units in one transaction they are added up. */
interface Touch {
  key: Key;
  amounts?: Readonly<Record<string, number | bigint | undefined>>;
  condition?: { ConditionExpression: string; ExpressionAttributeValues?: Record<string, unknown> };
}

/** What a unit asks of a transaction, and what is to be told of it once that is done. */
interface Part {
  unit: Unit;
  puts: Item[];
  touches: Touch[];
  /** First votes by user and UTC day. */
  cast: { userId: string; day: string }[];
  told: Told;
  /** What it has besides, or what does not fit: for when it is written. */
  later: Unit[];
  facet?: string;
}

interface Told {
  written: string[];
  present: string[];
  refused: { where: string; reason: string }[];
}

/** Units that are read, and then written, at once. */
const chunkSize = 50;
/** Votes of one unit: each may need three actions. */
const mostVotes = 30;
/** Chunks at work at the same time. */
const mostAtWork = 3;
/** In bytes of JSON; DynamoDB takes 4 MB of items. */
const mostBytes = 3_000_000;
/** In bytes of JSON; DynamoDB takes 400 KB, and counts a little less. */
const largestItem = 390_000;
/** Earlier revisions of a review that its transaction has room for. */
const mostRevisions = 40;
const attempts = 5;

/** What must be known of an item that is there. */
const read = [
  'deleted_at',
  'user_id',
  'review_id',
  'edits',
  'is_hidden',
  'published_on',
  'version',
  'applications',
];

const alive = { ConditionExpression: isAlive };
const isThere = { ConditionExpression: 'attribute_exists(pk)' };
const isNew = { ConditionExpression: 'attribute_not_exists(pk)' };

/**
 * Writes records that are not in the table yet, each with what is counted of it, in transactions on condition that nothing has changed since
 * it was read: safe beside traffic, and whoever was interrupted does it again. What is there is left as it is. A record that cannot be
 * written is told to `onRefused`, and the others go on. With `isDryRun` it reads and writes nothing. With `isAlone` nobody else writes to the
 * table, so that authors and entities can be left as they are, for `recountOwners` to count. Throws ApiError 503 when the table stays busy.
 */
export async function importRecords(
  records: AsyncIterable<Sourced>,
  {
    isDryRun = false,
    isAlone = false,
    onRefused = () => {},
    onProgress = () => {},
  }: {
    isDryRun?: boolean;
    isAlone?: boolean;
    onRefused?: (where: string, reason: string) => void;
    onProgress?: (records: number) => void;
  } = {},
): Promise<Outcome> {
  const outcome: Outcome = { written: {}, present: {}, refused: {} };
  /** What would be there by now. */
  const pretended = new Map<string, Item>();
  let done = 0;

  function tell({ written, present, refused }: Told): void {
    for (const kind of written) bump(outcome.written, kind);
    for (const kind of present) bump(outcome.present, kind);
    for (const { where, reason } of refused) {
      bump(outcome.refused, reason);
      onRefused(where, reason);
    }
    done += written.length + present.length + refused.length;
    onProgress(done);
  }

  async function apply(units: readonly Unit[], attempt = 0): Promise<void> {
    const known = await readAll(units, pretended);
    const later: Unit[] = [];
    const parts = units.flatMap((unit) => {
      const part = partOf(unit, known);
      if (isAlone) part.touches = part.touches.filter(({ key }) => key.pk.startsWith('REVIEW#'));
      for (const item of part.puts) known.set(keyString(item), item);
      if (part.puts.length > 0) return [part];
      tell(part.told);
      later.push(...part.later);
      return [];
    });
    for (const together of packed(parts)) {
      if (isDryRun) {
        for (const item of together.flatMap(({ puts }) => puts)) {
          pretended.set(keyString(item), of(item));
        }
      } else {
        try {
          await write(together);
        } catch (error) {
          if (!(error instanceof StaleRead)) throw error;
          await again(
            together.map(({ unit }) => unit),
            attempt,
          );
          continue;
        }
      }
      for (const part of together) {
        tell(part.told);
        later.push(...part.later);
      }
    }
    if (later.length > 0) await apply(later);
  }

  /** Something has changed since it was read: whose unit that is shows in halves. */
  async function again(units: readonly Unit[], attempt: number): Promise<void> {
    const half = Math.ceil(units.length / 2);
    if (units.length > 1) {
      await apply(units.slice(0, half));
      await apply(units.slice(half));
    } else if (attempt < attempts) {
      await sleep(Math.random() * 20 * 2 ** attempt);
      await apply(units, attempt + 1);
    } else {
      const reason = 'what it belongs to changes all the time';
      tell({
        ...nothing(),
        refused: units.flatMap(sources).map(({ where }) => ({ where, reason })),
      });
    }
  }

  const atWork = new Set<Promise<void>>();
  let failure: unknown;
  for await (const { units, isLast } of chunksOf(unitsOf(records))) {
    const work = apply(units)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => atWork.delete(work));
    atWork.add(work);
    // What follows may name what is still being written.
    if (isLast) await Promise.all(atWork);
    else if (atWork.size >= mostAtWork) await Promise.race(atWork);
    if (failure) break;
  }
  await Promise.all(atWork);
  if (failure) throw failure;
  return outcome;
}

/** Groups a review with what follows of it, and votes on one review. */
async function* unitsOf(records: AsyncIterable<Sourced>): AsyncGenerator<Unit> {
  let open: Extract<Unit, { kind: 'review' | 'votes' }> | undefined;
  for await (const sourced of records) {
    const { where, record } = sourced;
    const of = open && (open.kind === 'review' ? open.review.record.id : open.reviewId);
    if (record.kind === 'vote') {
      if (!open || of !== record.review_id || open.votes.length >= 5_000) {
        if (open) yield open;
        open = { kind: 'votes', reviewId: record.review_id, votes: [] };
      }
      open.votes.push({ where, record });
      continue;
    }
    if (isKept(record) && open?.kind === 'review' && record.item.pk === reviewKey(`${of}`).pk) {
      open.kept.push({ where, record });
      continue;
    }
    if (open) yield open;
    open = undefined;
    if (isKept(record)) yield { kind: 'kept', kept: { where, record } };
    else if (record.kind === 'user') yield { kind: 'user', user: { where, record } };
    else open = { kind: 'review', review: { where, record }, votes: [], kept: [] };
  }
  if (open) yield open;
}

function isKept(record: TransferRecord): record is KeptRecord {
  return record.kind !== 'user' && record.kind !== 'review' && record.kind !== 'vote';
}

/** Units by the stage that they belong to: what a later one names is written in an earlier one. */
function stageOf(unit: Unit): string {
  return unit.kind === 'kept' ? unit.kept.record.kind : unit.kind;
}

async function* chunksOf(
  units: AsyncIterable<Unit>,
): AsyncGenerator<{ units: Unit[]; isLast: boolean }> {
  let chunk: Unit[] = [];
  for await (const unit of units) {
    const [first] = chunk;
    const isLast = first !== undefined && stageOf(first) !== stageOf(unit);
    if (isLast || chunk.length >= chunkSize) {
      yield { units: chunk, isLast };
      chunk = [];
    }
    chunk.push(unit);
  }
  if (chunk.length > 0) yield { units: chunk, isLast: true };
}

/** All that decides what becomes of units, as far as it is there. */
async function readAll(units: readonly Unit[], pretended: ReadonlyMap<string, Item>) {
  const keys = new Map(units.flatMap(keysOf).map((key) => [keyString(key), key]));
  const known = new Map<string, Item>();
  const missing = [...keys.values()];
  for (let start = 0; start < missing.length; start += 100) {
    const batch = missing.slice(start, start + 100);
    const found = await batchGet(batch, { consistent: true, attributes: read });
    for (const [name, item] of found) known.set(name, item);
  }
  const authors = units.flatMap((unit) => {
    const review = unit.kind === 'votes' && known.get(keyString(reviewKey(unit.reviewId)));
    return review ? [userKey(`${review.user_id}`)] : [];
  });
  for (const key of authors) {
    if (known.has(keyString(key))) continue;
    const found = await batchGet([key], { consistent: true, attributes: read });
    for (const [name, item] of found) known.set(name, item);
  }
  for (const name of [...keys.keys(), ...authors.map(keyString)]) {
    const item = pretended.get(name);
    if (item) known.set(name, item);
  }
  return known;
}

function keysOf(unit: Unit): Key[] {
  if (unit.kind === 'user') {
    const key = userKey(unit.user.record.id);
    return [key, projectionKey(key)];
  }
  if (unit.kind === 'kept') return keysOfKept(unit.kept);
  const votes = unit.votes.slice(0, maxActions).flatMap(({ record: { review_id, user_id } }) => {
    return [voteKey(review_id, user_id), userKey(user_id)];
  });
  if (unit.kind === 'votes') return [reviewKey(unit.reviewId), ...votes];
  const { id, user_id, entity_id } = unit.review.record;
  const key = reviewKey(id);
  const claim = claimKey(user_id, entity_id);
  const kept = unit.kept.slice(0, maxActions).flatMap(keysOfKept);
  return [key, projectionKey(key), claim, userKey(user_id), ...votes, ...kept];
}

function keysOfKept({ record: { kind, item } }: Sourced<KeptRecord>): Key[] {
  const { pk, sk, user_id, client_id } = item;
  return [
    { pk, sk },
    ...(user_id ? [userKey(user_id)] : []),
    ...(kind === 'grant' && client_id !== nobody ? [applicationKey(`${client_id}`)] : []),
    ...(pk.startsWith('REVIEW#') ? [{ pk, sk: 'REVIEW' }] : []),
  ];
}

/** What a unit needs, as things stand. */
function partOf(unit: Unit, known: Known): Part {
  const part: Part = { unit, puts: [], touches: [], cast: [], told: nothing(), later: [] };
  if (unit.kind === 'user') addUser(part, unit.user, known);
  else if (unit.kind === 'kept') addKept(part, unit.kept, known);
  else if (unit.kind === 'votes') addVotes(part, unit, known);
  else addReview(part, unit, known);
  return part;
}

function addUser(part: Part, { where, record }: Sourced<UserRecord>, known: Known): undefined {
  const { id, display_name, created, contact } = record;
  const key = userKey(id);
  const there = known.get(keyString(key));
  if (there?.deleted_at !== undefined) return refuse(part, where, 'the account is being deleted');
  if (there) return present(part, 'user');
  const user = { id, display_name, created, karma: 0, ...othersOf(record) };
  part.puts.push({
    ...userItem(user),
    version: versionAfter(known.get(keyString(projectionKey(key)))),
  });
  if (contact) part.puts.push({ ...contactKey(id), ...contact });
  part.told.written.push('user');
}

/** An item that depends on nothing but that what it names is there. */
function addKept(
  part: Part,
  { where, record }: Sourced<KeptRecord>,
  known: Known,
  isWithReview = false,
): undefined {
  const { kind, item } = record;
  const { pk, sk, user_id, client_id } = item;
  if (known.has(keyString({ pk, sk }))) return present(part, kind);
  const touches: Touch[] = [];
  if (user_id && kind !== 'decision') {
    const user = known.get(keyString(userKey(user_id)));
    if (!isUsable(user)) return refuse(part, where, 'user_id names no account');
    // Where they are not counted yet, they are when the next one is registered.
    const isCounted = kind === 'application' && user.applications !== undefined;
    const counted = { ConditionExpression: `${isAlive} AND attribute_exists(applications)` };
    touches.push({
      key: userKey(user_id),
      ...(isCounted ? { amounts: { applications: 1 }, condition: counted } : { condition: alive }),
    });
  }
  if (kind === 'grant' && client_id !== nobody) {
    const key = applicationKey(`${client_id}`);
    if (!known.has(keyString(key))) return refuse(part, where, 'client_id names no application');
    touches.push({ key, condition: isThere });
  }
  if (pk.startsWith('REVIEW#') && !isWithReview) {
    const key = { pk, sk: 'REVIEW' };
    if (!known.has(keyString(key))) return refuse(part, where, 'its review is not there');
    touches.push({ key, condition: isThere });
  }
  part.puts.push(keptItem(record));
  part.touches.push(...touches);
  part.told.written.push(kind);
}

function addReview(part: Part, unit: Extract<Unit, { kind: 'review' }>, known: Known): void {
  const { where, record } = unit.review;
  const { id, user_id, entity_id, revisions } = record;
  const key = reviewKey(id);
  const there = known.get(keyString(key));
  const author = known.get(keyString(userKey(user_id)));
  const claim = claimKey(user_id, entity_id);
  // Its own without itself was written between the two reads: the transaction will fail, and all is read again.
  const claimed = known.get(keyString(claim))?.review_id ?? id;
  const fault = there
    ? undefined
    : !isUsable(author)
      ? 'user_id names no account'
      : claimed !== id
        ? 'the author has another review of this entity'
        : revisions.some((revision) => bytesIn(revision) > largestItem)
          ? 'a text is larger than the table takes'
          : undefined;
  if (there || fault !== undefined) {
    if (fault === undefined) present(part, 'review');
    else refuse(part, where, fault);
    // On their own they are seen to be there, or without a review.
    if (unit.votes.length > 0) part.later.push({ kind: 'votes', reviewId: id, votes: unit.votes });
    part.later.push(...unit.kept.map((kept): Unit => ({ kind: 'kept', kept })));
    return;
  }

  const isLong = revisions.length > mostRevisions;
  const room = Math.floor((maxActions - 5 - (isLong ? 0 : revisions.length)) / 3);
  const votes = unit.votes.slice(0, Math.min(room, mostVotes));
  const kept = unit.kept.slice(0, room - votes.length);
  if (votes.length < unit.votes.length) {
    part.later.push({ kind: 'votes', reviewId: id, votes: unit.votes.slice(votes.length) });
  }
  part.later.push(
    ...unit.kept.slice(kept.length).map((one): Unit => ({ kind: 'kept', kept: one })),
  );

  const tallies = revisions.map(() => tally(undefined));
  for (const vote of votes) {
    const counted = addVote(part, vote, user_id, revisions.length, known);
    const sum = tallies[vote.record.revision - 1];
    if (!counted || !sum) continue;
    sum.votes_positive += counted.votes_positive;
    sum.votes_negative += counted.votes_negative;
  }
  const review = reviewOf(record, tallies, versionAfter(known.get(keyString(projectionKey(key)))));
  const earlier = revisions.slice(0, -1).map(({ id: n, ...revision }, i) => {
    return { ...revisionKey(id, n), review_id: id, id: n, ...revision, ...tallies[i] };
  });
  const item: Item = { ...reviewItem(review), ...othersOf(record) };
  part.puts.push(item, { ...claim, review_id: id }, ...earlier);
  const counts = countChanges(undefined, review);
  part.touches.push(
    {
      key: userKey(user_id),
      amounts: { ...counts.author, karma: review.popularity },
      condition: alive,
    },
    { key: entityKey(entity_id), amounts: counts.entity },
  );
  if (isPublic(review)) part.facet = facetOf(review);
  part.told.written.push('review');
  for (const one of kept) addKept(part, one, known, true);
}

function addVotes(part: Part, unit: Extract<Unit, { kind: 'votes' }>, known: Known): void {
  const { reviewId, votes } = unit;
  const key = reviewKey(reviewId);
  const review = known.get(keyString(key)) as (Item & Review) | undefined;
  const author = review && known.get(keyString(userKey(review.user_id)));
  if (!review || review.deleted_at !== undefined || !isUsable(author)) {
    for (const { where } of votes) refuse(part, where, 'its review is not there');
    return;
  }
  const rest = votes.slice(mostVotes);
  if (rest.length > 0) part.later.push({ kind: 'votes', reviewId, votes: rest });
  const { edits, is_hidden } = review;
  const gained: Record<string, number> = {};
  const earlier = new Map<number, Record<string, number>>();
  for (const vote of votes.slice(0, mostVotes)) {
    const counted = addVote(part, vote, review.user_id, edits + 1, known);
    if (!counted) continue;
    const { revision } = vote.record;
    for (const [name, by] of Object.entries(counted)) {
      bump(gained, name, by);
      if (revision > edits) bump(gained, `revision_${name}`, by);
      else earlier.set(revision, bump(earlier.get(revision) ?? {}, name, by));
    }
  }
  const popularity = (gained.votes_positive ?? 0) - (gained.votes_negative ?? 0);
  const popularity_rank = isPublic(review) ? BigInt(popularity) * rankStep : undefined;
  if (part.puts.length === 0) return;
  part.touches.push(
    {
      key,
      amounts: { ...gained, popularity, popularity_rank, version: 1 },
      condition: {
        ConditionExpression: 'edits = :edits AND is_hidden = :is_hidden AND attribute_exists(pk)',
        ExpressionAttributeValues: { ':edits': edits, ':is_hidden': is_hidden },
      },
    },
    { key: userKey(review.user_id), amounts: { karma: popularity }, condition: alive },
    ...[...earlier].map(([n, amounts]) => {
      return { key: revisionKey(reviewId, n), amounts, condition: isThere };
    }),
  );
}

/** Gives what a new vote adds to its review. */
function addVote(
  part: Part,
  { where, record }: Vote,
  authorId: string,
  revisions: number,
  known: Known,
) {
  const { kind, ...vote } = record;
  const item = voteItem(vote);
  const isTwice = part.puts.some((put) => keyString(put) === keyString(item));
  if (known.has(keyString(item)) || isTwice) return present(part, kind);
  const fault =
    vote.user_id === authorId
      ? 'a vote on the own review'
      : vote.revision > revisions
        ? 'revision is not one of its review'
        : !isUsable(known.get(keyString(userKey(vote.user_id))))
          ? 'user_id names no account'
          : undefined;
  if (fault !== undefined) return refuse(part, where, fault);
  part.puts.push(item);
  part.touches.push({ key: userKey(vote.user_id), condition: alive });
  part.cast.push({ userId: vote.user_id, day: vote.voted_at.slice(0, 10) });
  part.told.written.push(kind);
  return tally(vote);
}

type Known = ReadonlyMap<string, Item>;

function reviewOf(
  record: FullReviewRecord,
  tallies: readonly { votes_positive: number; votes_negative: number }[],
  version: number,
): Review {
  const current = record.revisions.at(-1) as FullReviewRecord['revisions'][number];
  const sum = (name: 'votes_positive' | 'votes_negative') =>
    tallies.reduce((total, each) => total + each[name], 0);
  const [votes_positive, votes_negative] = [sum('votes_positive'), sum('votes_negative')];
  return {
    id: record.id,
    entity_id: record.entity_id,
    entity_type: record.entity_type,
    user_id: record.user_id,
    text: current.text,
    rating: current.rating,
    language: record.language,
    license: record.license,
    created: record.created,
    last_updated: current.timestamp,
    published_on: record.published_on,
    edits: record.revisions.length - 1,
    is_hidden: record.is_hidden,
    votes_positive,
    votes_negative,
    revision_votes_positive: tallies.at(-1)?.votes_positive ?? 0,
    revision_votes_negative: tallies.at(-1)?.votes_negative ?? 0,
    popularity: votes_positive - votes_negative,
    source: record.source,
    source_url: record.source_url,
    version,
  };
}

/** Totals and rank trees remember what was deleted: what takes its place must come after it. */
function versionAfter(projection: Item | undefined): number {
  return Number(projection?.version ?? 0) + 1;
}

function isUsable(item: Item | undefined): item is Item {
  return item !== undefined && item.deleted_at === undefined;
}

/** Parts by transaction. */
function* packed(parts: readonly Part[]): Generator<Part[]> {
  let together: Part[] = [];
  let touched = new Set<string>();
  let bytes = 0;
  for (const part of parts) {
    const names = namesIn(part);
    const size = part.puts.reduce((sum, item) => sum + bytesIn(item), 0);
    const isFull = new Set([...touched, ...names]).size > maxActions || bytes + size > mostBytes;
    if (together.length > 0 && isFull) {
      yield together;
      [together, touched, bytes] = [[], new Set(), 0];
    }
    together.push(part);
    for (const name of names) touched.add(name);
    bytes += size;
  }
  if (together.length > 0) yield together;
}

/** What a part has an action for, if no other has. */
function namesIn({ puts, touches, cast }: Part): Set<string> {
  const isLong = puts.filter(isRevision).length >= mostRevisions;
  return new Set([
    ...puts.filter((item) => !(isLong && isRevision(item))).map(keyString),
    ...touches.map(({ key }) => keyString(key)),
    ...cast.map(({ userId, day }) => `${userId} ${day}`),
  ]);
}

async function write(parts: readonly Part[]): Promise<void> {
  for (const { facet } of parts) if (facet !== undefined) await announceFacet(facet);
  const early = parts.flatMap(({ puts }) => {
    const revisions = puts.filter(isRevision);
    return revisions.length >= mostRevisions ? revisions : [];
  });
  // Nobody sees them before their review is there.
  await batchWrite(early.map((put) => ({ put })));
  for (let attempt = 1; ; attempt++) {
    try {
      await transact(actionsOf(parts));
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503 || attempt === attempts) throw error;
    }
  }
}

/** The actions of one transaction: whatever touches the same item is one. */
function actionsOf(parts: readonly Part[]): Write[] {
  const puts = parts.flatMap((part) => {
    const isLong = part.puts.filter(isRevision).length >= mostRevisions;
    return isLong ? part.puts.filter((item) => !isRevision(item)) : part.puts;
  });
  const touched = new Map<string, Touch>();
  for (const { key, amounts = {}, condition } of parts.flatMap(({ touches }) => touches)) {
    const name = keyString(key);
    const before = touched.get(name);
    const sum: Record<string, number | bigint | undefined> = { ...before?.amounts };
    for (const [attribute, by = 0] of Object.entries(amounts)) {
      const so = sum[attribute] ?? 0;
      sum[attribute] = typeof by === 'bigint' ? BigInt(so) + by : Number(so) + by;
    }
    // Those of one kind of item are the same, but that of an owner whose applications are counted, which says more.
    const conditions = [before?.condition, condition].filter((each) => each !== undefined);
    const longest = conditions.sort(
      (a, b) => b.ConditionExpression.length - a.ConditionExpression.length,
    )[0];
    touched.set(name, { key, amounts: sum, ...(longest && { condition: longest }) });
  }
  const cast = Map.groupBy(
    parts.flatMap((part) => part.cast),
    ({ userId, day }) => `${userId} ${day}`,
  );
  return [
    ...puts.map((Item): Write => ({ Put: { Item, ...isNew } })),
    ...[...touched.values()].flatMap(touchOf),
    ...[...cast.values()].flatMap((votes) => {
      const [{ userId, day } = { userId: '', day: '' }] = votes;
      return countCast(userId, day, votes.length);
    }),
  ];
}

function touchOf({ key, amounts = {}, condition }: Touch): Write[] {
  const gained = Object.entries(amounts).flatMap(([name, by]) => (by ? [[name, by] as const] : []));
  if (gained.length === 0) {
    return condition ? [{ ConditionCheck: { Key: key, ...condition } }] : [];
  }
  const update = add(key, Object.fromEntries(gained));
  const ExpressionAttributeValues = {
    ...update.ExpressionAttributeValues,
    ...condition?.ExpressionAttributeValues,
  };
  return [{ Update: { ...update, ...condition, ExpressionAttributeValues } }];
}

function isRevision({ sk }: Key): boolean {
  return sk.startsWith('REVISION#');
}

/** Of an item, what `read` would give. */
function of(item: Item): Item {
  const { pk, sk } = item;
  return { pk, sk, ...Object.fromEntries(read.map((name) => [name, item[name]])) };
}

function sources(unit: Unit): Sourced[] {
  if (unit.kind === 'user') return [unit.user];
  if (unit.kind === 'kept') return [unit.kept];
  if (unit.kind === 'votes') return unit.votes;
  return [unit.review, ...unit.votes, ...unit.kept];
}

function bytesIn(item: object): number {
  return Buffer.byteLength(
    JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  );
}

function nothing(): Told {
  return { written: [], present: [], refused: [] };
}

function present(part: Part, kind: string): undefined {
  part.told.present.push(kind);
}

function refuse(part: Part, where: string, reason: string): undefined {
  part.told.refused.push({ where, reason });
}

function bump(counts: Record<string, number>, name: string, by = 1): Record<string, number> {
  counts[name] = (counts[name] ?? 0) + by;
  return counts;
}
