import {
  aReview,
  done,
  invalid,
  letters,
  noReviews,
  published,
  refusedFields,
  shown,
  text,
  typesOfBooks,
  typesOfEntities,
  unseen,
} from './samples.ts';
import {
  type Expected,
  httpDate,
  integer,
  positive,
  sentence,
  string,
  uuid,
  webAddress,
} from './suite/match.ts';
import { decided, given, type Section, spec } from './suite/row.ts';

const byNcSa = 'Attribution-NonCommercial-ShareAlike';
/** The licences by id: name, and end of the address, at Creative Commons. */
const licenses = {
  'CC BY-SA 3.0': ['Attribution-ShareAlike 3.0 Unported', 'licenses/by-sa/3.0/'],
  'CC BY-NC-SA 3.0': [`${byNcSa} 3.0 Unported`, 'licenses/by-nc-sa/3.0/'],
  'CC BY 4.0': ['Attribution 4.0 International', 'licenses/by/4.0/'],
  'CC BY-SA 4.0': ['Attribution-ShareAlike 4.0 International', 'licenses/by-sa/4.0/'],
  'CC BY-NC-SA 4.0': [`${byNcSa} 4.0 International`, 'licenses/by-nc-sa/4.0/'],
  'CC0 1.0': ['Zero 1.0 Universal', 'publicdomain/zero/1.0/'],
};
const nameOf = (license: string) => license.replaceAll(/\W/g, '');

const ratings = [1, 2, 3, 4, 5];

type Values = Readonly<Record<string, readonly unknown[]>>;

/** Values of the fields of a new review that break a rule of the specification. */
const badFields: Values = {
  entity_id: [undefined, 5, 'x', ['{nobody}']],
  entity_type: [undefined, 'film', 'musicdb', 'Artist', ['artist']],
  text: [5, [letters(25)], { length: 30 }, '', letters(24), letters(5001), letters(100_000)],
  rating: [0, 6, -1, 3.5, 1e300, '4', true, [4], {}],
  license_choice: [undefined],
  language: [5, ['en']],
  is_draft: ['yes', 1],
};
const blanks = [' ', '\u200b', '\u0301', '\u3164', '\u2800', '\n\t', '\u202e', '\u{e0020}'];
/** Values that break a rule where the specification is silent. */
const refusedFieldsToo: Values = {
  entity_id: [null, '{{nobody}}', '{nobody:bare}', '{nobody}\n'],
  entity_type: [null, 'toString', 'bb_', 'bb_artist', 'BB_author'],
  text: [
    '🎵'.repeat(24),
    '🎵'.repeat(5001),
    ...[...blanks, '\ufe0f', '\uffff'].map((character) => character.repeat(25)),
    `${text}\0`,
    `\0${text}`,
    `${text}\ud800`,
    `\udfb5${text}`,
  ],
  license_choice: [null, 'MIT', 'cc by-sa 3.0'],
  language: ['xx', 'eng', 'EN', ''],
};
/** Values that an update is refused for. */
const badUpdates: Values = {
  text: [
    'short',
    5,
    letters(24),
    letters(5001),
    '\u200b '.repeat(20),
    `${text}\0`,
    `${text}\udc00`,
  ],
  rating: ['4', 0, 6, 4.5],
  is_draft: ['false'],
};
const each = <T>(values: Values, make: (name: string, value: unknown) => T) =>
  Object.entries(values).flatMap(([name, all]) => all.map((value) => make(name, value)));

/** Fields of a review that are accepted, and what is shown of them if it differs. */
const accepted: readonly [
  name: string,
  fields: Record<string, Expected>,
  shown?: Record<string, Expected>,
][] = [
  ['null for a rating', { rating: null }],
  ['null for a text', { text: null, rating: 4 }],
  ['null for a language', { language: null }, { language: 'en' }],
  ['null for is_draft', { is_draft: null }, {}],
  ['25 characters beyond the first plane', { text: '🎵'.repeat(25) }],
  ['5,000 of them, in 20,000 bytes', { text: '🎵'.repeat(5000) }],
  ['24 spaces and a dot', { text: `${' '.repeat(24)}.` }],
  ['an unassigned character', { text: `${' '.repeat(24)}\u{323b0}` }],
  ['a letter with 24 accents', { text: `e${'\u0301'.repeat(24)}` }],
  ['controls and line ends', { text: `\u0001\r\n\t\u2028\ufeff\u200b${text}\u0001` }],
  ['text that is not normalised', { text: `e\u0301\u00e9 \ufb01 \u202e ${text}` }],
  ['text that looks like JSON', { text: '{"__proto__": {"is_admin": true}, "a":"\\u0000"}' }],
  ['text that looks like HTML', { text: `  <b>Zoë’s</b> &amp; more ${letters(20)}\n` }],
  ['unknown fields', { id: 'x', is_hidden: true, votes: 5, version: 7 }, { edits: 0 }],
];

const badBodies = [
  '',
  ' ',
  '{',
  '{"text":"x"',
  "{'text':'x'}",
  '{"text":"x",}',
  '{"rating":NaN}',
  '[]',
  '[{}]',
  'null',
  'true',
  '5',
  '"text"',
  '{"__proto__":{"rating":5}}',
  '{"rating":5,"nested":{"__proto__":null}}',
  '{"nested":[{"constructor":{"prototype":null}}]}',
  '['.repeat(100_000),
  `${'['.repeat(60_000)}${']'.repeat(60_000)}`,
  'entity_id=x&rating=5',
];
const json = 'application/json';
const goodTypes = [
  `${json}; charset=utf-8`,
  'Application/JSON',
  `${json};charset=UTF-8`,
  `${json} ; Charset="Utf-8"; x=y`,
  `${json};charset=utf8;`,
];
const badTypes = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/jsonp',
  `text/plain; ${json}`,
  ...['iso-8859-1', '"ISO-8859-1"', 'utf-16', 'utf-8; charset=latin1', '', 'utf-8 x'].map(
    (charset) => `${json}; charset=${charset}`,
  ),
];
/** The body of a review with more text, of this many bytes. */
const filled = (bytes: number) => {
  const body = JSON.stringify(aReview('filled', { more: '' }));
  // A name in braces stands for 36 characters.
  const short = bytes - body.length + '{entity_filled}'.length - 36;
  return body.replace(/"}$/, `${'x'.repeat(short)}"}`);
};
/** Ids in paths that name no review, also in other forms of a UUID. */
const notIds = [
  'x',
  '{nobody:bare}',
  '%7B{nobody}%7D',
  'urn:uuid:{nobody}',
  '{nobody}%0A',
  'REVIEW%23x',
  '%00',
  'x'.repeat(500),
];
/** Numbers of revisions in paths that are none. */
const notRevisions = [
  '0',
  '-1',
  '1.0',
  '1e0',
  '+1',
  '%201',
  'x',
  '1000000',
  '9'.repeat(40),
  '1%23',
];
const tooLarge = { 413: { error: 'payload_too_large', description: /128 KB/ } };

// biome-ignore format: one row, one line
export const life: Section = {
  title: 'A review from its draft to its end',
  rows: [
    spec('A review can be saved as a draft', 'ann POST /review/', { json: aReview('life', { is_draft: true }), keep: { life: 'id' }, quick: true }),
    decided('To everybody else a draft does not exist', 'visitor GET /review/{life}', { 404: 'not_found', quick: true }),
    spec('Its author updates it', 'ann POST /review/{life}', { json: { rating: 4 }, quick: true }),
    decided('Its author publishes it', 'ann POST /review/{life}', { json: { is_draft: false }, quick: true }),
    spec('Everybody reads a review', 'visitor GET /review/{life}', { 200: { review: { id: '{life}', rating: 4 } }, quick: true }),
    decided('Nobody votes on a review of their own', 'ann PUT /review/{life}/vote', { json: { vote: true }, 400: 'invalid_request', quick: true }),
    decided('Nobody reports a review of their own', 'ann POST /review/{life}/report', { json: {}, 400: 'invalid_request', quick: true }),
    given('ben POST /review/', { json: aReview('other_life'), keep: { votable: 'id' }, quick: true }),
    spec('People vote on reviews by others', 'ann PUT /review/{votable}/vote', { json: { vote: true }, 200: { message: sentence }, quick: true }),
    spec('They withdraw their votes', 'ann DELETE /review/{votable}/vote', { 200: { message: sentence }, quick: true }),
    spec('Its author deletes a review', 'ann DELETE /review/{life}', { 200: { message: sentence }, quick: true }),
    spec('A deleted review is gone', 'visitor GET /review/{life}', { 404: 'not_found', quick: true }),
    decided('Each of these answers has the same message', 'ben DELETE /review/{votable}', { 200: { message: done }, quick: true }),
  ],
};

// biome-ignore format: one row, one line
export const publishing: Section = {
  title: 'Publish a review: POST /review/',
  rows: [
    decided('The answer has a message and the id', 'ann POST /review/', { json: aReview('album', { rating: 5, language: 'de' }), 200: { message: done, id: uuid }, keep: { album: 'id' } }),
    decided('It has an ETag for the next update', 'ann POST /review/', { json: aReview('tagged'), has: { etag: /^"/ } }),
    spec('The review has all its fields', 'visitor GET /review/{album}', { 200: { review: { id: '{album}', entity_id: '{entity_album}', entity_type: 'work', text: text, rating: 5, language: 'de', created: httpDate, last_updated: httpDate, edits: 0, popularity: 0 } } }),
    spec('Its license has id, full_name and info_url', 'visitor GET /review/{album}', { 200: { review: { license: { id: 'CC0 1.0', full_name: sentence, info_url: webAddress } } } }),
    spec('Its user is a user summary', 'visitor GET /review/{album}', { 200: { review: { user: { id: '{ann_id}', display_name: string, created: httpDate, karma: integer, user_type: sentence } } } }),
    spec('Its votes are two integers', 'visitor GET /review/{album}', { 200: { review: { votes: { positive: 0, negative: 0 } } } }),
    decided('It says when it was published', 'visitor GET /review/{album}', { 200: { review: { published_on: httpDate } } }),
    decided('source and source_url are null unless it was imported', 'visitor GET /review/{album}', { 200: { review: { source: null, source_url: null } } }),
    spec('A text alone is enough', 'ann POST /review/', { json: aReview('text'), keep: { text_only: 'id' } }),
    decided('The rating that it lacks is null', 'visitor GET /review/{text_only}', { 200: { review: { text: string, rating: null } } }),
    spec('A rating alone is enough', 'ann POST /review/', { json: aReview('stars', { text: undefined, rating: 1 }), keep: { stars_only: 'id' } }),
    decided('The text that it lacks is null', 'visitor GET /review/{stars_only}', { 200: { review: { text: null, rating: 1 } } }),
    spec('One of text and rating is required', 'ann POST /review/', { json: aReview('none', { text: undefined }), 400: 'invalid_request' }),
    decided('null means that a field was not sent', 'ann POST /review/', { json: aReview('none', { text: null, rating: null }), 400: 'invalid_request' }),
    spec('The language is en by default', 'visitor GET /review/{text_only}', { 200: { review: { language: 'en' } } }),
    decided('A user reviews an entity once', 'ann POST /review/', { json: aReview('album'), 400: 'invalid_request' }),
    decided('entity_id may have upper case', 'ann POST /review/', { json: aReview('none', { entity_id: '{entity_upper:upper}' }), keep: { upper: 'id' } }),
    decided('It is kept in lower case', 'visitor GET /review/{upper}', { 200: { review: { entity_id: '{entity_upper}' } } }),
    decided('It is the same entity in lower case', 'ann POST /review/', { json: aReview('upper'), ...invalid('entity_id') }),
    ...each(badFields, (name, value) => spec(`${name}: ${shown(value)} is refused`, 'ann POST /review/', { json: aReview('none', { [name]: value }), ...invalid(`${name} (is|must) .`) })),
    ...each(refusedFieldsToo, (name, value) => decided(`${name}: ${shown(value)} is refused`, 'ann POST /review/', { json: aReview('none', { [name]: value }), ...invalid(`${name} must .`) })),
    ...accepted.flatMap(([name, fields, seen = fields], index) => [
      decided(`Accepted: ${name}`, 'ann POST /review/', published(`accepted${index}`, fields)),
      decided(`Shown as it is: ${name}`, `visitor GET /review/{accepted${index}}`, { 200: { review: { id: `{accepted${index}}`, ...seen } } }),
    ]),
    ...typesOfEntities.map((type) => spec(`entity_type ${type}`, 'ann POST /review/', { json: aReview(type, { entity_type: type }), keep: { [`typed_${type}`]: 'id' } })),
    ...typesOfBooks.flatMap((type) => [
      decided(`${type} may begin with bb_`, 'ann POST /review/', published(`bb_${type}`, { entity_type: type.replace('bk_', 'bb_') })),
      decided(`It is shown as ${type}`, `visitor GET /review/{bb_${type}}`, { 200: { review: { entity_type: type } } }),
    ]),
    ...Object.entries(licenses).flatMap(([id, [name, address]]) => [
      decided(`license_choice ${id}`, 'ann POST /review/', published(nameOf(id), { license_choice: id })),
      decided(`Name and address of ${id}`, `visitor GET /review/{${nameOf(id)}}`, { 200: { review: { license: { id, full_name: `Creative Commons ${name}`, info_url: `https://creativecommons.org/${address}` } } } }),
    ]),
    spec('A text of 25 characters', 'ann POST /review/', { json: aReview('25', { text: letters(25) }) }),
    spec('A text of 5,000 characters', 'ann POST /review/', { json: aReview('5000', { text: letters(5000) }) }),
    ...ratings.map((rating) => spec(`A rating of ${rating}`, 'ann POST /review/', { json: aReview(`rating${rating}`, { rating }) })),
    decided('Unknown fields are ignored', 'ann POST /review/', { json: aReview('more', { colour: 'red', id: '{nobody}' }), 200: { id: uuid } }),
    ...badBodies.map((body) => decided(`The body ${shown(body)} is refused`, 'ann POST /review/', { body, headers: { 'Content-Type': json }, ...invalid('The body must be ') })),
    decided('A body of 128 KB', 'ann POST /review/', { body: filled(128 * 1024), headers: { 'Content-Type': json } }),
    decided('One byte more is refused', 'ann POST /review/', { body: filled(128 * 1024 + 1), headers: { 'Content-Type': json }, ...tooLarge }),
    decided('So are characters of two bytes', 'ann POST /review/', { body: `{"more":"${'é'.repeat(64 * 1024)}"}`, headers: { 'Content-Type': json }, ...tooLarge }),
    decided('So is another type', 'ann POST /review/', { body: filled(128 * 1024 + 1), headers: { 'Content-Type': 'text/plain' }, ...tooLarge }),
    decided('So is what is no JSON', 'ann POST /review/', { body: '{'.repeat(128 * 1024 + 1), headers: { 'Content-Type': json }, ...tooLarge }),
    ...goodTypes.map((type, index) => decided(`The type ${type}`, 'ann POST /review/', { json: aReview(`type${index}`), headers: { 'Content-Type': type } })),
    ...badTypes.map((type) => decided(`The type ${type} is refused`, 'ann POST /review/', { json: aReview('none'), headers: { 'Content-Type': type }, 415: { error: 'unsupported_media_type', description: /application\/json|UTF-8/ } })),
  ],
};

// biome-ignore format: one row, one line
export const reading: Section = {
  title: 'Read a review: GET /review/{review_id}',
  rows: [
    spec('An unknown id is 404', 'visitor GET /review/{nobody}', { 404: 'not_found', quick: true }),
    ...notIds.map((id) => decided(`Not a UUID is 404: ${id.slice(0, 20)}`, `visitor GET /review/${id}`, { 404: { error: 'not_found', description: 'Review not found' } })),
    decided('The id may have upper case', 'visitor GET /review/{album:upper}', { 200: { review: { id: '{album}' } } }),
    decided('It needs no token, and ignores one', 'ben GET /review/{album}', { 200: { review: { id: '{album}' } } }),
  ],
};

// biome-ignore format: one row, one line
export const updating: Section = {
  title: 'Update a review: POST /review/{review_id}',
  rows: [
    given('ann POST /review/', published('changed', { rating: 2 })),
    spec('Only the fields to change are sent', 'ann POST /review/{changed}', { json: { rating: 3 } }),
    decided('The answer has a message and the id', 'ann POST /review/{changed}', { json: { rating: 3 }, 200: { message: done, review: { id: '{changed}' } }, has: { etag: /^"/ } }),
    spec('The other fields stay', 'visitor GET /review/{changed}', { 200: { review: { text: text, rating: 3, edits: 1 } } }),
    spec('The text changes', 'ann POST /review/{changed}', { json: { text: letters(40) } }),
    spec('Each change counts as an edit', 'visitor GET /review/{changed}', { 200: { review: { text: letters(40), rating: 3, edits: 2, last_updated: httpDate } } }),
    decided('A change of nothing succeeds', 'ann POST /review/{changed}', { json: { rating: 3 }, 200: { message: done } }),
    decided('It is no edit', 'visitor GET /review/{changed}', { 200: { review: { edits: 2 } } }),
    decided('A body without fields changes nothing', 'ann POST /review/{changed}', { json: {}, 200: { message: done } }),
    decided('null clears a field', 'ann POST /review/{changed}', { json: { rating: null } }),
    decided('The field is then null', 'visitor GET /review/{changed}', { 200: { review: { text: letters(40), rating: null, edits: 3 } } }),
    decided('One of the two fields must remain', 'ann POST /review/{changed}', { json: { text: null }, 400: 'invalid_request' }),
    ...each(badUpdates, (name, value) => spec(`${name}: ${shown(value)} is refused`, 'ann POST /review/{changed}', refusedFields({ [name]: value }))),
    ...['', '[]', 'null', '{"rating":', '{"__proto__":{}}'].map((body) => decided(`The body ${shown(body)} is refused`, 'ann POST /review/{changed}', { body, headers: { 'Content-Type': json }, ...invalid('The body must ') })),
    decided('All that was refused changes nothing', 'visitor GET /review/{changed}', { 200: { review: { text: letters(40), rating: null, edits: 3 } } }),
    decided('What is no field of an update is ignored', 'ann POST /review/{changed}', { json: { entity_id: '{nobody}', language: 'de', license_choice: 'CC BY 4.0', edits: 7 } }),
    decided('It changes nothing', 'visitor GET /review/{changed}', { 200: { review: { entity_id: '{entity_changed}', language: 'en', license: { id: 'CC0 1.0' }, edits: 3 } } }),
    given('ann POST /review/', published('starred', { text: undefined, rating: 2 })),
    decided('A rating without text must remain', 'ann POST /review/{starred}', { json: { rating: null }, ...invalid('text or rating must ') }),
    decided('A text may take its place', 'ann POST /review/{starred}', { json: { text, rating: null } }),
    decided('It is then alone', 'visitor GET /review/{starred}', { 200: { review: { text, rating: null } } }),
    spec('Only its author updates a review', 'ben POST /review/{changed}', { json: { rating: 1 }, 403: 'access_denied' }),
    decided('Not a UUID is 404', 'ann POST /review/x', { json: { rating: 1 }, 404: 'not_found' }),
    spec('An unknown review is 404', 'ann POST /review/{nobody}', { json: { rating: 1 }, 404: 'not_found' }),
    decided('A published review does not become a draft again', 'ann POST /review/{changed}', refusedFields({ is_draft: true })),
  ],
};

// biome-ignore format: one row, one line
export const drafts: Section = {
  title: 'Drafts',
  rows: [
    given('ann POST /review/', published('draft', { rating: 5, is_draft: true })),
    decided('A draft obeys the rules of a review', 'ann POST /review/', { json: aReview('none', { text: 'short', is_draft: true }), 400: 'invalid_request' }),
    decided('It is in no list', 'visitor GET /review/?entity_id={entity_draft}', { 200: { count: 0, reviews: [] } }),
    decided('It is in no average', 'visitor GET /review/?entity_id={entity_draft}', { 200: { average_rating: { rating: null, count: 0 } } }),
    decided('It is not in the bulk lookup', 'visitor GET /reviews/?review_ids={draft}', { 200: { reviews: { '{draft}': undefined } } }),
    ...unseen('draft'),
    decided('By its id it is 404 for its author, too', 'ann GET /review/{draft}', { 404: 'not_found' }),
    decided('It keeps its author from a second review of the entity', 'ann POST /review/', { json: aReview('draft'), 400: 'invalid_request' }),
    decided('is_draft: false publishes it', 'ann POST /review/{draft}', { json: { is_draft: false }, 200: { message: done, review: { id: '{draft}' } } }),
    decided('It is then in lists', 'visitor GET /review/?entity_id={entity_draft}', { 200: { count: 1, reviews: [{ id: '{draft}', published_on: httpDate }], average_rating: { rating: 5, count: 1 } }, eventually: true }),
  ],
};

// biome-ignore format: one row, one line
export const deleting: Section = {
  title: 'Delete a review: DELETE /review/{review_id}',
  rows: [
    given('ann POST /review/', published('gone', { rating: 2 })),
    given('ben PUT /review/{gone}/vote', { json: { vote: true } }),
    spec('Only its author deletes a review', 'ben DELETE /review/{gone}', { 403: 'access_denied' }),
    decided('Not a UUID is 404', 'ann DELETE /review/x', { 404: 'not_found' }),
    spec('An unknown review is 404', 'ann DELETE /review/{nobody}', { 404: 'not_found' }),
    spec('The answer has a message', 'ann DELETE /review/{gone}', { 200: { message: sentence } }),
    spec('The review is gone', 'visitor GET /review/{gone}', { 404: 'not_found' }),
    spec('Its revisions are gone', 'visitor GET /review/{gone}/revisions', { 404: 'not_found' }),
    spec('A second deletion is 404', 'ann DELETE /review/{gone}', { 404: 'not_found' }),
    decided('The vote on it is gone', 'ben GET /review/{gone}/vote', { 404: 'not_found' }),
    decided('It leaves lists and averages', 'visitor GET /review/?entity_id={entity_gone}', { 200: noReviews, eventually: true }),
    decided('The entity can be reviewed again', 'ann POST /review/', { json: aReview('gone') }),
  ],
};

// biome-ignore format: one row, one line
export const revisions: Section = {
  title: 'Revisions: GET /review/{review_id}/revisions',
  rows: [
    given('ann POST /review/', published('revised', { rating: 2 })),
    decided('The first text is revision 1', 'visitor GET /review/{revised}/revisions', { 200: { revisions: [{ id: 1 }] } }),
    given('ben PUT /review/{revised}/vote', { json: { vote: true } }),
    given('ann POST /review/{revised}', { json: { text: letters(50), rating: 3 } }),
    spec('A revision has all its fields', 'visitor GET /review/{revised}/revisions/1', { 200: { revision: { id: 1, review_id: '{revised}', text: text, rating: 2, timestamp: httpDate, votes_negative: 0, votes_positive: 1 } } }),
    decided('A vote stays on the revision that it was cast on', 'visitor GET /review/{revised}/revisions/2', { 200: { revision: { id: 2, text: letters(50), rating: 3, votes_positive: 0 } } }),
    spec('All revisions are listed', 'visitor GET /review/{revised}/revisions', { 200: { revisions: [{ id: positive, review_id: '{revised}', timestamp: httpDate }, { review_id: '{revised}' }] } }),
    decided('The newest is first', 'visitor GET /review/{revised}/revisions', { 200: { revisions: [{ id: 2 }, { id: 1 }] } }),
    decided('edits is one less than the revisions', 'visitor GET /review/{revised}', { 200: { review: { edits: 1 } } }),
    given('ann POST /review/', published('long', { text: '🎵'.repeat(5000) })),
    ...Array.from({ length: 14 }, (_, index) => given('ann POST /review/{long}', { json: { text: `${index}`.padStart(2) + '🎵'.repeat(4998) } })),
    decided('A list of 300 KB stops, and says where it goes on', 'visitor GET /review/{long}/revisions', { 200: { revisions: { 0: { id: 15 }, 14: undefined } }, has: { link: /rel="?next/ } }),
    spec('An unknown review is 404', 'visitor GET /review/{nobody}/revisions', { 404: 'not_found' }),
    spec('A revision of an unknown review is 404', 'visitor GET /review/{nobody}/revisions/1', { 404: 'not_found' }),
    decided('An unknown revision is 404', 'visitor GET /review/{revised}/revisions/3', { 404: 'not_found' }),
    ...notRevisions.map((rev) => decided(`Revision ${rev.slice(0, 20)} is 404`, `visitor GET /review/{revised}/revisions/${rev}`, { 404: { error: 'not_found', description: 'Revision not found' } })),
    ...['', '/1'].map((path) => decided(`Not a UUID is 404: /revisions${path}`, `visitor GET /review/x/revisions${path}`, { 404: { error: 'not_found', description: 'Review not found' } })),
  ],
};
