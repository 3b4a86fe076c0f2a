import { ids, invalid, published } from './samples.ts';
import { boolean, integer, listOf, listWith, sentence, uuid } from './suite/match.ts';
import { decided, given, type Section } from './suite/row.ts';

/** 2026-11-25T00:30:00.000Z */
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

// biome-ignore format: one row, one line
export const changes: Section = {
  title: 'The change log: GET /changes',
  rows: [
    decided('The answer has changes, and where the log goes on', 'visitor GET /changes', { 200: { changes: listOf({ version: integer }), next: sentence, has_more: boolean }, keep: { position: 'next' }, quick: true }),
    given('ann POST /review/', published('logged')),
    decided('A publication is in the log', 'visitor GET /changes?since={position}', { 200: { changes: listWith({ id: '{logged}', version: integer, review: { id: '{logged}', user_id: '{ann_id}', created: isoTime, published_on: isoTime, revisions: [{ id: 1, timestamp: isoTime }] } }) }, eventually: true }),
    given('ann DELETE /review/{logged}'),
    decided('So is a deletion, with null', 'visitor GET /changes?since={position}', { 200: { changes: listWith({ id: '{logged}', version: integer, review: null }) }, eventually: true }),
    ...['', '&since={position}'].map((rest) => decided(`cursor is refused by name ${rest && 'beside since'}`, `visitor GET /changes?cursor={position}${rest}`, invalid('cursor must be sent as since'))),
    ...['x', 'eyJ', 'eyJ0aW1lIjoxfQ', ''].map((since) => decided(`The position “${since}” is not made up`, `visitor GET /changes?since=${since}`, invalid('since must be '))),
    ...['0', '101', '-1', 'x', ''].map((limit) => decided(`limit=${limit} is refused`, `visitor GET /changes?limit=${limit}`, invalid('limit must be an integer from 1 to 100'))),
  ],
};

const orders = ['reviews', 'rating', 'latest'];

const badSearches = ['', '%20%E2%80%8B', 'x'.repeat(201), 'a%00', 'a&q=b'];

/** A thing in a list or a search. */
const aThing = {
  id: uuid,
  type: sentence,
  name: sentence,
  review_count: integer,
  average_rating: { count: integer },
};

/** The numbers of the listed entity, and of one without reviews. */
const reviewed = {
  id: '{entity_listed}',
  entity_type: 'work',
  review_count: 3,
  average_rating: { rating: 3.5, count: 2 },
  ratings: { 1: 0, 2: 1, 3: 0, 4: 0, 5: 1 },
  languages: { en: 2, de: 1 },
};
const unreviewed = {
  id: '{nobody}',
  entity_type: null,
  review_count: 0,
  average_rating: { rating: null, count: 0 },
  ratings: { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 },
  languages: { en: undefined },
};

// biome-ignore format: one row, one line
export const entities: Section = {
  title: 'Entities: GET /entity/{entity_id}, GET /entities/, POST /entity/',
  rows: [
    decided('An entity has its numbers', 'visitor GET /entity/{entity_listed}', { 200: { entity: reviewed }, has: { 'cache-control': /\bs-maxage=10\b/, etag: /^"/ }, eventually: true }),
    decided('One without reviews has none', 'visitor GET /entity/{nobody}', { 200: { entity: { ...unreviewed, state: null, leads_to: null, led_from: [] }, latest: [], popular: [], metadata: undefined } }),
    decided('Not a UUID is 404', 'visitor GET /entity/x', { 404: 'not_found' }),
    decided('Several by their ids', 'visitor GET /entities/?entity_ids={entity_listed},{nobody}', { 200: { entities: { '{entity_listed}': reviewed, '{nobody}': unreviewed }, entity_id_mapping: { '{entity_listed}': '{entity_listed}', '{nobody}': '{nobody}' } } }),
    decided('25 ids', `visitor GET /entities/?entity_ids=${ids(25)}`, { 200: { entities: {} } }),
    ...['', ',', 'x', '{entity_listed},x', '{entity_listed}%20', '%7B{entity_listed}', '__proto__', '{nobody}&entity_ids={nobody}'].map((ids) => decided(`${ids} is refused`, `visitor GET /entities/?entity_ids=${ids}`, invalid('entity_ids must '))),
    decided('entity_ids is required', 'visitor GET /entities/', invalid('entity_ids is required')),
    decided('Ids in all forms, and empty ones', 'visitor GET /entities/?entity_ids=,{entity_listed:upper},,{entity_listed:bare},urn:uuid:{entity_listed},%7B{entity_listed}%7D', { 200: { entities: { '{entity_listed}': { id: '{entity_listed}' } }, entity_id_mapping: { '{entity_listed:upper}': '{entity_listed}', '{entity_listed:bare}': '{entity_listed}', 'urn:uuid:{entity_listed}': '{entity_listed}', '{{entity_listed}}': '{entity_listed}' } } }),
    decided('A query of 4,097 characters is 503', `visitor GET /entities/?entity_ids=${'x'.repeat(4097 - 'entity_ids='.length)}`, { 503: 'service_unavailable' }),
    decided('A query of 4,096 characters is not', `visitor GET /entities/?entity_ids=${'x'.repeat(4096 - 'entity_ids='.length)}`, invalid('entity_ids')),
    decided('26 ids are too many', `visitor GET /entities/?entity_ids=${ids(26)}`, { 400: 'invalid_request' }),
    decided('include_metadata=true has null for what has no name', 'visitor GET /entity/{nobody}?include_metadata=true', { 200: { metadata: null } }),
    decided('include_metadata=false has none', 'visitor GET /entity/{nobody}?include_metadata=false', { 200: { metadata: undefined } }),
    decided('include_metadata=yes is refused', 'visitor GET /entity/{nobody}?include_metadata=yes', invalid('include_metadata')),
    decided('Without a token nothing is added', 'visitor POST /entity/', { json: { entity_type: 'film', name: 'Metropolis' }, 401: 'invalid_token' }),
    decided('A type of another database is not added', 'ann POST /entity/', { json: { entity_type: 'work', name: 'Metropolis' }, ...invalid('entity_type') }),
    decided('A search by name answers with a list', 'visitor GET /entity/?q=metropolis', { 200: { entities: listOf(aThing) } }),
    ...orders.flatMap((sort) => [
      decided(`Things by ${sort}`, `visitor GET /entity/?sort=${sort}`, { 200: { entities: listOf(aThing) } }),
      decided(`Things of a type by ${sort}`, `visitor GET /entity/?sort=${sort}&entity_type=work`, { 200: { entities: listOf({ ...aThing, type: 'work' }) } }),
    ]),
    decided('Another order is 400', 'visitor GET /entity/?sort=age', { 400: 'invalid_request' }),
    decided('A type that does not exist is 400', 'visitor GET /entity/?sort=latest&entity_type=stone', { 400: 'invalid_request' }),
    decided('Without a name or an order it is 400', 'visitor GET /entity/', invalid('Either q or sort must be sent')),
    ...badSearches.map((q) => decided(`q=${q.slice(0, 20)} is refused`, `visitor GET /entity/?q=${q}`, invalid('q must '))),
    ...['musicdb', 'stone'].map((type) => decided(`No search for the type ${type}`, `visitor GET /entity/?q=a&entity_type=${type}`, invalid('entity_type must be one of event, place'))),
  ],
};

const isFeed = { 'content-type': /^application\/atom\+xml/ };

// biome-ignore format: one row, one line
export const documents: Section = {
  title: 'Feeds, the description, and own data',
  rows: [
    decided('The newest reviews are a feed', 'visitor GET /reviews.atom', { 200: /<feed /, has: isFeed, quick: true }),
    decided('So are those of an entity', 'visitor GET /entity/{entity_listed}/reviews.atom', { 200: /<entry>/, has: isFeed, eventually: true }),
    decided('An entity without reviews has an empty feed', 'visitor GET /entity/{nobody}/reviews.atom', { 200: /<feed /, has: isFeed }),
    decided('So are those of a user', 'visitor GET /user/{ann_id}/reviews.atom', { 200: /<feed /, has: isFeed }),
    decided('A user who is not there has none', 'visitor GET /user/{nobody}/reviews.atom', { 404: 'not_found' }),
    decided('The description is OpenAPI', 'visitor GET /openapi.json', { 200: { openapi: sentence, paths: {}, components: {} }, quick: true }),
    decided('Own data has the profile and every list', 'ann GET /user/me/export', { 200: { profile: { id: '{ann_id}' }, reviews: listOf({}), votes: listOf({}), personal_tokens: listOf({}) } }),
    decided('Own data needs a token', 'visitor GET /user/me/export', { 401: 'invalid_token' }),
    decided('A cursor is not made up', 'ann GET /user/me/export?cursor=x', invalid('cursor must ')),
  ],
};

const texts = ['/', '/reviews', '/docs', '/docs/api', '/docs/publishing', '/help'];
const missing = ['/review/{nobody}', '/user/{nobody}', '/docs/nothing'];
const own = ['', '/applications', '/tokens', '/reviews', '/moderation'];
const isPage = { 'content-type': /^text\/html/ };

// biome-ignore format: one row, one line
export const pages: Section = {
  title: 'Pages for people',
  rows: [
    ...texts.map((path) => decided(`${path} is a page`, `visitor GET {auth}${path}`, { 200: /<h1/, has: isPage, quick: true })),
    ...missing.map((path) => decided(`${path} is a page that says so`, `visitor GET {auth}${path}`, { 404: /<h1/, has: isPage, quick: true })),
    decided('/entity/{entity_id} is a page', 'visitor GET {auth}/entity/{nobody}', { 200: /<h1/, quick: true }),
    ...own.map((path) => decided(`/account${path} leads to the sign-in`, `visitor GET {auth}/account${path}`, { 302: undefined, 303: undefined, has: { location: /sign-in/ }, quick: true })),
    decided('/health says how the service is', 'visitor GET {auth}/health', { 200: { status: sentence }, 503: { status: sentence }, quick: true }),
    decided('/sitemap.xml is answered', 'visitor GET {auth}/sitemap.xml', { 200: undefined, quick: true }),
  ],
};
