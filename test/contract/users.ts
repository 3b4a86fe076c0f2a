import { done, invalid, isAnn, noReviews, published, refusedFields } from './samples.ts';
import {
  boolean,
  httpDate,
  integer,
  listOf,
  listWith,
  oneOf,
  positive,
  sentence,
  string,
  uuid,
} from './suite/match.ts';
import { people } from './suite/people.ts';
import { decided, given, type Section, spec } from './suite/row.ts';

// biome-ignore format: one row, one line
export const profiles: Section = {
  title: 'User profiles: GET /user/{user_id}',
  rows: [
    ...Object.keys(people).map((person) => given(`${person} GET /user/me`, { keep: { [`${person}_id`]: 'user.id' } })),
    spec('A profile has all its fields', 'visitor GET /user/{ann_id}', { 200: { user: { id: '{ann_id}', display_name: sentence, created: httpDate, karma: integer, user_type: sentence } } }),
    decided('A newcomer is a Noob', 'visitor GET /user/{ann_id}', { 200: { user: { user_type: 'Noob' } } }),
    spec('It shows no e-mail address and no linked account', 'visitor GET /user/{ann_id}', { 200: { user: { email: undefined, musicdb_username: undefined } } }),
    decided('The id may have upper case', 'visitor GET /user/{ann_id:upper}', isAnn),
    decided('An unknown id is 404', 'visitor GET /user/{nobody}', { 404: 'not_found' }),
    ...['x', '{ann_id:bare}'].map((id) => decided(`Not a UUID is 404: ${id}`, `visitor GET /user/${id}`, { 404: { error: 'not_found', description: 'User not found' } })),
  ],
};

// biome-ignore format: one row, one line
export const me: Section = {
  title: 'The own account: /user/me',
  rows: [
    spec('Any token reads the own profile', 'ann GET /user/me', { 200: { user: { id: uuid, display_name: sentence, created: httpDate, karma: integer, user_type: sentence, email: oneOf(null, string), musicdb_username: oneOf(null, string) } }, quick: true }),
    decided('A token without scopes does', 'ann_none GET /user/me', isAnn),
    decided('inc=user_type has the name and the daily votes', 'ann GET /user/me?inc=user_type', { 200: { user: { user_type: { label: 'Noob', votes_per_day: 10 } } } }),
    decided('inc=stats has numbers of reviews and votes', 'ann GET /user/me?inc=stats', { 200: { user: { stats: { reviews_today: integer, reviews_last_7_days: integer, reviews_this_month: integer, votes_today: integer, votes_last_7_days: integer, votes_this_month: integer } } } }),
    ...['stats,user_type', 'user_type%20stats', 'stats,%20user_type,', 'stats%20user_type%20stats'].map((inc) => decided(`inc=${inc}`, `ann GET /user/me?inc=${inc}`, { 200: { user: { stats: { votes_today: integer }, user_type: { label: 'Noob' } } } })),
    decided('inc= is nothing', 'ann GET /user/me?inc=', isAnn),
    ...['reviews', 'email', 'Stats', 'stats;user_type', 'statsuser_type', 'constructor', 'stats&inc=stats'].map((inc) => decided(`inc=${inc} is refused`, `ann GET /user/me?inc=${inc}`, invalid('inc'))),
    spec('display_name changes', 'eve POST /user/me', { json: { display_name: 'Eve the reader' } }),
    decided('The answer has a message', 'eve POST /user/me', { json: { email: 'eve@client.example' }, 200: { message: done } }),
    spec('Each field changes alone', 'eve GET /user/me', { 200: { user: { display_name: 'Eve the reader', email: 'eve@client.example' } } }),
    spec('The profile follows', 'visitor GET /user/{eve_id}', { 200: { user: { display_name: 'Eve the reader' } } }),
    decided('A body without fields changes nothing', 'eve POST /user/me', { json: {}, 200: { message: done } }),
    decided('A name of 64 characters', 'eve POST /user/me', { json: { display_name: `${'🎵'.repeat(63)}b` }, 200: { message: done } }),
    decided('A name of 65 characters is too long', 'eve POST /user/me', refusedFields({ display_name: 'b'.repeat(65) })),
    decided('An empty name is refused', 'eve POST /user/me', refusedFields({ display_name: '' })),
    decided('A name has no control characters', 'eve POST /user/me', refusedFields({ display_name: 'Ben\u0007' })),
    decided('A name has no address of a website', 'eve POST /user/me', refusedFields({ display_name: 'Ben https://client.example/' })),
    decided('A name has no bare host', 'eve POST /user/me', refusedFields({ display_name: 'Ben evil.com/login' })),
    decided('A name has no address of mail', 'eve POST /user/me', refusedFields({ display_name: 'Ben ben@client.example' })),
    spec('A name is a string', 'eve POST /user/me', refusedFields({ display_name: 5 })),
    decided('An e-mail address is one address', 'eve POST /user/me', refusedFields({ email: 'eve@client.example, ann@client.example' })),
    decided('The domain of an e-mail address has a dot', 'eve POST /user/me', refusedFields({ email: 'eve@localhost' })),
    decided('The domain of an e-mail address may be in any script', 'eve POST /user/me', { json: { email: 'eve@bücher.example' }, 200: { message: done } }),
    decided('All spellings of a domain are one', 'eve GET /user/me', { 200: { user: { email: 'eve@xn--bcher-kva.example' } } }),
    decided('An e-mail address has at most 254 characters', 'eve POST /user/me', refusedFields({ email: `${'b'.repeat(64)}@${'b.'.repeat(95)}example` })),
    given('ann POST /review/', published('own', { is_draft: true })),
    decided('Own reviews, the newest first, with drafts', 'ann GET /user/me/reviews', { 200: { count: integer, limit: 50, offset: 0, reviews: { 0: { id: '{own}', is_draft: true, is_hidden: false } } }, keep: { second_own: 'reviews.1.id' }, eventually: true }),
    decided('Each says whether it is a draft or hidden', 'ann GET /user/me/reviews', { 200: { reviews: listOf({ id: uuid, user: { id: '{ann_id}' }, is_draft: boolean, is_hidden: boolean, moderation: oneOf(null, { decision: string }) }) } }),
    decided('A draft has no time of publication', 'ann GET /user/me/reviews?limit=1', { 200: { limit: 1, reviews: [{ id: '{own}', published_on: null }] } }),
    decided('offset', 'ann GET /user/me/reviews?limit=1&offset=1', { 200: { limit: 1, offset: 1, reviews: [{ id: '{second_own}', is_draft: false }] } }),
    ...['limit=51', 'limit=-1', 'limit=x', 'offset=-1', 'offset=1.5'].map((query) => decided(`${query} is refused`, `ann GET /user/me/reviews?${query}`, invalid(query.split('=')[0]))),
    ...['limit=0', 'offset=9007199254740991'].map((query) => decided(`${query} has only the count`, `ann GET /user/me/reviews?${query}`, { 200: { count: positive, reviews: [] } })),
    decided('Without reviews the list is empty', 'eve GET /user/me/reviews', { 200: { count: 0, limit: 50, offset: 0, reviews: [] } }),
  ],
};

// biome-ignore format: one row, one line
export const credentials: Section = {
  title: 'Own applications and tokens',
  rows: [
    spec('Own applications have all their fields', 'first_access GET /user/me/applications', { 200: { applications: [{ name: sentence, desc: string, website: sentence, redirect_uri: '{redirect_uri}', client_id: '{client_id}', client_secret: '{client_secret}', user_id: '{ann_id}' }] } }),
    spec('Own tokens have all their fields', 'first_access GET /user/me/tokens', { 200: { tokens: listWith({ scopes: sentence, client: { client_id: '{client_id}', client_secret: '{client_secret}', redirect_uri: '{redirect_uri}', user_id: '{ann_id}' }, refresh_token: sentence }) } }),
    decided('Another’s application sees no secrets of one’s own', 'third_access GET /user/me/applications', { 200: { applications: [{ client_id: '{client_id}', client_secret: null }] } }),
    decided('It sees its own refresh token', 'third_access GET /user/me/tokens', { 200: { tokens: listWith({ client: { client_id: '{other_id}', client_secret: null }, refresh_token: sentence }) } }),
    decided('It sees no other', 'third_access GET /user/me/tokens', { 200: { tokens: listOf(oneOf({ client: { client_id: '{other_id}' } }, { refresh_token: null })) } }),
    decided('It sees no secret of a client', 'third_access GET /user/me/tokens', { 200: { tokens: listOf({ client: { client_secret: null } }) } }),
    decided('Nobody sees the secret of another’s application', 'first_access GET /user/me/tokens', { 200: { tokens: listWith({ client: { client_id: '{other_id}', client_secret: null } }) } }),
  ],
};

// biome-ignore format: one row, one line
export const leaving: Section = {
  title: 'Delete the account: DELETE /user/me',
  rows: [
    given('eve POST /review/', published('left', { rating: 4 })),
    given('ann POST /review/', published('stays')),
    given('eve PUT /review/{stays}/vote', { json: { vote: true } }),
    spec('The answer has a message', 'eve DELETE /user/me', { 200: { message: sentence } }),
    decided('The token is refused at once', 'eve GET /user/me', { 401: 'invalid_token' }),
    decided('The profile is gone at once', 'visitor GET /user/{eve_id}', { 404: 'not_found' }),
    decided('The reviews are gone at once', 'visitor GET /review/{left}', { 404: 'not_found' }),
    decided('The bulk lookup leaves them out', 'visitor GET /reviews/?review_ids={left}', { 200: { reviews: { '{left}': undefined }, review_id_mapping: {} } }),
    decided('Lists and averages follow', 'visitor GET /review/?entity_id={entity_left}', { 200: noReviews, eventually: true }),
    decided('Votes are withdrawn', 'visitor GET /review/{stays}', { 200: { review: { votes: { positive: 0, negative: 0 }, popularity: 0 } }, eventually: true }),
  ],
};
