import { Feed } from 'feed';
import { html } from 'hono/html';
import { authUrl } from '../auth-url.ts';
import { findMetadata } from '../entity/metadata.ts';
import { version } from '../routes.ts';
import { collect, queryIndex } from '../table/query.ts';
import { type FeedOwner, pathOf } from './feed-link.ts';
import { isPublic, toReference } from './review.ts';
import { type AuthoredReview, findReviews } from './review-repository.ts';

/** How many reviews stand in a feed. */
const newest = 50;

/** The newest public reviews of an entity or user in Atom 1.0 (RFC 4287). `titleOf` gets what the databases call the first entity. */
export async function reviewFeed(
  owner: FeedOwner,
  titleOf: (name: string | undefined) => string,
): Promise<string> {
  const options = { descending: true, pageSize: newest };
  const entries =
    'entity_id' in owner
      ? queryIndex('entity-by-date', owner.entity_id, options)
      : queryIndex('author-by-date', owner.user_id, options);
  const found = await findReviews((await collect(entries, newest)).map(toReference));
  const reviews = found.filter(({ review }) => isPublic(review));
  const metadata = await findMetadata(reviews.map(({ review }) => review));
  const names = metadata.map((each) => each?.name);
  const dates = reviews.map(updatedOf).sort();
  const address = authUrl() + pathOf(owner);
  const feed = new Feed({
    id: `${address}/reviews.atom`,
    title: plain(titleOf(names[0])),
    link: address,
    feed: `${address}/reviews.atom`,
    // A feed without entries has changed when it was not there yet.
    updated: new Date(dates.at(-1) ?? 0),
    generator: false,
    copyright: 'Each review is published under the licence that it names',
  });
  for (const [i, authored] of reviews.entries()) feed.addItem(entryOf(authored, names[i]));
  return feed.atom1();
}

function entryOf(authored: AuthoredReview, name: string | undefined) {
  const { review, author } = authored;
  const { id, entity_id, entity_type, rating, text, published_on, license } = review;
  const stars = rating === null ? '' : `${'★'.repeat(rating)}${'☆'.repeat(5 - rating)}`;
  const what = name ?? `${entity_type.replaceAll('_', ' ')} ${entity_id}`;
  const lines = text?.split(/\r\n|\r|\n/).map((line, i) => html`${i > 0 && html`<br>`}${line}`);
  return {
    id: `urn:uuid:${id}`,
    link: `${authUrl()}${version}/review/${id}`,
    // These two are HTML, which the library puts into CDATA: no text in it can end that, because it is escaped here.
    title: readable(`${html`${[stars, what].filter(Boolean).join(' ')}`}`),
    content: readable(`${html`${stars && html`<p>${stars}</p>`}${text && html`<p>${lines}</p>`}`}`),
    author: [
      { name: plain(author.display_name), link: `${authUrl()}${pathOf({ user_id: author.id })}` },
    ],
    published: new Date(published_on ?? 0),
    date: new Date(updatedOf(authored)),
    copyright: license,
  };
}

/** A draft is published after its last revision. */
function updatedOf({ review: { last_updated, published_on } }: AuthoredReview): string {
  return last_updated > (published_on ?? '') ? last_updated : (published_on ?? '');
}

/** Text for an element that holds no HTML: the library takes `&amp;` for an ampersand that is escaped already. */
function plain(text: string): string {
  return readable(text).replaceAll('&', '&amp;');
}

/** Without what no XML document can hold, however it is written (XML 1.0 section 2.2). */
function readable(text: string): string {
  return text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd');
}
