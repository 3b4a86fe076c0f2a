import { decided } from './suite/row.ts';

/** The message of every success. */
export const done = 'Request processed successfully';

/** Returns a text of this length. */
export const letters = (length: number) =>
  'A record that gets better. '
    .repeat(200)
    .slice(0, length - 1)
    .concat('.');

/** A text that is long enough. */
export const text = letters(60);

type Fields = Readonly<Record<string, unknown>>;

/** The body of a review of something that nobody has reviewed yet, known by this name. */
export const aReview = (name: string, fields: Fields = {}) => ({
  entity_id: `{entity_${name}}`,
  entity_type: 'work',
  text,
  license_choice: 'CC0 1.0',
  ...fields,
});

/** A publication of `aReview`, whose id later rows know by its name. */
export const published = (name: string, fields?: Fields) => ({
  json: aReview(name, fields),
  keep: { [name]: 'id' },
});

/** The answer to invalid input. Its description begins with the parameter. */
export const invalid = (parameter = '') => ({
  400: { error: 'invalid_request', description: new RegExp(`^${parameter}`) },
});

/** Names a value in a claim. */
export const shown = (value: unknown) => `${JSON.stringify(value)}`.slice(0, 60);

/** A body that is refused for its only field. */
export const refusedFields = (json: Fields) => ({ json, ...invalid(Object.keys(json)[0]) });

/** The list of an entity without public reviews. */
export const noReviews = { count: 0, reviews: [], average_rating: { rating: null, count: 0 } };

/** A review of Ann that is not public is 404 for everybody else, whatever they do. */
export const unseen = (name: string) =>
  Object.entries({
    'It is 404': 'visitor GET /review/{it}',
    'Its revisions are 404': 'visitor GET /review/{it}/revisions',
    'Its first revision is 404': 'visitor GET /review/{it}/revisions/1',
    'Nobody votes on it': 'ben PUT /review/{it}/vote',
    'Nobody reads a vote on it': 'ben GET /review/{it}/vote',
    'Nobody withdraws a vote on it': 'ben DELETE /review/{it}/vote',
    'Nobody reports it': 'ben POST /review/{it}/report',
    'Nobody else updates it': 'ben POST /review/{it}',
    'Nobody else deletes it': 'ben DELETE /review/{it}',
  }).map(([claim, request]) => {
    const json = / (PUT|POST) /.test(request) ? { vote: true, rating: 1 } : undefined;
    return decided(claim, request.replace('{it}', `{${name}}`), { json, 404: 'not_found' });
  });

/** The answer to Ann, who asks for her profile. */
export const isAnn = { 200: { user: { id: '{ann_id}' } } };

/** The entity types of the specification, by their groups. */
const typesByGroup = {
  musicdb: ['event', 'place', 'release_group', 'work', 'artist', 'label', 'recording'],
  bookdb: ['bk_edition_group', 'bk_literary_work', 'bk_author', 'bk_series'],
};

/** Each group with each of its types. */
export const groupsAndTypes = Object.entries(typesByGroup).flatMap(([group, types]) =>
  types.map((type) => [group, type]),
);

/** The types of books. */
export const typesOfBooks = typesByGroup.bookdb;

/** The types of all groups. */
export const typesOfEntities = Object.values(typesByGroup).flat();

/** Returns this many UUIDs of nothing. */
export function ids(length: number): string {
  const id = (index: number) => `00000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`;
  return Array.from({ length }, (_, index) => id(index + 1)).join();
}
