import { aReview, done, invalid, noReviews, published } from './samples.ts';
import { listWith, sentence } from './suite/match.ts';
import { decided, given, type Section, spec } from './suite/row.ts';

// biome-ignore format: one row, one line
export const hidden: Section = {
  title: 'Hidden reviews',
  rows: [
    given('ann POST /review/', published('hidden', { rating: 1 })),
    given('ben PUT /review/{hidden}/vote', { json: { vote: true } }),
    given('operator review hide {hidden} --reason spam --note Tried', { keep: { is_hidden: 'id' } }),
    spec('A hidden review is left out of the bulk lookup', 'visitor GET /reviews/?review_ids={hidden}', { 200: { reviews: { '{hidden}': undefined } }, after: 'is_hidden' }),
    decided('It is 404', 'visitor GET /review/{hidden}', { 404: 'not_found', after: 'is_hidden' }),
    ...['', '/1'].map((path) => decided(`It is 404: /revisions${path}`, `visitor GET /review/{hidden}/revisions${path}`, { 404: 'not_found', after: 'is_hidden' })),
    decided('It leaves lists, counts and averages', 'visitor GET /review/?entity_id={entity_hidden}', { 200: noReviews, eventually: true, after: 'is_hidden' }),
    decided('Nobody votes on it', 'ben PUT /review/{hidden}/vote', { json: { vote: false }, 404: 'not_found', after: 'is_hidden' }),
    decided('Nobody else updates it', 'ben POST /review/{hidden}', { json: { rating: 1 }, 404: 'not_found', after: 'is_hidden' }),
    decided('Nobody else deletes it', 'ben DELETE /review/{hidden}', { 404: 'not_found', after: 'is_hidden' }),
    decided('Nobody reports it', 'ben POST /review/{hidden}/report', { json: {}, 404: 'not_found', after: 'is_hidden' }),
    decided('Nobody reads a vote on it', 'ben GET /review/{hidden}/vote', { 404: 'not_found', after: 'is_hidden' }),
    decided('Nobody withdraws a vote on it', 'ben DELETE /review/{hidden}/vote', { 404: 'not_found', after: 'is_hidden' }),
    decided('It keeps its author from a second review', 'ann POST /review/', { json: aReview('hidden'), ...invalid('entity_id'), after: 'is_hidden' }),
    decided('Its author still sees it, with the reason', 'ann GET /user/me/reviews', { 200: { reviews: listWith({ id: '{hidden}', is_hidden: true, moderation: { reason: 'spam', note: 'Tried', decided_at: sentence, decision: sentence } }) }, after: 'is_hidden' }),
    given('operator review unhide {hidden}', { keep: { is_unhidden: 'id' } }),
    decided('Restored, it is public again with its votes', 'visitor GET /review/{hidden}', { 200: { review: { votes: { positive: 1, negative: 0 } } }, eventually: true, after: 'is_unhidden' }),
    decided('Its author reads the last decision', 'ann GET /user/me/reviews', { 200: { reviews: listWith({ id: '{hidden}', is_hidden: false, moderation: { decision: 'restore' } }) }, after: 'is_unhidden' }),
    decided('It is back in lists and averages', 'visitor GET /review/?entity_id={entity_hidden}', { 200: { count: 1, average_rating: { rating: 1, count: 1 } }, eventually: true, after: 'is_unhidden' }),
  ],
};

// biome-ignore format: one row, one line
export const blocked: Section = {
  title: 'Blocked accounts',
  rows: [
    given('dan POST /review/', published('blocked')),
    given('operator user block {dan_id}', { keep: { is_blocked: 'id' } }),
    decided('Its type is Blocked', 'visitor GET /user/{dan_id}', { after: 'is_blocked', 200: { user: { user_type: 'Blocked' } }, eventually: true }),
    decided('It still reads', 'dan GET /user/me', { 200: { user: { user_type: 'Blocked' } }, after: 'is_blocked' }),
    decided('It publishes nothing', 'dan POST /review/', { json: aReview('none'), 403: 'access_denied', after: 'is_blocked' }),
    decided('It updates nothing', 'dan POST /review/{blocked}', { json: { rating: 1 }, 403: 'access_denied', after: 'is_blocked' }),
    decided('It does not vote', 'dan PUT /review/{album}/vote', { json: { vote: true }, 403: 'access_denied', after: 'is_blocked' }),
    decided('It does not report', 'dan POST /review/{album}/report', { json: {}, 403: 'access_denied', after: 'is_blocked' }),
    decided('Its reviews stay public', 'visitor GET /review/{blocked}', { 200: { review: { user: { user_type: 'Blocked' } } }, after: 'is_blocked' }),
    decided('It can be deleted', 'dan DELETE /user/me', { 200: { message: done }, after: 'is_blocked' }),
  ],
};
