// A list of reviews on a page: its query, its reading and its HTML.
import { html } from 'hono/html';
import * as v from 'valibot';
import { fitting } from '../../base/answer-size.ts';
import type { ListOwner } from '../../base/links.ts';
import { type PageEnd, readFromCursor } from '../../base/list/cursor.ts';
import type { PageRequest } from '../../base/list/page-plan.ts';
import { oneOf } from '../../base/values.ts';
import {
  type EntityGroup,
  type EntityType,
  isGroup,
  isOwnType,
  nameOfEntityType,
  nameOfGroup,
  pluralOfEntityType,
  titleOfEntity,
} from '../../core/entity/entity-type.ts';
import { findMetadata } from '../../core/entity/metadata.ts';
import type { Metadata } from '../../core/entity/presented.ts';
import type { FacetFilter } from '../../core/review/counts.ts';
import { listWritten } from '../../core/review/own-reviews.ts';
import {
  listReviews,
  listReviewsOf,
  listReviewsOfSame,
  type ReviewList,
} from '../../core/review/review-list.ts';
import { nameOfLanguage } from '../frame/language-names.ts';
import type { Html, Visitor } from '../frame/layout.ts';
import { perPage, readDated, tabs } from '../frame/lists.ts';
import { withQuery } from '../frame/own-url.ts';
import { viewerOf } from '../frame/person.ts';
import { counted } from '../frame/words.ts';
import { listByThing, reviewCard, thingHead } from './review-card.ts';
import { type Votes, voteLine } from './vote-form.ts';

/** Query parameters of a list of reviews, named as in the API. */
export const listParameters = {
  sort: v.optional(oneOf(['published_on', 'popularity']), 'published_on'),
  cursor: v.optional(v.string()),
};

/** Filters, order and cursor of a requested list. */
export interface ListQuery extends FacetFilter {
  sort: 'published_on' | 'popularity';
  cursor?: string;
}

/** A page of a list. `endAfter` gives the cursor of the next page, also if this page is short. */
type ListPage = Pick<ReviewList, 'count' | 'reviews' | 'counts'> & {
  endAfter: (shown: number) => Pick<PageEnd, 'cursor'>;
};

/**
 * Reads a page of an entity's or user's reviews, of an entity with those of the things that lead to
 * it. Throws ApiError 400 for an invalid cursor.
 */
export async function readReviews(
  owner: ListOwner,
  query: ListQuery,
  led_from: readonly string[] = [],
): Promise<ListPage> {
  return readFiltered(owner, query, (list) =>
    'entity_id' in owner && led_from.length > 0
      ? listReviewsOfSame([owner.entity_id, ...led_from], list)
      : listReviewsOf(owner, list),
  );
}

/** Reads a page of all reviews. Throws ApiError 400 for an invalid cursor. */
export async function readAllReviews(query: ListQuery): Promise<ListPage> {
  return readFiltered({}, query, listReviews);
}

async function readFiltered(
  owner: ListOwner | object,
  { cursor: start, ...query }: ListQuery,
  read: (list: FacetFilter & PageRequest & { isNamed: boolean }) => Promise<ReviewList>,
): Promise<ListPage> {
  const { sort, ...filter } = query;
  const order = sort === 'popularity' ? 'popularity' : 'date';
  const list = { ...filter, order, descending: true, limit: perPage } as const;
  // An entity has one name, but the budget of a page also holds the names of a list of many.
  const { page, endAfter } = await readFromCursor(
    { ...owner, ...query },
    { cursor: start, offset: 0, limit: perPage },
    (position) => read({ ...list, ...position, isNamed: true }),
  );
  return { ...page, endAfter };
}

/** A page of a person's reviews, with drafts, hidden reviews, and names. */
export async function readWritten(
  user_id: string,
  start: string | undefined,
  visitor: Visitor,
  limit = perPage,
) {
  const page = await readDated(
    { list: 'written', user_id },
    start,
    (most, after) => listWritten(user_id, { limit: most, offset: 0, after }),
    limit,
  );
  const reviews = page.reviews.map(({ review }) => review);
  const metadata = await findMetadata(reviews, viewerOf(visitor));
  const written = reviews.map((review, i) => ({ review, metadata: metadata[i] }));
  return { written, cursor: page.cursor };
}

/** Address of a list on the page at `url`, from its start or from a cursor. */
export function listUrl(
  url: string,
  { rating, sort, cursor: _, ...filter }: Partial<ListQuery>,
  cursor?: string,
): string {
  const order = sort === 'popularity' ? sort : undefined;
  return withQuery(url, { rating: rating?.join(), ...filter, sort: order, cursor });
}

/** Renders the list on the page at `url`, with a choice of order and a link to the next page. */
export function reviewSection(
  url: string,
  query: ListQuery,
  { count, reviews, endAfter }: ListPage,
  about: {
    isOfOneEntity?: boolean;
    isOfOneAuthor?: boolean;
    metadata?: (Metadata | null)[];
    votes?: Votes | undefined;
  },
): Html {
  const { rating, language, entity_type, review_type } = query;
  const isFiltered = (rating ?? language ?? entity_type ?? review_type) !== undefined;
  if (count === 0 && !isFiltered) return html`<section><p>No reviews yet.</p></section>`;
  const cards = reviews.map((each, i) => {
    const { review, author } = each;
    const metadata = about.metadata?.[i] ?? null;
    const name = about.isOfOneEntity ? author.display_name : titleOfEntity(review, metadata);
    const item = html`<li id="review-${review.id}">
          ${reviewCard(each, about)}
          ${voteLine(review, name, about.votes)}
        </li>`;
    const head = about.isOfOneEntity ? '' : thingHead(review, metadata);
    return { review, metadata, item, bytes: Buffer.byteLength(`${item}${head}`) };
  });
  const shown = cards.slice(0, fitting(cards.map(({ bytes }) => bytes)));
  const { cursor } = endAfter(shown.length);
  return html`<section>
    <h2>${reviewCount(count)}${filterInWords(query)}</h2>
    ${isFiltered && html`<p><a href="${listUrl(url, { sort: query.sort })}">Show all reviews</a></p>`}
    ${
      count > 1 &&
      tabs('Order', listUrl(url, query), [
        [listUrl(url, { ...query, sort: 'published_on' }), 'Newest'],
        [listUrl(url, { ...query, sort: 'popularity' }), 'Most popular'],
      ])
    }
    ${about.isOfOneEntity ? html`<ul class="plain">${shown.map(({ item }) => item)}</ul>` : listByThing(shown)}
    ${cursor && html`<p><a class="button quiet" rel="next" href="${listUrl(url, query, cursor)}">Next page</a></p>`}
  </section>`;
}

/** Number of reviews in words. */
export function reviewCount(count: number): string {
  return count === 0 ? 'No reviews' : counted(count, 'review');
}

function filterInWords({ rating, language, entity_type, review_type }: ListQuery): string {
  const words = [
    entity_type && ` of ${thingsOf(entity_type)}`,
    review_type && (review_type === 'review' ? ' with a text' : ' with stars'),
    rating && ` with ${starsIn(rating)}`,
    language && ` in ${nameOfLanguage(language)}`,
  ];
  return words.filter(Boolean).join('');
}

/** A type or group in the plural, such as works. */
function thingsOf(filter: EntityGroup | EntityType): string {
  if (isGroup(filter)) return nameOfGroup(filter).toLowerCase();
  if (isOwnType(filter)) return `the type “${nameOfEntityType(filter)}”`;
  return pluralOfEntityType(filter).toLowerCase();
}

function starsIn(rating: readonly number[]): string {
  return `${rating.join(' or ')} ${rating.join() === '1' ? 'star' : 'stars'}`;
}
