// Reads everything that is stored about a person, in parts that fit a response.
import * as v from 'valibot';
import { bytesOf } from '../../base/bytes-of.ts';
import { invalidRequest, invalidToken } from '../../base/errors.ts';
import { largestBody } from '../../base/largest-answer.ts';
import { openCursor, sealCursor } from '../../base/list/cursor.ts';
import { pick } from '../../base/pick.ts';
import { batchGet, getItems } from '../../base/table/batch.ts';
import { shareUsed } from '../../base/table/budget.ts';
import { type Item, keyString } from '../../base/table/item.ts';
import { parseItem, parseItems } from '../../base/table/parse.ts';
import { eachOf, queryItems } from '../../base/table/query.ts';
import { isoOf } from '../../base/time.ts';
import { Matching } from '../../base/values.ts';
import { findMetadata, type KnownEntity } from '../../core/entity/metadata.ts';
import { EntityRecord } from '../../core/entity/record.ts';
import { caseKey, claimKey, reviewKey, revisionKey } from '../../core/keys.ts';
import { findApplications, listApplications } from '../../core/oauth/application-repository.ts';
import { nobody } from '../../core/oauth/grant.ts';
import { listGrants } from '../../core/oauth/grant-repository.ts';
import { listPersonalTokens } from '../../core/oauth/personal-token-repository.ts';
import { readCases } from '../../core/report/case-repository.ts';
import { Decision } from '../../core/report/decision.ts';
import { Report } from '../../core/review/case.ts';
import { HiddenClaim } from '../../core/review/hidden-claim.ts';
import { currentRevision, isPublic, Review } from '../../core/review/review.ts';
import { Revision } from '../../core/review/revision.ts';
import { findRevision } from '../../core/review/revision-repository.ts';
import { findWaitingTexts, mayHaveText } from '../../core/review/waiting.ts';
import { readDailyCounts } from '../../core/user/daily-limit.ts';
import { type Batch, readListed } from '../../core/user/own-list.ts';
import { findAccount } from '../../core/user/user-repository.ts';
import { Vote } from '../../core/vote/vote.ts';
import { ownLists as listsOfFiles } from '../bring/public.ts';
import type { OwnList } from '../kinds.ts';
import { ownLists as listsOfNames } from '../names/public.ts';
import type { ExportedReview, OwnData } from './presented.ts';

/** Lists that may exceed a response. Other data is in the first part only. */
type List = Exclude<OwnList, 'profile' | 'applications' | 'votes_by_day'>;

const NamedEntity = v.pick(EntityRecord, [
  'entity_id',
  'entity_type',
  'name',
  'about',
  'url',
  'written_at',
]);

/** A name in the log that the person gave, also if it was corrected or removed since. */
const GivenName = v.pipe(
  v.object({
    ...v.pick(NamedEntity, ['entity_id', 'entity_type']).entries,
    after: v.pick(NamedEntity, ['name', 'about', 'url']),
    decided_at: v.string(),
  }),
  v.transform(({ after, decided_at, ...entity }) => {
    return { ...entity, ...after, written_at: decided_at };
  }),
);

const OwnVote = v.omit(Vote, ['user_id']);
type OwnVote = v.InferOutput<typeof OwnVote>;

/** The lists, in reading order. */
const sources: {
  [L in List]: (userId: string, after: string) => AsyncIterable<Batch<OwnData[L][number]>>;
} = {
  connections,
  reviews,
  hidden_and_deleted: readListed('HIDDEN', v.omit(HiddenClaim, ['user_id'])),
  // Without the moderator.
  decisions: readListed(
    'SUBJECT',
    v.pick(Decision, ['review_id', 'entity_id', 'decision', 'reason', 'note', 'decided_at']),
  ),
  // By time: a vote that is cast again moves to a later part, so it is never missed.
  votes: readListed('VOTER', OwnVote, namedVotes),
  reports: readListed('REPORTER', v.pick(Report, ['review_id', 'reason', 'reported_at'])),
  names: readListed('NAMER', NamedEntity),
  given_names: readListed('NAMING', GivenName),
  ...listsOfFiles,
  ...listsOfNames,
};

const lists = Object.keys(sources) as [List, ...List[]];

/** A list and the last key read from it. Validated, because anyone can forge the checksum. */
const Cursor = v.tuple([v.picklist(lists), Matching(/^[\w#:.-]{1,100}$/)]);

/** Milliseconds after which a part ends. A function has 15 seconds. */
const maxMilliseconds = 5_000;

/** Share of a request's budget after which a part ends. */
const maxShare = 0.25;

/**
 * Returns a part of everything that is stored about a person, without secrets and other people's
 * data. Data that exists during the whole export is in exactly one part. Only a vote that is cast
 * again may be in two. Throws ApiError 401 if the account was deleted, 400 for an invalid cursor.
 */
export async function readOwnData(
  userId: string,
  cursor?: string,
  maxBytes = largestBody,
): Promise<OwnData> {
  const binding = `export ${userId}`;
  const start = cursor === undefined ? undefined : openCursor(binding, Cursor, cursor);
  if (cursor !== undefined && !start) {
    throw invalidRequest('cursor must be one that came with a part of your own data');
  }
  const [first, after] = start ?? [lists[0], ''];
  const account = start ? undefined : await readAccount(userId);
  const part: OwnData = {
    ...account,
    ...(Object.fromEntries(lists.map((list) => [list, []])) as unknown as Pick<OwnData, List>),
  };
  const end = performance.now() + maxMilliseconds;
  const mostUsed = shareUsed() + maxShare;
  let bytes = bytesOf(JSON.stringify(part));
  let position: v.InferOutput<typeof Cursor> | undefined;
  for (const list of lists.slice(lists.indexOf(first))) {
    for await (const batch of sources[list](userId, list === first ? after : '')) {
      bytes += bytesOf(JSON.stringify(batch.records));
      const isOver = bytes > maxBytes || performance.now() > end || shareUsed() > mostUsed;
      if (position && isOver) {
        return { ...part, next: sealCursor(binding, position) };
      }
      for (const record of batch.records) add(part, list, record);
      position = [list, batch.lastKey];
    }
  }
  return part;
}

/** Reads what only the first part holds. */
async function readAccount(userId: string) {
  const [account, applications, tokens, days] = await Promise.all([
    findAccount(userId),
    listApplications(userId),
    listPersonalTokens(userId),
    readDailyCounts(userId),
  ]);
  if (!account) throw invalidToken();
  const { user, contact } = account;
  return {
    profile: { ...user, ...contact, identity: contact.identity ?? null },
    applications: applications.map(
      ({ secret_id: _, previous_secret: __, user_id: ___, ...application }) => application,
    ),
    personal_tokens: tokens.map(({ name, scopes, created, expires_at }) => {
      return { name, scopes, created, expires: isoOf(expires_at) };
    }),
    votes_by_day: days.map(({ day, count, cast, ...others }) => {
      return { day, first_votes: count, votes: cast, ...others };
    }),
  };
}

/** Adds a record to its list. The revisions of a review come one at a time and are joined. */
function add(part: OwnData, list: List, record: OwnData[List][number]): void {
  const last = part.reviews.at(-1);
  if (list === 'reviews' && last?.id === (record as ExportedReview).id) {
    last.revisions.push(...(record as ExportedReview).revisions);
  } else {
    (part[list] as unknown[]).push(record);
  }
}

/** By application: a cursor inside one would contain a grant id, which tokens are made from. */
async function* connections(userId: string, after: string) {
  const grants = (await listGrants(userId)).filter(
    ({ client_id }) => client_id > after && client_id !== nobody,
  );
  const byClient = Map.groupBy(grants, ({ client_id }) => client_id);
  const applications = await findApplications([...byClient.keys()]);
  for (const client_id of [...byClient.keys()].sort()) {
    const name = applications.get(client_id)?.name ?? null;
    const records = (byClient.get(client_id) ?? []).map(({ scopes, created, renewed }) => {
      return { client_id, name, scopes, created, renewed };
    });
    yield { lastKey: client_id, records };
  }
}

/** In the order of claims, by entity. Within a review, the key ends in a revision number. */
async function* reviews(userId: string, after: string) {
  const [entity = '', revision] = after.split('#');
  const claim = claimKey(userId, entity);
  if (revision !== undefined) {
    const claims = await batchGet([claim], { consistent: true });
    for (const own of await claimedReviews([...claims.values()])) {
      yield* batchesOf(own, Number(revision));
    }
  }
  const pages = queryItems(claimKey(userId, ''), {
    pageSize: 50,
    after: entity ? claim.sk : undefined,
  });
  for await (const claims of pages) {
    for (const own of await claimedReviews(claims)) {
      yield* batchesOf(own);
    }
  }
}

interface OwnReview {
  review: Review;
  entity: NameOfEntity | null;
  /** The statement of an undecided appeal. */
  appeal: string | undefined;
  /** The text of an edit that waits, or that is kept of a hidden review. */
  waiting_text: string | undefined;
}

/**
 * Reads the reviews of claims, in order, with their appeals and waiting texts. Reviews being erased
 * are left out.
 */
async function claimedReviews(claims: readonly Item[]): Promise<OwnReview[]> {
  const keys = claims.map(({ review_id }) => reviewKey(String(review_id)));
  const items = await getItems(keys, { consistent: true });
  const reviews = parseItems(
    Review,
    items.filter((item) => item?.deleted_at === undefined),
  );
  const appealed = reviews.filter(({ appealed_at }) => appealed_at !== undefined);
  const cases = await readCases(appealed.map(({ id }) => caseKey(id)));
  const [waiting, names] = await Promise.all([
    findWaitingTexts(reviews, mayHaveText),
    findMetadata(reviews, { id: reviews[0]?.user_id ?? '', isModerator: false }),
  ]);
  return reviews.map((review, i) => ({
    review,
    entity: nameOf(names[i]),
    appeal: cases.get(review.id)?.appeal,
    waiting_text: waiting.get(review.id),
  }));
}

/** The name of a reviewed entity, as the export has it. */
type NameOfEntity = NonNullable<ExportedReview['entity']>;

function nameOf(known: KnownEntity | null | undefined): NameOfEntity | null {
  return known ? pick(known, ['name', 'about', 'url']) : null;
}

const exportedFields = [
  'id',
  'entity_id',
  'entity_type',
  'language',
  'license',
  'created',
  'published_on',
  'is_hidden',
  'popularity',
  'source',
  'source_url',
  'moderation',
  'waiting_since',
  'appealed_at',
] as const;

/** Yields a review with one revision at a time, because all may not fit a part. */
async function* batchesOf({ review, ...others }: OwnReview, after = 0) {
  const { id, entity_id, edits } = review;
  const batchOf = ({ review_id: _, ...revision }: Revision, lastKey: string) => {
    const record = { ...pick(review, exportedFields), ...others, revisions: [revision] };
    return { lastKey, records: [record] };
  };
  if (after < edits) {
    const prefix = { ...revisionKey(id, 1), sk: 'REVISION#' };
    const pages = queryItems(prefix, { after: revisionKey(id, after).sk });
    for await (const item of eachOf(pages)) {
      const revision = parseItem(Revision, item);
      // An edit may have come after the review was read.
      if (revision && revision.id <= edits) yield batchOf(revision, `${entity_id}#${revision.id}`);
    }
  }
  const current = await findRevision(review, currentRevision(review));
  if (current) yield batchOf(current, entity_id);
}

/** Adds to votes the names of what they are on, unless the review is not public any more. */
async function namedVotes(votes: readonly OwnVote[]): Promise<OwnData['votes']> {
  const keys = votes.map(({ review_id }) => reviewKey(review_id));
  const items = await batchGet(keys);
  const reviews = votes.map(({ review_id }) => {
    const review = parseItem(Review, items.get(keyString(reviewKey(review_id))));
    return review && isPublic(review) ? review : undefined;
  });
  const shown = reviews.filter((review) => review !== undefined);
  const names = await findMetadata(shown);
  const byId = new Map(shown.map(({ id }, i) => [id, nameOf(names[i])]));
  return votes.map((vote) => ({ ...vote, entity: byId.get(vote.review_id) ?? null }));
}
