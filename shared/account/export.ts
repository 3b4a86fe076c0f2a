import * as v from 'valibot';
import { invalidRequest, invalidToken } from '../errors.ts';
import { bytesOf, largestBody } from '../lambda-limits.ts';
import { openPlace, sealPlace } from '../list/cursor.ts';
import { readCases } from '../moderation/case-repository.ts';
import { Decision } from '../moderation/decision.ts';
import { Report } from '../moderation/report.ts';
import { findApplications, listApplications } from '../oauth/application-repository.ts';
import { listGrants } from '../oauth/grant-repository.ts';
import { listPersonalTokens, nobody } from '../oauth/personal-token-repository.ts';
import { pick } from '../pick.ts';
import { HiddenClaim } from '../review/hidden-claim.ts';
import { Review } from '../review/review.ts';
import { Revision, revisionOf } from '../review/revision.ts';
import { batchGet, getItems } from '../table/batch.ts';
import type { Item } from '../table/item.ts';
import { caseKey, claimKey, dailyVotesKey, reviewKey, revisionKey } from '../table/keys.ts';
import { collect, queryIndex, queryItems } from '../table/query.ts';
import { findAccount } from '../user/user-repository.ts';
import { Vote } from '../vote/vote.ts';
import type { ExportedReview, OwnData } from './presented.ts';

/** What may be longer than an answer, in the order in which it is read. */
const lists = [
  'connections',
  'reviews',
  'hidden_and_deleted',
  'decisions',
  'votes',
  'reports',
] as const;
type List = (typeof lists)[number];

/** Behind what a part begins: a list, and a place in it, made of ids, times and numbers. Anything else could be no key, and whoever likes can seal it. */
const Place = v.tuple([v.picklist(lists), v.pipe(v.string(), v.regex(/^[\w#:.-]{1,100}$/))]);

/** Some records of a list, and the place behind them. */
interface Piece<T> {
  place: string;
  records: T[];
}

/** Milliseconds after which a part is long enough, whatever its size: a function has 15 seconds. */
const patience = 5_000;

/**
 * One part of everything that is stored about a person, as it is stored: times are ISO 8601, and nothing in it is a secret or somebody else's. A
 * part is as much as fits an answer; `next` leads to the one behind it, and the last has none. What is there from the first part to the last
 * is in exactly one of them, whatever is written meanwhile; only a vote that is cast again may be in two. Throws ApiError 401 when the account is gone, 400 for a bad cursor.
 */
export async function readOwnData(
  userId: string,
  cursor?: string,
  maxBytes = largestBody,
): Promise<OwnData> {
  const binding = `export ${userId}`;
  const from = cursor === undefined ? undefined : openPlace(binding, Place, cursor);
  if (cursor !== undefined && !from) {
    throw invalidRequest('cursor must be one that came with a part of your own data');
  }
  const [first, after] = from ?? [lists[0], ''];
  const part: OwnData = {
    ...(from ? {} : await readAccount(userId)),
    connections: [],
    reviews: [],
    hidden_and_deleted: [],
    decisions: [],
    votes: [],
    reports: [],
  };
  const end = performance.now() + patience;
  let bytes = bytesOf(JSON.stringify(part));
  let place: v.InferOutput<typeof Place> | undefined;
  for (const list of lists.slice(lists.indexOf(first))) {
    for await (const piece of sources[list](userId, list === first ? after : '')) {
      bytes += bytesOf(JSON.stringify(piece.records));
      if (place && (bytes > maxBytes || performance.now() > end)) {
        return { ...part, next: sealPlace(binding, place) };
      }
      for (const record of piece.records) add(part, list, record);
      place = [list, piece.place];
    }
  }
  return part;
}

/** What is never long. */
async function readAccount(userId: string) {
  const [account, applications, tokens, days] = await Promise.all([
    findAccount(userId),
    listApplications(userId),
    listPersonalTokens(userId),
    collect(queryItems(dailyVotesKey(userId, ''))),
  ]);
  if (!account) throw invalidToken();
  const { user, contact } = account;
  return {
    profile: { ...user, ...contact, identity: contact.identity ?? null },
    applications: applications.map(
      ({ secret_id: _, previous_secret: __, user_id: ___, ...application }) => application,
    ),
    personal_tokens: tokens.map(({ name, scopes, created, expires_at }) => {
      return { name, scopes, created, expires: new Date(expires_at * 1000).toISOString() };
    }),
    votes_by_day: days.map(({ sk, count = 0, cast = 0, reports = 0 }) => {
      const day = sk.slice(dailyVotesKey('', '').sk.length);
      return { day, first_votes: Number(count), votes: Number(cast), reports: Number(reports) };
    }),
  };
}

/** How each list is read, behind a place in it. */
const sources: {
  [L in List]: (
    userId: string,
    after: string,
  ) => AsyncGenerator<Piece<OwnData[L][number]>, void, undefined>;
} = {
  connections,
  reviews,
  hidden_and_deleted: listed('HIDDEN', v.omit(HiddenClaim, ['user_id'])),
  // Without who has decided.
  decisions: listed(
    'SUBJECT',
    v.pick(Decision, ['review_id', 'decision', 'reason', 'note', 'decided_at']),
  ),
  // By time, so that a vote that is cast again meanwhile moves to where the walk has yet to come: it may be there twice, and is never missed.
  votes: listed('VOTER', v.omit(Vote, ['user_id'])),
  reports: listed('REPORTER', v.pick(Report, ['review_id', 'reason', 'reported_at'])),
};

function add(part: OwnData, list: List, record: OwnData[List][number]): void {
  const last = part.reviews.at(-1);
  if (list === 'reviews' && last?.id === (record as ExportedReview).id) {
    last.revisions.push(...(record as ExportedReview).revisions);
  } else (part[list] as unknown[]).push(record);
}

/** By application: what a person has granted to one stays together, as the place of a single grant would tell its id, which tokens are made of. */
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
    yield { place: client_id, records };
  }
}

/** In the order of the claims, that is of entities. A place within a review is followed by the number of a revision. */
async function* reviews(userId: string, after: string): AsyncGenerator<Piece<ExportedReview>> {
  const [entity = '', revision] = after.split('#');
  const claim = claimKey(userId, entity);
  if (revision !== undefined) {
    const claims = await batchGet([claim], { consistent: true });
    for (const own of await claimed([...claims.values()])) {
      yield* piecesOf(own, Number(revision));
    }
  }
  const options = { pageSize: 50, after: entity ? claim.sk : undefined };
  for await (const claims of queryItems(claimKey(userId, ''), options)) {
    for (const own of await claimed(claims)) yield* piecesOf(own);
  }
}

/** The reviews that claims lead to, in their order, each with its appeal; without those that are still being erased. */
async function claimed(claims: readonly Item[]) {
  const keys = claims.map(({ review_id }) => reviewKey(String(review_id)));
  const items = await getItems(keys, { consistent: true });
  const reviews = items.flatMap((item) =>
    item && item.deleted_at === undefined ? v.parse(Review, item) : [],
  );
  const appealed = reviews.filter(({ appealed_at }) => appealed_at !== undefined);
  const cases = await readCases(appealed.map(({ id }) => caseKey(id)));
  return reviews.map((review) => ({ review, appeal: cases.get(review.id)?.appeal }));
}

/** What is stored of a review beside its revisions. */
const kept = [
  ...([
    'id',
    'entity_id',
    'entity_type',
    'language',
    'license',
    'created',
    'published_on',
  ] as const),
  ...(['is_hidden', 'popularity', 'source', 'source_url', 'moderation', 'appealed_at'] as const),
] as const;

/** A review with its revisions, one by one behind the number `after`: they may be more than fit a part. */
async function* piecesOf(
  { review, appeal }: Awaited<ReturnType<typeof claimed>>[number],
  after = 0,
): AsyncGenerator<Piece<ExportedReview>> {
  const { id, entity_id, edits } = review;
  const pieceOf = ({ review_id: _, ...revision }: Revision, place: string) => {
    return { place, records: [{ ...pick(review, kept), appeal, revisions: [revision] }] };
  };
  if (after < edits) {
    const prefix = { ...revisionKey(id, 1), sk: 'REVISION#' };
    const pages = queryItems(prefix, { after: revisionKey(id, after).sk });
    for await (const page of pages) {
      const earlier = page.map((each) => v.parse(Revision, each));
      for (const revision of earlier) {
        // An edit since the review was read is not of its time.
        if (revision.id <= edits) yield pieceOf(revision, `${entity_id}#${revision.id}`);
      }
    }
  }
  yield pieceOf(revisionOf(review), entity_id);
}

/** Reads what an index lists under a kind of author, oldest first, one by one, behind a place. */
function listed<T extends v.GenericSchema>(kind: string, schema: T) {
  return async function* (userId: string, after: string): AsyncGenerator<Piece<v.InferOutput<T>>> {
    const range = after === '' ? {} : { low: after };
    const pages = queryIndex('author-by-date', `${kind}#${userId}`, { range, pageSize: 100 });
    for await (const page of pages) {
      const entries = page.filter(({ date }) => date !== after);
      const items = await getItems(entries, { consistent: true });
      for (const [i, { date: place = '' }] of entries.entries()) {
        const item = items[i];
        if (item) yield { place, records: [v.parse(schema, item)] };
      }
    }
  };
}
