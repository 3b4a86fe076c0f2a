import { aReview, groupsAndTypes, ids, invalid, noReviews } from './samples.ts';
import {
  anything,
  atLeast,
  httpDate,
  integer,
  listOf,
  oldestFirst,
  oneOf,
  sentence,
  string,
  uuid,
} from './suite/match.ts';
import { decided, given, type Section, spec } from './suite/row.ts';

const list = '/review/?entity_id={entity_listed}';
/** Reviews of the listed entity, by their authors. */
const listed = (...authors: string[]) => authors.map((author) => ({ id: `{listed_${author}}` }));
const filters = [
  '',
  'entity_type=work&language=en&',
  'entity_id={nobody}&',
  'user_id={nobody}&',
  'entity_type=bookdb&review_type=review&',
];
const orders = ['published_on', 'popularity'];
const badNumbers = [
  '-1',
  '51',
  '1.5',
  '5.0',
  '+5',
  '%205',
  '5%20',
  '0x5',
  '1e1',
  '٥',
  'x',
  '',
  '5&limit=5',
];
const badOffsets = [
  '-1',
  '-0',
  'x',
  '1.5',
  '',
  '9007199254740993',
  `1${'0'.repeat(30)}`,
  '1%0A',
  '0&offset=1',
];
/** Values of other parameters of the list that are refused. */
const badFilters = {
  entity_id: ['x', '', '{nobody:bare}', '%7B{nobody}%7D', '{nobody}&entity_id={nobody}'],
  user_id: ['x', '%20{nobody}'],
  entity_type: ['film', 'song', 'Artist', 'constructor'],
  language: ['xx', 'EN', '', 'en|text'],
  review_type: ['text', 'both'],
  rating: ['4', '4&entity_type=work&language=en'],
  sort: ['size', 'karma', ''],
  sort_order: ['up', 'DESC'],
  include_metadata: ['maybe', '1'],
};
/** Names of entities by their type that name none, or two. */
const badNames = [
  'release_group=x',
  'release_group={nobody}&release_group={nobody}',
  'release_group={nobody}&artist={nobody}',
];
const badStars = ['', '0', '6', '4,', '4,%205', '4.0', '4&rating=5'];
/** The 183 codes of ISO 639-1. */
const languages =
  'aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de ' +
  'dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia ' +
  'id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo ' +
  'lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ' +
  'ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk ' +
  'tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu';

// biome-ignore format: one row, one line
export const reviewList: Section = {
  title: 'List reviews: GET /review/',
  rows: [
    spec('The answer has count, limit, offset and reviews', 'visitor GET /review/', { 200: { count: integer, limit: 50, offset: 0, reviews: listOf({ id: uuid, entity_id: uuid, entity_type: string, language: string, license: { id: sentence }, created: httpDate, user: { id: uuid }, votes: { positive: integer, negative: integer } }) }, quick: true }),
    ...filters.flatMap((filter) => orders.map((sort) => spec(`By ${sort}, ${filter || 'without a filter'}`, `visitor GET /review/?${filter}sort=${sort}&limit=1`, { 200: { count: integer, limit: 1, offset: 0, reviews: listOf({ id: uuid }) }, quick: true }))),
    given('ann POST /review/', { json: aReview('listed', { rating: 5 }), keep: { listed_ann: 'id' } }),
    given('ben POST /review/', { json: aReview('listed', { text: undefined, rating: 2, language: 'de' }), keep: { listed_ben: 'id' } }),
    given('cleo POST /review/', { json: aReview('listed'), keep: { listed_cleo: 'id' } }),
    given('ann PUT /review/{listed_cleo}/vote', { json: { vote: true } }),
    given('ben PUT /review/{listed_ann}/vote', { json: { vote: true } }),
    spec('entity_id filters by entity, the newest first', `visitor GET ${list}`, { 200: { count: 3, limit: 50, offset: 0, reviews: listed('cleo', 'ben', 'ann') }, eventually: true }),
    spec('With entity_id there is the average of its ratings and their count', `visitor GET ${list}`, { 200: { average_rating: anything }, eventually: true }),
    decided('The average has one decimal', `visitor GET ${list}`, { 200: { average_rating: { rating: 3.5, count: 2 } }, eventually: true }),
    decided('The average of none is null', 'visitor GET /review/?entity_id={nobody}', { 200: { count: 0, average_rating: { rating: null, count: 0 } } }),
    spec('Without entity_id there is no average', 'visitor GET /review/?limit=0', { 200: { average_rating: undefined } }),
    decided('entity_id may have upper case', 'visitor GET /review/?entity_id={entity_listed:upper}', { 200: { count: 3 } }),
    spec('entity_type filters by type', `visitor GET ${list}&entity_type=work`, { 200: { count: 3 } }),
    spec('entity_type leaves out other types', `visitor GET ${list}&entity_type=artist`, { 200: { count: 0, reviews: [] } }),
    ...groupsAndTypes.map(([group, type]) => spec(`${group} has ${type}`, `visitor GET /review/?entity_id={entity_${type}}&entity_type=${group}`, { 200: { count: 1, reviews: [{ id: `{typed_${type}}` }] } })),
    spec('musicdb leaves out books', 'visitor GET /review/?entity_id={entity_bk_author}&entity_type=musicdb', { 200: { count: 0 } }),
    spec('bookdb leaves out music', `visitor GET ${list}&entity_type=bookdb`, { 200: { count: 0 } }),
    spec('user_id filters by author', 'visitor GET /review/?user_id={cleo_id}', { 200: { count: 1, reviews: listed('cleo') }, eventually: true }),
    spec('user_id beside entity_id', `visitor GET ${list}&user_id={ben_id}`, { 200: { count: 1, reviews: listed('ben') } }),
    spec('sort_order=asc has the oldest first', `visitor GET ${list}&sort=published_on&sort_order=asc`, { 200: { reviews: listed('ann', 'ben', 'cleo') } }),
    spec('sort=popularity has the most popular first', `visitor GET ${list}&sort=popularity&limit=1`, { 200: { reviews: [{ id: '{listed_cleo}', popularity: 1 }] }, eventually: true }),
    decided('Of equally popular ones the newer is first', `visitor GET ${list}&sort=popularity`, { 200: { reviews: listed('cleo', 'ann', 'ben') } }),
    decided('Ascending, the older is first', `visitor GET ${list}&sort=popularity&sort_order=asc`, { 200: { reviews: listed('ben', 'ann', 'cleo') } }),
    decided('sort=rating means popularity', `visitor GET ${list}&sort=rating&limit=1`, { 200: { reviews: listed('cleo') } }),
    decided('sort=created means published_on', `visitor GET ${list}&sort=created&sort_order=asc&limit=1`, { 200: { reviews: listed('ann') } }),
    spec('language filters by language', `visitor GET ${list}&language=en`, { 200: { count: 2, reviews: listed('cleo', 'ann') } }),
    spec('review_type=review has reviews with a text', `visitor GET ${list}&review_type=review`, { 200: { count: 2, reviews: listed('cleo', 'ann') } }),
    spec('review_type=rating has reviews with a rating', `visitor GET ${list}&review_type=rating`, { 200: { count: 2, reviews: listed('ben', 'ann') } }),
    spec('limit', `visitor GET ${list}&limit=2`, { 200: { count: 3, limit: 2, offset: 0, reviews: listed('cleo', 'ben') } }),
    decided('A page that is not the last has next and a Link', `visitor GET ${list}&limit=2`, { 200: { next: sentence }, has: { link: /rel="?next/ }, keep: { next_reviews: 'next' } }),
    spec('limit=0 has only the count', `visitor GET ${list}&limit=0`, { 200: { count: 3, limit: 0, reviews: [] } }),
    spec('limit=50', `visitor GET ${list}&limit=50`, { 200: { count: 3, limit: 50 } }),
    ...badNumbers.map((limit) => spec(`limit=${limit} is refused`, `visitor GET /review/?limit=${limit}`, invalid('limit'))),
    ...badOffsets.map((offset) => decided(`offset=${offset} is refused`, `visitor GET /review/?offset=${offset}`, invalid('offset'))),
    ...Object.entries(badFilters).flatMap(([name, values]) => values.map((value) => spec(`${name}=${value} is refused`, `visitor GET /review/?${name}=${value}`, invalid(name)))),
    ...badStars.map((rating) => decided(`rating=${rating} is refused`, `visitor GET /review/?user_id={nobody}&rating=${rating}`, invalid('rating'))),
    decided('offset=007 is 7', 'visitor GET /review/?offset=007', { 200: { offset: 7 } }),
    decided('The largest exact offset', 'visitor GET /review/?offset=9007199254740991', { 200: { offset: 9_007_199_254_740_991, reviews: [] } }),
    decided('Of an unknown user there are none', 'visitor GET /review/?user_id={nobody}', { 200: { count: 0, reviews: [], average_rating: undefined } }),
    decided('Of an unknown user and entity there are none', 'visitor GET /review/?user_id={nobody}&entity_id={nobody}', { 200: noReviews }),
    spec('offset', `visitor GET ${list}&offset=2`, { 200: { count: 3, offset: 2, reviews: listed('ann') } }),
    spec('offset beyond the end', `visitor GET ${list}&offset=1000000`, { 200: { count: 3, offset: 1_000_000, reviews: [] } }),
    decided('next goes on as cursor, and the last page has none', `visitor GET ${list}&limit=2&cursor={next_reviews}`, { 200: { count: 3, reviews: listed('ann'), next: undefined }, has: { link: /^(?!.*rel="?next)/ } }),
    decided('A cursor is bound to its order', `visitor GET ${list}&limit=2&sort=popularity&cursor={next_reviews}`, invalid('cursor')),
    decided('A cursor is bound to its filters', 'visitor GET /review/?limit=2&cursor={next_reviews}', invalid('cursor')),
    decided('A cursor is not made up', 'visitor GET /review/?cursor=x', invalid('cursor')),
    spec('include_metadata=true adds metadata of the entity', `visitor GET ${list}&include_metadata=true`, { 200: { count: 3, reviews: listOf({ metadata: oneOf(null, { id: uuid, type: string, name: sentence }) }) } }),
    spec('include_metadata=false adds none', `visitor GET ${list}&include_metadata=false`, { 200: { reviews: listOf({ metadata: undefined }) } }),
    decided('Unknown parameters are ignored', `visitor GET ${list}&colour=red`, { 200: { count: 3 } }),
    decided('release_group=ID means entity_id', 'visitor GET /review/?release_group={entity_release_group}', { 200: { count: 1, reviews: [{ id: '{typed_release_group}' }], average_rating: { rating: null, count: 0 } } }),
    decided('artist=ID means entity_id', 'visitor GET /review/?artist={entity_artist}', { 200: { count: 1, reviews: [{ id: '{typed_artist}' }] } }),
    decided('It implies the type', 'visitor GET /review/?artist={entity_label}', { 200: { count: 0 } }),
    decided('entity_type beside it wins', 'visitor GET /review/?artist={entity_label}&entity_type=label', { 200: { count: 1 } }),
    decided('bb_author=ID means entity_id', 'visitor GET /review/?bb_author={entity_bk_author}', { 200: { count: 1, reviews: [{ id: '{typed_bk_author}' }] } }),
    ...badNames.map((query) => decided(`${query} is refused`, `visitor GET /review/?${query}`, invalid('entity_id must '))),
    decided('entity_id wins beside it', 'visitor GET /review/?artist={nobody}&entity_id={entity_artist}', { 200: { count: 1 } }),
    ...[['musicbrainz', 'artist'], ['bookbrainz', 'bk_series']].map(([group, type]) => decided(`${group} has ${type}`, `visitor GET /review/?entity_id={entity_${type}}&entity_type=${group}`, { 200: { count: 1 } })),
    decided('bb_author means bk_author', 'visitor GET /review/?entity_id={entity_bk_author}&entity_type=bb_author', { 200: { count: 1 } }),
  ],
};

/** Lists of ids that have none, or something else. */
const badIds = [
  '',
  ',',
  ',,',
  '{listed_ann},x',
  '{listed_ann}%20',
  '%20{listed_ann}',
  '{listed_ann}%0A',
  '{listed_ann}0',
  '%7B{listed_ann}',
  '{listed_ann}%7D',
  '%7B%7D',
  'urn:uuid:',
  'g{listed_ann}',
  '({listed_ann})',
  '{listed_ann};{listed_ann}',
  '-'.repeat(36),
  '__proto__',
  'constructor',
  '%00',
];

// biome-ignore format: one row, one line
export const languageList: Section = {
  title: 'Languages: GET /review/languages',
  rows: [
    spec('The answer is a list of ISO 639-1 codes', 'visitor GET /review/languages', { 200: { languages: listOf(/^[a-z]{2}$/) }, quick: true }),
    decided('Any origin may read it, and no browser guesses its type', 'visitor GET /review/languages', { has: { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' }, quick: true }),
    decided('It has all of them', 'visitor GET /review/languages', { 200: { languages: { length: atLeast(183), ...Object.fromEntries(languages.split(' ').map((code, index) => [index, code])) } } }),
  ],
};

// biome-ignore format: one row, one line
export const userList: Section = {
  title: 'List users: GET /user/',
  rows: [
    spec('The answer has count, limit, offset and users', 'visitor GET /user/', { 200: { count: integer, limit: 50, offset: 0, users: listOf({ id: uuid, display_name: sentence, created: httpDate, karma: integer, user_type: sentence }) }, quick: true }),
    decided('Profiles in it have no e-mail address', 'visitor GET /user/', { 200: { users: listOf({ email: undefined, musicdb_username: undefined }) } }),
    decided('The oldest is first', 'visitor GET /user/', { 200: { users: oldestFirst } }),
    spec('limit', 'ben GET /user/?limit=1', { 200: { count: atLeast(2), limit: 1, users: [{ id: uuid }] }, eventually: true }),
    decided('A page that is not the last has next and a Link', 'ben GET /user/?limit=1', { 200: { next: sentence }, has: { link: /rel="?next/ }, keep: { next_users: 'next' } }),
    spec('offset', 'ben GET /user/?limit=1&offset=1', { 200: { limit: 1, offset: 1, users: [{ id: uuid }] }, keep: { second_user: 'users.0.id' } }),
    decided('next goes on as cursor', 'visitor GET /user/?limit=1&cursor={next_users}', { 200: { users: [{ id: '{second_user}' }] } }),
    decided('karma is the positive minus the negative votes on the reviews of a user', 'visitor GET /user/{cleo_id}', { 200: { user: { karma: 1 } }, eventually: true }),
    spec('limit=0 has only the count', 'ben GET /user/?limit=0', { 200: { count: atLeast(2), limit: 0, users: [] } }),
    ...badNumbers.map((limit) => spec(`limit=${limit} is refused`, `visitor GET /user/?limit=${limit}`, invalid('limit'))),
    ...badOffsets.map((offset) => decided(`offset=${offset} is refused`, `visitor GET /user/?offset=${offset}`, invalid('offset'))),
    decided('A cursor is not made up', 'visitor GET /user/?cursor=x', invalid('cursor')),
  ],
};

// biome-ignore format: one row, one line
export const bulk: Section = {
  title: 'Look up many reviews: GET /reviews/',
  rows: [
    spec('Reviews by their ids, and the ids as they were sent', 'visitor GET /reviews/?review_ids={listed_ann},{listed_ben}', { 200: { reviews: { '{listed_ann}': { id: '{listed_ann}', user: { id: '{ann_id}' } }, '{listed_ben}': { id: '{listed_ben}' } }, review_id_mapping: { '{listed_ann}': '{listed_ann}', '{listed_ben}': '{listed_ben}' } } }),
    spec('An id in another form has its canonical key', 'visitor GET /reviews/?review_ids={listed_ann:upper}', { 200: { reviews: { '{listed_ann}': { id: '{listed_ann}' } }, review_id_mapping: { '{listed_ann:upper}': '{listed_ann}' } } }),
    decided('An id without hyphens', 'visitor GET /reviews/?review_ids={listed_ann:bare}', { 200: { review_id_mapping: { '{listed_ann:bare}': '{listed_ann}' } } }),
    decided('An id as urn:uuid:', 'visitor GET /reviews/?review_ids=urn:uuid:{listed_ann}', { 200: { review_id_mapping: { 'urn:uuid:{listed_ann}': '{listed_ann}' } } }),
    decided('An id with hyphens elsewhere', 'visitor GET /reviews/?review_ids=-{listed_ann:bare}-', { 200: { review_id_mapping: { '-{listed_ann:bare}-': '{listed_ann}' } } }),
    decided('An id as URN:UUID:', 'visitor GET /reviews/?review_ids=URN:UUID:{listed_ann:upper}', { 200: { review_id_mapping: { 'URN:UUID:{listed_ann:upper}': '{listed_ann}' } } }),
    decided('An id in braces', 'visitor GET /reviews/?review_ids=%7B{listed_ann}%7D', { 200: { review_id_mapping: { '{{listed_ann}}': '{listed_ann}' } } }),
    spec('An id of no review is left out', 'visitor GET /reviews/?review_ids={listed_ann},{nobody}', { 200: { reviews: { '{listed_ann}': {}, '{nobody}': undefined } } }),
    decided('The mapping leaves it out, too', 'visitor GET /reviews/?review_ids={listed_ann},{nobody}', { 200: { review_id_mapping: { '{nobody}': undefined } } }),
    spec('Only unknown ids are no error', 'visitor GET /reviews/?review_ids={nobody}', { 200: { reviews: { '{nobody}': undefined }, review_id_mapping: {} } }),
    decided('Empty items are skipped', 'visitor GET /reviews/?review_ids=,{listed_ann},,', { 200: { reviews: { '{listed_ann}': {} } } }),
    decided('The same id twice is one', 'visitor GET /reviews/?review_ids={listed_ann},{listed_ann}', { 200: { reviews: { '{listed_ann}': {} } } }),
    spec('Not a UUID is 400, also without a review', 'visitor GET /reviews/?review_ids=x', { 400: 'invalid_request', quick: true }),
    ...badIds.map((ids) => spec(`${ids} is refused`, `visitor GET /reviews/?review_ids=${ids}`, invalid('review_ids must '))),
    spec('review_ids is required', 'visitor GET /reviews/', invalid('review_ids is required')),
    decided('review_ids is sent once', 'visitor GET /reviews/?review_ids={listed_ann}&review_ids={listed_ann}', invalid('review_ids')),
    decided('An id in two forms counts once', `visitor GET /reviews/?review_ids={listed_ann},{listed_ann:upper},${ids(24)}`, { 200: { review_id_mapping: { '{listed_ann}': '{listed_ann}', '{listed_ann:upper}': '{listed_ann}' } } }),
    decided('25 ids', `visitor GET /reviews/?review_ids=${ids(25)}`, { 200: { reviews: {} } }),
    spec('Too many ids are 400', `visitor GET /reviews/?review_ids=${ids(100)}`, { 400: 'invalid_request' }),
    decided('26 ids are too many', `visitor GET /reviews/?review_ids=${ids(26)}`, { 400: 'invalid_request' }),
    spec('A query that is too long is 503', `visitor GET /reviews/?review_ids=${ids(240)}`, { 503: 'service_unavailable', quick: true }),
    decided('A query of 4,096 characters is not too long', `visitor GET /reviews/?review_ids=${'x'.repeat(4096 - 'review_ids='.length)}`, { 400: 'invalid_request' }),
    decided('A query of 4,097 characters is, and cannot succeed later', `visitor GET /reviews/?review_ids=${'x'.repeat(4097 - 'review_ids='.length)}`, { 503: { error: 'service_unavailable', request_id: sentence }, has: { 'retry-after': undefined } }),
  ],
};
