import { html } from 'hono/html';
import { fitting } from '../../base/answer-size.ts';
import { authUrl } from '../../base/auth-url.ts';
import { atomType, type FeedOwner, feedUrl, pathOf } from '../../base/links.ts';
import { site } from '../../base/site/site.ts';
import { collect, queryIndex } from '../../base/table/query.ts';
import { withoutControls } from '../../base/without-controls.ts';
import { titleOfEntity } from '../../core/entity/entity-type.ts';
import { findMetadata } from '../../core/entity/metadata.ts';
import { Answer, brieflyShared } from '../../core/http/response.ts';
import { readable } from '../../core/review/page-size.ts';
import { type AuthoredReview, findListedWhole } from '../../core/review/read-reviews.ts';
import type { WholeReview } from '../../core/review/review.ts';
import type { WrittenName } from '../../core/review/written.ts';

/** Number of reviews in a feed. */
export const newest = 50;

/** Characters of a text in a feed: all of what people may write. A longer text was imported. */
const mostCharacters = 5_000;

/**
 * Returns the newest public reviews of an entity, a user or the site in Atom 1.0 (RFC 4287).
 * `titleOf` gets the name of the first review's entity. Libraries for feeds took twenty times the
 * CPU.
 */
export async function reviewFeed(
  owner: FeedOwner,
  titleOf: (name: string | undefined) => string,
): Promise<Answer> {
  const listed = await collect(newestOf(owner), newest);
  const reviews = await findListedWhole(listed.slice(0, readable(listed, true)));
  const metadata = await findMetadata(reviews.map(({ review }) => review));
  const names = reviews.map(({ review }, i) => titleOfEntity(review, metadata[i]));
  const { name, isNamed } = site();
  const page = authUrl() + pathOf(owner);
  const self = feedUrl(owner);
  // An empty feed has a constant time, so that it does not change.
  const updated = reviews.map(updatedOf).sort().at(-1) ?? new Date(0).toISOString();
  const head = html`<feed xmlns="http://www.w3.org/2005/Atom">
<id>${self}</id>
<title>${titleOf(names[0])}${isNamed && ` · ${name}`}</title>
<updated>${updated}</updated>
<link rel="alternate" type="text/html" href="${page}"/>
<link rel="self" type="${atomType}" href="${self}"/>
<rights>Each review is published under the licence that it names</rights>`;
  const start = `<?xml version="1.0" encoding="utf-8"?>\n${withoutControls(`${head}`)}`;
  const feed = `${start}\n${entriesOf(reviews, names)}\n</feed>`;
  return new Answer(feed, { type: atomType, headers: { 'Cache-Control': brieflyShared } });
}

/** Reads the index entries of the newest reviews. */
function newestOf(owner: FeedOwner) {
  const options = { descending: true, pageSize: newest };
  if (owner === 'site') return queryIndex('all-by-date', 'REVIEW', options);
  return 'entity_id' in owner
    ? queryIndex('entity-by-date', owner.entity_id, options)
    : queryIndex('author-by-date', owner.user_id, options);
}

/** Returns the first entries, as many as fit. Escaped markup takes ten bytes a character. */
function entriesOf(
  reviews: readonly AuthoredReview<WholeReview>[],
  names: readonly (string | undefined)[],
): string {
  const entries = reviews.map((authored, i) => withoutControls(`${entryOf(authored, names[i])}`));
  return entries.slice(0, fitting(entries.map((entry) => Buffer.byteLength(entry)))).join('');
}

/** The written fields as a feed shows them, in this order. */
const parts: Record<WrittenName, (review: WholeReview) => ReturnType<typeof html> | false> = {
  rating: ({ rating }) => rating !== null && html`<p>${starsOf(rating)}</p>`,
  text: ({ text, language }) => {
    if (text === null) return false;
    const shown = beginningOf(text).split(/\r\n|\r|\n/);
    const lines = shown.map((line, i) => html`${i > 0 && html`<br>`}${line}`);
    return html`<p lang="${language}" dir="auto">${lines}</p>`;
  },
};

/** Returns a text as a feed shows it: its beginning, if it is longer than people may write. */
function beginningOf(text: string): string {
  if (text.length <= mostCharacters) return text;
  const characters = [...text.slice(0, 2 * mostCharacters + 2)];
  if (characters.length <= mostCharacters) return text;
  return `${characters.slice(0, mostCharacters).join('')} …`;
}

function starsOf(rating: number): string {
  return `${'★'.repeat(rating)}${'☆'.repeat(5 - rating)}`;
}

function entryOf(authored: AuthoredReview<WholeReview>, name = '') {
  const { review, author } = authored;
  const { id, rating, published_on, license } = review;
  const at = authUrl();
  const content = html`${Object.values(parts).map((part) => part(review))}`;
  return html`<entry>
<id>urn:uuid:${id}</id>
<title>${rating === null ? name : `${starsOf(rating)} ${name}`.trim()}</title>
<updated>${updatedOf(authored)}</updated>
<published>${published_on}</published>
<link rel="alternate" type="text/html" href="${at}/review/${id}"/>
<author><name>${author.display_name}</name><uri>${at}${pathOf({ user_id: author.id })}</uri></author>
<rights>${license}</rights>
<content type="html">${`${content}`}</content>
</entry>
`;
}

/** Returns the time of the last change. Publishing a draft comes after its last revision. */
function updatedOf({ review: { last_updated, published_on } }: AuthoredReview): string {
  return last_updated > (published_on ?? '') ? last_updated : (published_on ?? '');
}
