import { aReview, done, invalid, noReviews, published, unseen } from './samples.ts';
import { listWith, sentence } from './suite/match.ts';
import { decided, given, type Row, type Section, spec } from './suite/row.ts';

/** Rows that are tried only once the operator’s tool has done what they are about. */
const after = (deed: string, rows: readonly Row[]) =>
  rows.map((row) => ({ ...row, exchange: { ...row.exchange, after: deed } }));

// biome-ignore format: one row, one line
export const hidden: Section = {
  title: 'Hidden reviews',
  rows: [
    given('ann POST /review/', published('hidden', { rating: 1 })),
    given('ben PUT /review/{hidden}/vote', { json: { vote: true } }),
    given('operator review hide {hidden} --reason spam --note Tried', { keep: { is_hidden: 'id' } }),
    ...after('is_hidden', [
      spec('A hidden review is left out of the bulk lookup', 'visitor GET /reviews/?review_ids={hidden}', { 200: { reviews: { '{hidden}': undefined } } }),
      ...unseen('hidden'),
      decided('It leaves lists, counts and averages', 'visitor GET /review/?entity_id={entity_hidden}', { 200: noReviews, eventually: true }),
      decided('It keeps its author from a second review', 'ann POST /review/', { json: aReview('hidden'), ...invalid('entity_id') }),
      decided('Its author still sees it, with the reason', 'ann GET /user/me/reviews', { 200: { reviews: listWith({ id: '{hidden}', is_hidden: true, moderation: { reason: 'spam', note: 'Tried', decided_at: sentence, decision: sentence } }) } }),
    ]),
    given('operator review unhide {hidden}', { keep: { is_unhidden: 'id' } }),
    ...after('is_unhidden', [
      decided('Restored, it is public again with its votes', 'visitor GET /review/{hidden}', { 200: { review: { votes: { positive: 1, negative: 0 } } }, eventually: true }),
      decided('Its author reads the last decision', 'ann GET /user/me/reviews', { 200: { reviews: listWith({ id: '{hidden}', is_hidden: false, moderation: { decision: 'restore' } }) } }),
      decided('It is back in lists and averages', 'visitor GET /review/?entity_id={entity_hidden}', { 200: { count: 1, average_rating: { rating: 1, count: 1 } }, eventually: true }),
    ]),
  ],
};

// biome-ignore format: one row, one line
export const blocked: Section = {
  title: 'Blocked accounts',
  rows: [
    given('dan POST /review/', published('blocked')),
    given('operator user block {dan_id}', { keep: { is_blocked: 'id' } }),
    ...after('is_blocked', [
      decided('Its type is Blocked', 'visitor GET /user/{dan_id}', { 200: { user: { user_type: 'Blocked' } }, eventually: true }),
      decided('It still reads', 'dan GET /user/me', { 200: { user: { user_type: 'Blocked' } } }),
      decided('It publishes nothing', 'dan POST /review/', { json: aReview('none'), 403: 'access_denied' }),
      decided('It updates nothing', 'dan POST /review/{blocked}', { json: { rating: 1 }, 403: 'access_denied' }),
      decided('It does not vote', 'dan PUT /review/{album}/vote', { json: { vote: true }, 403: 'access_denied' }),
      decided('It does not report', 'dan POST /review/{album}/report', { json: {}, 403: 'access_denied' }),
      decided('Its reviews stay public', 'visitor GET /review/{blocked}', { 200: { review: { user: { user_type: 'Blocked' } } } }),
      decided('It can be deleted', 'dan DELETE /user/me', { 200: { message: done } }),
    ]),
  ],
};
