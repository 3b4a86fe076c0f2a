import { done, invalid, published, refusedFields, shown, typesOfEntities } from './samples.ts';
import { httpDate, sentence } from './suite/match.ts';
import { decided, given, type Section, spec } from './suite/row.ts';

const badBodies = ['', '[]', 'null', '{"vote":'];

// biome-ignore format: one row, one line
export const votes: Section = {
  title: 'Votes: /review/{review_id}/vote',
  rows: [
    given('ann POST /review/', published('voted')),
    decided('Without a vote there is none to read', 'ben GET /review/{voted}/vote', { 404: 'not_found' }),
    decided('Without a vote there is none to withdraw', 'ben DELETE /review/{voted}/vote', { 404: 'not_found' }),
    spec('PUT casts a vote', 'ben PUT /review/{voted}/vote', { json: { vote: true }, 200: { message: sentence } }),
    spec('GET returns the own vote', 'ben GET /review/{voted}/vote', { 200: { vote: { vote: true, voted_at: httpDate } } }),
    spec('true counts as positive', 'visitor GET /review/{voted}', { 200: { review: { votes: { positive: 1, negative: 0 } } } }),
    decided('popularity is positive minus negative votes', 'visitor GET /review/{voted}', { 200: { review: { popularity: 1 } } }),
    decided('The same vote again changes nothing', 'ben PUT /review/{voted}/vote', { json: { vote: true }, 200: { message: done } }),
    spec('false is a downvote', 'ben PUT /review/{voted}/vote', { json: { vote: false }, 200: { message: sentence } }),
    decided('A user has one vote on a review', 'visitor GET /review/{voted}', { 200: { review: { votes: { positive: 0, negative: 1 }, popularity: -1 } } }),
    spec('GET returns the new vote', 'ben GET /review/{voted}/vote', { 200: { vote: { vote: false, voted_at: httpDate } } }),
    spec('DELETE withdraws the vote', 'ben DELETE /review/{voted}/vote', { 200: { message: sentence } }),
    decided('Then there is none to read', 'ben GET /review/{voted}/vote', { 404: 'not_found' }),
    spec('It is counted no longer', 'visitor GET /review/{voted}', { 200: { review: { votes: { positive: 0, negative: 0 }, popularity: 0 } } }),
    spec('vote is required', 'ben PUT /review/{voted}/vote', { json: {}, ...invalid('vote') }),
    ...[null, 'true', 1, [true]].map((vote) => spec(`vote is a boolean, and not ${shown(vote)}`, 'ben PUT /review/{voted}/vote', refusedFields({ vote }))),
    ...badBodies.map((body) => decided(`The body ${shown(body)} is refused`, 'ben PUT /review/{voted}/vote', { body, headers: { 'Content-Type': 'application/json' }, ...invalid('The body ') })),
    decided('Nothing of this counts', 'visitor GET /review/{voted}', { 200: { review: { votes: { positive: 0, negative: 0 }, popularity: 0 } } }),
    decided('Nobody votes on an own review', 'ann PUT /review/{voted}/vote', { json: { vote: true }, 400: 'invalid_request' }),
    given('ann POST /review/', published('textless', { text: undefined, rating: 3 })),
    spec('A review without text takes no vote', 'ben PUT /review/{textless}/vote', { json: { vote: true }, 400: 'invalid_request' }),
    spec('A vote on an unknown review is 404', 'ben PUT /review/{nobody}/vote', { json: { vote: true }, 404: 'not_found' }),
    decided('Reading one is 404', 'ben GET /review/{nobody}/vote', { 404: 'not_found' }),
    decided('Withdrawing one is 404', 'ben DELETE /review/{nobody}/vote', { 404: 'not_found' }),
    decided('Not a UUID is 404', 'ben PUT /review/x/vote', { json: { vote: true }, 404: 'not_found' }),
  ],
};

// biome-ignore format: one row, one line
export const voteLimit: Section = {
  title: 'The daily limit of votes',
  rows: [
    ...typesOfEntities.slice(0, 10).map((type) => given(`cleo PUT /review/{typed_${type}}/vote`, { json: { vote: true }, keep: { [`cast_${type}`]: 'message' } })),
    decided('A vote says what is left of the ten votes of a newcomer', 'cleo PUT /review/{typed_event}/vote', { json: { vote: true }, has: { 'ratelimit-policy': /"votes";q=10;w=86400/, ratelimit: /"votes";r=0;t=\d+/ } }),
    spec('Beyond the daily limit a vote is 403', 'cleo PUT /review/{typed_bk_series}/vote', { json: { vote: true }, 403: 'limit_exceeded' }),
    decided('Changing a vote costs nothing', 'cleo PUT /review/{typed_event}/vote', { json: { vote: false }, 200: { message: done } }),
    decided('Withdrawing it returns nothing', 'cleo DELETE /review/{typed_event}/vote', { 200: { message: done } }),
    decided('The next vote is still 403', 'cleo PUT /review/{typed_bk_series}/vote', { json: { vote: true }, 403: 'limit_exceeded' }),
  ],
};

const reasons = ['abuse', 'off_topic', 'copyright', 'other'];

// biome-ignore format: one row, one line
export const reports: Section = {
  title: 'Spam reports: POST /review/{review_id}/report',
  rows: [
    given('ann POST /review/', published('reported')),
    spec('A user reports a review', 'ben POST /review/{reported}/report', { json: { reason: 'spam' }, 200: { message: sentence } }),
    decided('The answer is the usual message', 'ben POST /review/{reported}/report', { json: { reason: 'spam' }, 200: { message: done } }),
    decided('The same report again changes nothing', 'ben POST /review/{reported}/report', { json: { reason: 'abuse' }, 200: { message: done } }),
    decided('A report needs no body', 'cleo POST /review/{reported}/report', { 200: { message: done } }),
    ...['null', '{"reason":null}'].map((body) => decided(`The body ${body} is as none`, 'cleo POST /review/{reported}/report', { body, headers: { 'Content-Type': 'application/json' } })),
    decided('The review stays public', 'visitor GET /review/{reported}', { 200: { review: { id: '{reported}' } } }),
    ...reasons.map((reason, index) => decided(`The reason ${reason}`, `ben POST /review/{typed_${typesOfEntities[index]}}/report`, { json: { reason }, 200: { message: done } })),
    decided('Any reason of 500 characters', 'ben POST /review/{typed_artist}/report', { json: { reason: '🎵'.repeat(500) }, 200: { message: done } }),
    decided('A reason of 501 characters is too long', 'ben POST /review/{typed_label}/report', refusedFields({ reason: 'x'.repeat(501) })),
    ...[5, ['Spam'], '\ud800'].map((reason) => decided(`A reason is a text, and not ${shown(reason)}`, 'ben POST /review/{typed_label}/report', refusedFields({ reason }))),
    ...['[]', '"Spam"', '{', '{"__proto__":{}}'].map((body) => decided(`The body ${shown(body)} is refused`, 'ben POST /review/{typed_label}/report', { body, headers: { 'Content-Type': 'application/json' }, ...invalid('The body ') })),
    decided('A form is refused', 'ben POST /review/{typed_label}/report', { form: { reason: 'Spam' }, 415: 'unsupported_media_type' }),
    decided('Nobody reports an own review', 'ann POST /review/{reported}/report', { json: {}, 400: 'invalid_request' }),
    decided('Not a UUID is 404', 'ben POST /review/x/report', { json: {}, 404: 'not_found' }),
    decided('An unknown review is 404', 'ben POST /review/{nobody}/report', { json: {}, 404: 'not_found' }),
    ...typesOfEntities.slice(0, 9).map((type) => given(`cleo POST /review/{typed_${type}}/report`, { json: {} })),
    decided('A newcomer reports ten reviews a day; the next is 403', 'cleo POST /review/{typed_bk_author}/report', { json: {}, 403: 'limit_exceeded' }),
  ],
};
