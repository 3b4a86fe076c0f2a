import { isOwnType } from '../../shared/entity/entity-type.ts';
import type { Review } from '../../shared/review/review.ts';
import { routes } from '../../shared/routes.ts';

// Requests to every GET that reads the table, with each option that changes what it reads.

/** The things that the requests name. */
export interface Scene {
  /** A public review. */
  review: Pick<Review, 'id' | 'user_id' | 'entity_id' | 'entity_type'>;
  /** Public reviews to look up. */
  ids: readonly string[];
  /** Entities to look up. */
  entities: readonly string[];
  /** A review of the reader, who is signed in. */
  own: string;
  /** An application and a webhook of the reader. */
  client_id: string;
  webhook_id: string;
  /** The beginning of a name. */
  q: string;
  /** A cursor of the change feed. */
  since: string;
}

type Query = Record<string, string>;

export interface Sample {
  path?: Record<string, string>;
  query?: Query;
}

/** GETs that are left out: they write, or need a folder of the operator. */
const apart = ['request-authorization', 'finish-sign-in', 'show-site-page'];

type Samples = Record<string, readonly Sample[]>;

/** Returns the requests of a stranger, by operation. */
export function publicSamples({ review, ids, entities, q, since }: Scene): Samples {
  const { id: review_id, user_id, entity_id, entity_type } = review;
  const entity = { path: { entity_id } };
  const ofReview = { path: { review_id } };
  const type = isOwnType(entity_type) ? 'own' : 'musicdb';
  const filters: Query[] = [{}, { entity_id }, { user_id }, { entity_id, user_id }];
  const narrowed: Query[] = [{}, { entity_type }, { entity_type: type }, { language: 'en' }];
  const contents: Query[] = [{}, { review_type: 'review' }, { review_type: 'rating' }];
  const lists = filters.flatMap((filter) =>
    narrowed.flatMap((narrow) =>
      contents.map((content): Query => ({ ...filter, ...narrow, ...content })),
    ),
  );
  const pages: Query[] = [
    {},
    { sort: 'popularity' },
    { review_type: 'review' },
    { language: 'en' },
    { entity_type },
    { entity_type: type, language: 'en' },
  ];
  return {
    'list-reviews': [
      ...lists,
      ...lists.map((list) => ({ ...list, sort: 'popularity', include_metadata: 'true' })),
      ...lists.map((list) => ({ ...list, sort_order: 'asc', offset: '50' })),
      { entity_id, rating: '4,5', include_metadata: 'true' },
      { user_id, rating: '3', sort: 'popularity' },
    ].map((query: Query) => ({ query })),
    'get-review': [ofReview],
    'get-revision': [{ path: { review_id, rev: '1' } }],
    'list-revisions': [ofReview, { ...ofReview, query: { before: '400' } }],
    'batch-get-reviews': [{ query: { review_ids: ids.join() } }],
    'list-changes': [{}, { query: { since } }, { query: { since, limit: '100' } }],
    'list-entities': [{ query: { q } }, { query: { q, entity_type } }],
    'get-entity': [entity, { ...entity, query: { include_metadata: 'true' } }],
    'get-site-feed': [{}],
    'get-entity-feed': [entity],
    'batch-get-entities': [{ query: { entity_ids: entities.join() } }],
    'list-users': [{}, { query: { offset: '100' } }],
    'get-user': [{ path: { user_id } }],
    'get-user-feed': [{ path: { user_id } }],
    'get-sitemap': [{}, { query: { page: '1' } }],
    'get-oembed': [
      { query: { url: `https://api.example/ws/entity/${entity_id}` } },
      { query: { url: `https://api.example/ws/review/${review_id}` } },
    ],
    'get-health': [{}],
    'show-home': [{}],
    'show-reviews': pages.map((query) => ({ query })),
    'find-entity': [{ query: { q } }, { query: { q, type: entity_type } }],
    'show-review': [ofReview],
    'show-revisions': [ofReview, { ...ofReview, query: { before: '400' } }],
    'show-entity': [
      entity,
      { ...entity, query: { rating: '5' } },
      { ...entity, query: { language: 'en' } },
      { ...entity, query: { sort: 'popularity', rating: '3' } },
    ],
    'show-entity-embed': [entity],
    'show-user': [{ path: { user_id } }, { path: { user_id }, query: { sort: 'popularity' } }],
    'show-docs': [{}],
    'show-reference': [{}],
    'show-guide': [{ path: { guide: 'oauth' } }],
    'show-help': [{}],
  };
}

/** Returns the requests that only somebody signed in can make, by operation. */
export function ownSamples({ review, own, client_id, webhook_id, q }: Scene): Samples {
  const { id: review_id, user_id, entity_id, entity_type } = review;
  const ofReview = { path: { review_id } };
  const ofOwn = { path: { review_id: own } };
  return {
    'get-vote': [ofReview],
    'list-my-applications': [{}],
    'list-my-reviews': [{}, { query: { offset: '250' } }],
    'list-my-tokens': [{}],
    'export-me': [{}],
    'get-me': [{ query: { inc: 'user_type stats' } }],
    'show-review-form': [{ query: { entity_id: own, entity_type } }],
    'show-review-editor': [ofOwn],
    'show-review-deletion': [ofOwn],
    'show-report': [ofReview],
    'show-vote': [ofReview],
    'show-new-entity': [{ query: { entity_type: 'film' } }],
    'show-naming': [{ path: { entity_id }, query: { entity_type } }],
    'show-sign-out': [{}],
    'show-account-deletion': [{}],
    'show-applications': [{}],
    'show-application': [{ path: { client_id } }],
    'show-webhook': [{ path: { client_id, webhook_id } }],
    'show-connections': [{}],
    'show-tokens': [{}],
    'download-data': [{}],
    'show-cases': [{}, { query: { sort: 'popularity', reason: 'spam' } }],
    'show-proposals': [{ path: { entity_id }, query: { entity_type } }],
    'show-decisions': [{}],
    'show-case': [ofReview],
    'show-author': [{ path: { user_id } }],
    'show-my-reviews': [{}],
    'show-my-votes': [{}],
    'show-my-names': [{}],
    'show-thing': [
      { path: { entity_id }, query: { entity_type } },
      { path: { entity_id }, query: { entity_type, q } },
    ],
    'show-account': [{}],
  };
}

/** Returns the GETs that read the table and have no sample, which is a mistake in the samples. */
export function withoutSample(samples: readonly Samples[]): string[] {
  const known = new Set([...apart, ...samples.flatMap((each) => Object.keys(each))]);
  return routes
    .filter(({ method, table }) => method === 'GET' && table !== 'none')
    .map(({ operation }) => operation)
    .filter((operation) => !known.has(operation));
}
