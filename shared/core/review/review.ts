import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { invalidRequest } from '../../base/errors.ts';
import { languages } from '../../base/languages.ts';
import { licenseOf, licenses } from '../../base/licenses.ts';
import { popularityRank } from '../../base/list/popularity-rank.ts';
import type { Content } from '../../base/list/rank-tree.ts';
import { pick } from '../../base/pick.ts';
import type { IndexAttributes } from '../../base/table/item.ts';
import { httpDate } from '../../base/time.ts';
import { Matching, oneOf } from '../../base/values.ts';
import {
  type EntityType,
  EntityTypeIn,
  entityTypes,
  StoredEntityType,
} from '../entity/entity-type.ts';
import { presentUser, type User } from '../user/user.ts';
import { Carried } from './case.ts';
import type { PresentedReview } from './presented.ts';
import { Moderation } from './verdict.ts';
import { hasNeeded, longestText, Written, writtenIn, writtenNames } from './written.ts';

/** Ratings separated by commas; each once and ascending in the output. */
export const Stars = v.pipe(
  Matching(/^[1-5](,[1-5])*$/, 'must be ratings from 1 to 5, separated by commas'),
  v.transform((list) => [...new Set(list.split(',').map(Number))].sort()),
);

export const ReviewedType = EntityTypeIn(entityTypes);

/** An ISO 639-1 code. */
export const Language = v.picklist(languages, 'must be an ISO 639-1 code, in lower case');

export const LicenseChoice = oneOf(licenses.map(({ id }) => id));

/** A review as stored. Times are ISO 8601. */
export const Review = v.object({
  id: v.string(),
  entity_id: v.string(),
  entity_type: StoredEntityType,
  user_id: v.string(),
  ...Written.entries,
  /** Bytes of UTF-8 of a text that is longer than people write. `text` is then its beginning. */
  long_text: v.optional(v.number()),
  language: v.string(),
  /** Id of the licence. */
  license: v.string(),
  created: v.string(),
  /** Time of the current revision. */
  last_updated: v.string(),
  /** Null for a draft. */
  published_on: v.nullable(v.string()),
  /** Revisions after the first. */
  edits: v.number(),
  is_hidden: v.boolean(),
  moderation: v.optional(Moderation),
  /** Appeal of its author after it was hidden; ISO 8601. */
  appealed_at: v.optional(v.string()),
  /** Set on a public review while a text waits for a moderator, see `WaitingText`; ISO 8601. */
  waiting_since: v.optional(v.string()),
  /** On a draft: reports that open its case when it is published. See `ReportedClaim`. */
  reported: v.optional(Carried),
  /** Set during a deletion in two steps: the review is then in no list. */
  deleted_at: v.optional(v.string()),
  votes_positive: v.number(),
  votes_negative: v.number(),
  /** Votes last cast on the current revision, into which the next edit freezes them. */
  revision_votes_positive: v.number(),
  revision_votes_negative: v.number(),
  /** Positive minus negative votes. */
  popularity: v.number(),
  source: v.nullable(v.string()),
  source_url: v.nullable(v.string()),
  /** Rises with every write of the item. */
  version: v.number(),
});
export type Review = v.InferOutput<typeof Review>;

/** A review with its whole text. long-text.ts makes one of a stored review. */
export type WholeReview = Review & { long_text?: undefined };

/** Fields of a review that are counted from its revisions and votes. */
export const countedFields = [
  'last_updated',
  'edits',
  'votes_positive',
  'votes_negative',
  'revision_votes_positive',
  'revision_votes_negative',
  'popularity',
  'version',
] as const;

/** The counts of a review on which nobody has voted. */
export const noVotes = {
  votes_positive: 0,
  votes_negative: 0,
  revision_votes_positive: 0,
  revision_votes_negative: 0,
  popularity: 0,
};

/** Makes a review of this moment, without votes. Throws ApiError 400 without text and rating. */
export function newReview(
  userId: string,
  content: Pick<Review, 'entity_id' | 'entity_type' | 'language'> &
    Written & { license_choice: string; is_draft: boolean },
): WholeReview {
  if (!hasNeeded(content)) throw invalidRequest('text or rating is required');
  const now = new Date().toISOString();
  return {
    id: randomUUID(),
    ...pick(content, ['entity_id', 'entity_type', 'language']),
    ...writtenIn(content),
    user_id: userId,
    license: content.license_choice,
    created: now,
    last_updated: now,
    published_on: content.is_draft ? null : now,
    edits: 0,
    is_hidden: false,
    source: null,
    source_url: null,
    version: 1,
    ...noVotes,
  };
}

/** Returns the review with a new revision of this moment (ISO 8601). */
export function revised(before: WholeReview, written: Written, at: string): WholeReview {
  return {
    ...before,
    ...written,
    edits: before.edits + 1,
    last_updated: at,
    revision_votes_positive: 0,
    revision_votes_negative: 0,
  };
}

/** Content of a review: text, rating, or both, with stars as in `both4`. Totals omit the stars. */
export type ReviewContent = Exclude<Content, 'user'>;

/** Is true for a review that only its author sees, because it is not published. */
export function isDraft({ published_on }: Pick<Review, 'published_on'>): boolean {
  return published_on === null;
}

/** Returns true if the public may see it, unless its author was deleted. */
export function isPublic(review: Pick<Review, 'published_on' | 'is_hidden'>): boolean {
  return !isDraft(review) && !review.is_hidden;
}

/** Is true for a review of a newcomer that waits for a moderator. It is hidden until then. */
export function isHeld({ is_hidden, moderation }: Pick<Review, 'is_hidden' | 'moderation'>) {
  return is_hidden && moderation?.decision === 'hold';
}

/** Returns `<type>|<language>`, the partition in the facet indexes. */
export function facetOf(review: Pick<Review, 'entity_type' | 'language'>): string {
  return `${review.entity_type}|${review.language}`;
}

/** Splits a facet into entity type and language. */
export function parseFacet(facet: string): { entity_type: EntityType; language: string } {
  const [entity_type, language] = facet.split('|') as [EntityType, string];
  return { entity_type, language };
}

/** Returns the content that `review_type` and `rating` filter by, such as `both4`. */
export function contentOf({ text, rating }: Pick<Review, 'text' | 'rating'>): ReviewContent {
  if (rating === null) return 'text';
  return `${text === null ? 'rating' : 'both'}${rating}` as ReviewContent;
}

/** In bytes: what a read unit covers, and the most that a review has beside its text. */
const unit = 4096;
const besideText = 1_500;

/** Code points of a long text that its review holds: more than an excerpt on a page shows. */
export const beginningLength = 1_000;

/**
 * Returns the `kind` of a review's index entries: its content, and its size in 4 KB if it may be
 * larger, such as `both4/6`. So a list knows how many reviews a page holds before it reads them.
 */
export function kindOf(review: Pick<Review, 'text' | 'rating' | 'long_text'>): string {
  const size = sizeOf(review.long_text ?? Buffer.byteLength(review.text ?? ''));
  return size > 1 ? `${contentOf(review)}/${size}` : contentOf(review);
}

/** Returns the size of a review in 4 KB, with the item of a long text. */
function sizeOf(bytesOfText: number): number {
  const beginning = bytesOfText > longestText ? 4 * beginningLength : 0;
  return Math.ceil((bytesOfText + beginning + besideText) / unit);
}

/**
 * Reads the `kind` of an index entry. `bytes` are the most that its review has, with its long text
 * if `isLong`.
 */
export function readKind(kind = ''): { content: ReviewContent; bytes: number; isLong: boolean } {
  const [content, size = 1] = kind.split('/') as [ReviewContent, string?];
  return { content, bytes: unit * Number(size), isLong: Number(size) > sizeOf(longestText) };
}

/** Returns the stars in a content, or 0 if it has none. */
export function starsOf(content: ReviewContent): number {
  return Number(/\d$/.exec(content)?.[0] ?? 0);
}

/** Returns the content without stars, as totals count it. */
export function withoutStars(content: ReviewContent): 'text' | 'rating' | 'both' {
  return content.replace(/\d$/, '') as 'text' | 'rating' | 'both';
}

/** Revisions are numbered from 1. */
export function currentRevision({ edits }: Pick<Review, 'edits'>): number {
  return edits + 1;
}

/** Index attributes, see core/kinds.ts. */
export function listedIn(review: Review): IndexAttributes {
  const { id, user_id, entity_id, published_on, popularity } = review;
  if (review.deleted_at !== undefined) return {};
  if (published_on === null || review.is_hidden) {
    return { author: `UNLISTED#${user_id}`, date: `${published_on ?? review.created}#${id}` };
  }
  return {
    all: 'REVIEW',
    type: review.entity_type,
    facet: facetOf(review),
    entity: entity_id,
    author: user_id,
    date: `${published_on}#${id}`,
    popularity_rank: popularityRank(popularity, published_on, id),
    kind: kindOf(review),
  };
}

/** Presents a review with its author. Times become HTTP dates. */
export function presentReview(review: WholeReview, author: User): PresentedReview {
  return {
    ...pick(review, ['id', 'entity_id', 'entity_type', ...writtenNames, 'language']),
    license: licenseOf(review),
    created: httpDate(review.created),
    published_on: review.published_on === null ? null : httpDate(review.published_on),
    last_updated: httpDate(review.last_updated),
    ...pick(review, ['edits', 'popularity', 'source', 'source_url']),
    user: presentUser(author),
    votes: { positive: review.votes_positive, negative: review.votes_negative },
  };
}
