// Structured data of public pages for search engines (schema.org).
import { authUrl } from '../../base/auth-url.ts';
import { licenseOf } from '../../base/licenses.ts';
import type { DatabaseType } from '../../core/entity/databases.ts';
import { type EntityType, isOwnType } from '../../core/entity/entity-type.ts';
import type { KnownEntity } from '../../core/entity/metadata.ts';
import { isLongText } from '../../core/review/long-text.ts';
import type { AuthoredReview } from '../../core/review/read-reviews.ts';
import type { WholeReview } from '../../core/review/review.ts';
import type { EntitySummary } from '../../core/summary/presented.ts';

const schemaTypes: Readonly<Record<DatabaseType, string>> = {
  event: 'Event',
  place: 'Place',
  release_group: 'MusicAlbum',
  work: 'MusicComposition',
  artist: 'MusicGroup',
  label: 'Organization',
  recording: 'MusicRecording',
  bk_edition_group: 'Book',
  bk_literary_work: 'Book',
  bk_author: 'Person',
  bk_series: 'BookSeries',
};

/** Anything may be of a type that the operator has added. */
const schemaTypeOf = (type: EntityType) => (isOwnType(type) ? 'Thing' : schemaTypes[type]);

const scale = { bestRating: 5, worstRating: 1 };

/** A `Review` of schema.org. Without a rating or the entity's name it would be an error. */
export function reviewData(
  { review, author }: AuthoredReview<WholeReview>,
  metadata: KnownEntity | null,
): object | undefined {
  const { id, rating, text } = review;
  if (rating === null || !metadata) return undefined;
  return {
    '@context': 'https://schema.org',
    '@type': 'Review',
    url: `${authUrl()}/review/${id}`,
    itemReviewed: itemOf(metadata),
    reviewRating: { '@type': 'Rating', ratingValue: rating, ...scale },
    author: { '@type': 'Person', name: author.display_name, url: `${authUrl()}/user/${author.id}` },
    // The page has a long text once.
    reviewBody: text === null || isLongText(text) ? undefined : text,
    inLanguage: review.language,
    datePublished: review.published_on,
    dateModified: review.last_updated,
    license: licenseOf(review).info_url,
  };
}

/** An `AggregateRating` of schema.org. Undefined without ratings or the entity's name. */
export function ratingData(
  { average_rating, review_count }: EntitySummary,
  metadata: KnownEntity | null,
): object | undefined {
  const { rating, count } = average_rating;
  if (rating === null || !metadata) return undefined;
  return {
    '@context': 'https://schema.org',
    '@type': 'AggregateRating',
    itemReviewed: itemOf(metadata),
    ratingValue: rating,
    ratingCount: count,
    reviewCount: review_count,
    ...scale,
  };
}

function itemOf({ id, type, name, url, about, image, by, year }: KnownEntity) {
  const page = `${authUrl()}/entity/${id}`;
  return {
    '@type': schemaTypeOf(type),
    name,
    url: page,
    sameAs: url === page ? undefined : url,
    disambiguatingDescription: about ?? undefined,
    image: image ?? undefined,
    ...creatorOf(type, by),
    ...(year !== undefined && dateOf(type, year)),
  };
}

/** Properties that name who made something, by the types that have one. */
function creatorOf(type: EntityType, name: string | undefined) {
  if (name === undefined) return {};
  const isMusic = type === 'release_group' || type === 'recording';
  if (isMusic) return { byArtist: { '@type': 'MusicGroup', name } };
  return schemaTypeOf(type).startsWith('Book') ? { author: { '@type': 'Person', name } } : {};
}

function dateOf(type: EntityType, year: string) {
  if (type === 'event') return { startDate: year };
  const isWork = /^(Music(Album|Recording|Composition)|Book)/.test(schemaTypeOf(type));
  return isWork ? { datePublished: year } : {};
}
