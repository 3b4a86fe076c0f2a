import { html } from 'hono/html';
import * as v from 'valibot';
import type { Metadata } from '../entity/presented.ts';
import type { FeedOwner } from '../feed/link.ts';
import { readFromCursor } from '../list/cursor.ts';
import { listReviewsOf, type ReviewList } from '../review/review-list.ts';
import { oneOf } from '../values.ts';
import type { Html } from './layout.ts';
import { reviewCard } from './review-card.ts';
import { tabs } from './tabs.ts';
import { nameOfLanguage } from './words.ts';

/** Number of reviews on a page. */
const perPage = 20;

/** Query parameters of a list of reviews, named as in the API. */
export const listParameters = {
  sort: v.optional(oneOf(['published_on', 'popularity']), 'published_on'),
  cursor: v.optional(v.string()),
};

/** Filters, order and cursor of a requested list. */
export interface ListQuery {
  sort: 'published_on' | 'popularity';
  cursor?: string;
  rating?: readonly number[];
  language?: string;
}

/** A page of a list, with the cursor of the next page. */
interface ListPage extends Omit<ReviewList, 'next'> {
  cursor: string | undefined;
}

const orders = [
  ['published_on', 'Newest'],
  ['popularity', 'Most popular'],
] as const;

/**
 * Reads a page of the reviews of an entity or by a user. Throws ApiError 400 for an invalid cursor.
 */
export async function readReviews(
  owner: FeedOwner,
  { cursor: sent, ...query }: ListQuery,
): Promise<ListPage> {
  const { sort, ...filter } = query;
  const order = sort === 'popularity' ? 'popularity' : 'date';
  const list = { ...filter, order, descending: true, limit: perPage } as const;
  const { page, cursor } = await readFromCursor(
    { ...owner, ...query },
    { cursor: sent, offset: 0, limit: perPage },
    (position) => listReviewsOf(owner, { ...list, ...position }),
  );
  return { ...page, cursor };
}

/** Address of a list on the page at `url`, from its start or from a cursor. */
export function listUrl(
  url: string,
  { rating, language, sort }: Partial<ListQuery>,
  cursor?: string,
): string {
  const order = sort === 'popularity' ? sort : undefined;
  const query = { rating: rating?.join(), language, sort: order, cursor };
  const written = Object.entries(query).filter(([, value]) => value !== undefined);
  return written.length > 0 ? `${url}?${new URLSearchParams(written as [string, string][])}` : url;
}

/** Renders the list on the page at `url`, with a choice of order and a link to the next page. */
export function reviewSection(
  url: string,
  query: ListQuery,
  { count, reviews, cursor }: ListPage,
  about: { isOfOneEntity?: boolean; isOfOneAuthor?: boolean; metadata?: (Metadata | null)[] },
): Html {
  const { rating, language } = query;
  const isFiltered = (rating ?? language) !== undefined;
  if (count === 0 && !isFiltered) return html`<section><p>No reviews yet.</p></section>`;
  return html`<section>
    <h2>${reviewsOf(count)}${rating && ` with ${starsIn(rating)}`}${language && ` in ${nameOfLanguage(language)}`}</h2>
    ${isFiltered && html`<p><a href="${listUrl(url, { sort: query.sort })}">Show all reviews</a></p>`}
    ${
      count > 1 &&
      tabs(
        'Order',
        listUrl(url, query),
        orders.map(([sort, name]) => [listUrl(url, { ...query, sort }), name] as const),
      )
    }
    <ul class="plain">
      ${reviews.map((each, i) => html`<li>${reviewCard(each, { ...about, metadata: about.metadata?.[i] ?? null })}</li>`)}
    </ul>
    ${cursor && html`<p><a class="button quiet" rel="next" href="${listUrl(url, query, cursor)}">Next page</a></p>`}
  </section>`;
}

/** Number of reviews in words. */
export function reviewsOf(count: number): string {
  if (count === 0) return 'No reviews';
  return count === 1 ? '1 review' : `${count} reviews`;
}

function starsIn(rating: readonly number[]): string {
  return `${rating.join(' or ')} ${rating.join() === '1' ? 'star' : 'stars'}`;
}
