import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/create-review.ts';
import { handler as getReview } from '../../functions/get-review.ts';
import { handler as getRevision } from '../../functions/get-revision.ts';
import { entityTypes } from '../../shared/entity/entity-type.ts';
import { setHidden } from '../../shared/moderation/decision-repository.ts';
import { licenses } from '../../shared/review/licenses.ts';
import { claimKey, entityKey, reviewKey, revisionKey, userKey } from '../../shared/table/keys.ts';
import { makeReview, makeUser, reviewBody, type TestUser, text } from '../helpers/fixtures.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, setAttributes } from '../helpers/items.ts';

const user = await makeUser();

const post = (body: unknown, { caller }: TestUser = user, headers?: Record<string, string>) =>
  invoke(handler, { method: 'POST', caller, body, headers });

async function show(review_id: string) {
  const { body } = await invoke(getReview, { path: { review_id } });
  return body.review;
}

describe('POST /review', () => {
  test('publishes a review with its first revision, its claim and its counts', async () => {
    const author = await makeUser();
    const sent = reviewBody({ language: 'de' });
    const { status, body } = await post(sent, author);
    expect(status).toBe(200);
    expect(body).toEqual({
      message: 'Request processed successfully',
      id: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
    });
    const { entity_id } = sent;
    const item = await readItem(reviewKey(body.id));
    expect(item).toMatchObject({
      id: body.id,
      entity_id,
      entity_type: 'release_group',
      user_id: author.id,
      text,
      rating: 4,
      language: 'de',
      license: 'CC BY-SA 3.0',
      edits: 0,
      version: 1,
      is_hidden: false,
      all: 'REVIEW',
      facet: 'release_group|de',
      kind: 'both4',
      entity: entity_id,
      author: author.id,
    });
    expect(item?.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect([item?.last_updated, item?.published_on]).toEqual([item?.created, item?.created]);
    // The current revision lies on the review. Only earlier revisions have items of their own.
    expect(await readItem(revisionKey(body.id, 1))).toBeUndefined();
    const path = { review_id: body.id, rev: '1' };
    expect((await invoke(getRevision, { path })).body.revision).toEqual({
      review_id: body.id,
      id: 1,
      text,
      rating: 4,
      timestamp: new Date(String(item?.created)).toUTCString(),
      votes_positive: 0,
      votes_negative: 0,
    });
    expect(await readItem(claimKey(author.id, `${entity_id}`))).toMatchObject({
      review_id: body.id,
    });
    expect(await readItem(userKey(author.id))).toMatchObject({ 'release_group|de|both4': 1 });
    expect(await readItem(entityKey(`${entity_id}`))).toMatchObject({
      'release_group|de|both4': 1,
      rating_sum: 4,
      rating_count: 1,
    });
  });

  test('saves a draft that is counted nowhere', async () => {
    const author = await makeUser();
    const sent = reviewBody({ is_draft: true });
    const { body } = await post(sent, author);
    const item = await readItem(reviewKey(body.id));
    expect(item).toMatchObject({ published_on: null, author: `UNLISTED#${author.id}` });
    expect(item).not.toHaveProperty('all');
    expect(await readItem(entityKey(`${sent.entity_id}`))).toBeUndefined();
    expect(
      Object.keys((await readItem(userKey(author.id))) ?? {}).filter((name) => name.includes('|')),
    ).toEqual([]);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['only a text', { rating: undefined }, { text, rating: null }],
    ['a text, and null for a rating', { rating: null }, { text, rating: null }],
    ['only a rating', { text: undefined }, { text: null, rating: 4 }],
    ['a rating, and null for a text', { text: null }, { text: null, rating: 4 }],
    ['no language', { language: undefined }, { language: 'en' }],
    ['null for a language', { language: null }, { language: 'en' }],
    ['null for is_draft', { is_draft: null }, { is_draft: undefined }],
    ['25 characters', { text: 'x'.repeat(25) }, {}],
    ['5000 characters', { text: 'x'.repeat(5000) }, {}],
    ['25 characters beyond the first plane', { text: '🎵'.repeat(25) }, {}],
    ['5000 characters beyond the first plane', { text: '🎵'.repeat(5000) }, {}],
    ['24 spaces and a dot', { text: `${' '.repeat(24)}.` }, {}],
    ['an unassigned character', { text: `${' '.repeat(24)}\u{323b0}` }, {}],
    ['a letter with 24 accents', { text: `e${'\u0301'.repeat(24)}` }, {}],
    ['controls and line ends', { text: `\u0001\r\n\t\u2028\ufeff\u200b${text}\u0001` }, {}],
    ['text that is not normalised', { text: `e\u0301\u00e9 \ufb01 \u202e ${text}` }, {}],
    [
      'text that looks like JSON',
      { text: '{"__proto__": {"is_admin": true}, "a": "\\u0000"}' },
      {},
    ],
    ['rating 1', { rating: 1 }, {}],
    ['rating 5.0', { rating: 5.0 }, {}],
    ['unknown fields', { id: 'x', is_hidden: true, votes: 5, version: 7 }, {}],
  ])('accepts %s', async (_, content, expected) => {
    const sent = reviewBody(content);
    const { status, body } = await post(sent);
    expect({ status, description: body.description }).toEqual({ status: 200 });
    const review = await show(body.id);
    const { license_choice, id, is_hidden, votes, version, ...shown }: Record<string, unknown> = {
      ...sent,
      ...expected,
    };
    expect(review).toMatchObject(JSON.parse(JSON.stringify(shown)));
    expect(review).toMatchObject({ id: body.id, edits: 0, popularity: 0, votes: { positive: 0 } });
  });

  test('accepts ids in upper case, and returns them in lower case', async () => {
    const entity_id = randomUUID();
    const id = await makeReview(user, { entity_id: entity_id.toUpperCase() });
    expect(await show(id)).toMatchObject({ entity_id });
    expect((await post(reviewBody({ entity_id }))).status).toBe(400);
  });

  test.each(entityTypes)('accepts a review of type %s', async (entity_type) => {
    expect(await show(await makeReview(user, { entity_type }))).toMatchObject({ entity_type });
  });

  test.each(licenses)('accepts the licence $id', async (license) => {
    expect(await show(await makeReview(user, { license_choice: license.id }))).toMatchObject({
      license,
    });
    expect(license.info_url).toMatch(/^https:\/\/creativecommons\.org\/.+\/$/);
  });

  test.each([
    ['entity_id', { entity_id: undefined }],
    ['entity_id', { entity_id: null }],
    ['entity_id', { entity_id: 5 }],
    ['entity_id', { entity_id: 'x' }],
    ['entity_id', { entity_id: [randomUUID()] }],
    ['entity_id', { entity_id: `{${randomUUID()}}` }],
    ['entity_id', { entity_id: randomUUID().replaceAll('-', '') }],
    ['entity_id', { entity_id: `${randomUUID()}\n` }],
    ['entity_type', { entity_type: undefined }],
    ['entity_type', { entity_type: null }],
    ['entity_type', { entity_type: 'musicdb' }],
    ['entity_type', { entity_type: 'Artist' }],
    ['entity_type', { entity_type: ['artist'] }],
    ['entity_type', { entity_type: 'toString' }],
    ['text', { text: 5 }],
    ['text', { text: ['x'.repeat(25)] }],
    ['text', { text: { length: 30 } }],
    ['text', { text: '' }],
    ['text', { text: 'x'.repeat(24) }],
    ['text', { text: '🎵'.repeat(24) }],
    ['text', { text: 'x'.repeat(5001) }],
    ['text', { text: '🎵'.repeat(5001) }],
    ['text', { text: 'x'.repeat(1_000_000) }],
    ...[
      ' ',
      '\u200b',
      '\u0301',
      '\u3164',
      '\u2800',
      '\n\t',
      '\u202e',
      '\u{e0020}',
      '\ufe0f',
      '\uffff',
    ].map((character): [string, Record<string, unknown>] => [
      'text',
      { text: character.repeat(25) },
    ]),
    ['text', { text: `${text}\0` }],
    ['text', { text: `\0${text}` }],
    ['text', { text: `${text}\ud800` }],
    ['text', { text: `\udfb5${text}` }],
    ['rating', { rating: '4' }],
    ['rating', { rating: 4.5 }],
    ['rating', { rating: true }],
    ['rating', { rating: 0 }],
    ['rating', { rating: 6 }],
    ['rating', { rating: -1 }],
    ['rating', { rating: 1e300 }],
    ['rating', { rating: [4] }],
    ['rating', { rating: {} }],
    ['text or rating', { text: null, rating: null }],
    ['text or rating', { text: undefined, rating: undefined }],
    ['license_choice', { license_choice: undefined }],
    ['license_choice', { license_choice: null }],
    ['license_choice', { license_choice: 'cc by-sa 3.0' }],
    ['license_choice', { license_choice: 'GPL' }],
    ['language', { language: 'eng' }],
    ['language', { language: 'EN' }],
    ['language', { language: '' }],
    ['language', { language: 5 }],
    ['language', { language: ['en'] }],
    ['is_draft', { is_draft: 'true' }],
    ['is_draft', { is_draft: 1 }],
  ])('refuses a bad %s: %p', async (name, content) => {
    const { status, body } = await post(reviewBody(content));
    expect(status).toBe(400);
    expect(body).toEqual({
      error: 'invalid_request',
      description: expect.stringMatching(`^${name} (is|must) .{5,150}$`),
    });
  });

  test.each([
    undefined,
    '',
    ' ',
    '{',
    '{"text":"x"',
    "{'text':'x'}",
    '{"text":"x",}',
    '{"rating":NaN}',
    '\ufeff{}',
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
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    'entity_id=x&rating=5',
  ])('refuses a body that is not a JSON object: %.40j', async (body) => {
    const answer = await post(body, user, { 'Content-Type': 'application/json' });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: 'invalid_request',
      description: expect.stringMatching(/^The body must be /),
    });
  });

  test.each([
    ['{"text" "x"}', /^The body must be valid JSON: .*':'.* line 1 column 9/],
    ['{\n  "rating": 5\n  "text": "x"}', /^The body must be valid JSON: .*','.* line 3 column 3/],
    [
      `{"text": "${text.trim()}", "rating": five}`,
      /^The body must be valid JSON: .*"rating": five/,
    ],
    ['{"rating": 5', /^The body must be valid JSON: .*line 1 column 13/],
    ['{"a":{"__proto__":1}}', /^The body must be JSON without the key __proto__$/],
    ['{"constructor":{"prototype":1}}', /without the key constructor.prototype$/],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /must be a JSON object$/],
    [`{"a":${'['.repeat(100_000)}{"__proto__":1}${']'.repeat(100_000)}}`, /the key __proto__$/],
  ])('says where the JSON is invalid: %.40j', async (body, description) => {
    const answer = await post(body, user, { 'Content-Type': 'application/json' });
    expect(answer.status).toBe(400);
    expect(answer.body.description.replace(/[()]/g, '')).toMatch(description);
  });

  test('quotes only the text around the mistake', async () => {
    const secret = 'Password1 '.repeat(1_000);
    for (const body of [`{"text": ${secret}}`, `{"text": "${secret}" ${secret}}`, `🎵${secret}`]) {
      const answer = await post(body, user, { 'Content-Type': 'application/json' });
      expect(answer.status).toBe(400);
      expect(answer.body.description.length).toBeLessThan(140);
      expect(answer.body.description.isWellFormed()).toBe(true);
    }
  });

  test('ignores keys that have a meaning in JavaScript', async () => {
    const json = JSON.stringify(reviewBody()).replace(
      /}$/,
      ',"constructor":{"rating":1},"prototype":{},"toString":"x","hasOwnProperty":1}',
    );
    expect((await post(json)).status).toBe(200);
    expect({}).not.toHaveProperty('rating');
  });

  test.each<Record<string, string>>([
    {},
    { 'Content-Type': '' },
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Type': 'text/plain; application/json' },
  ])('refuses the type %j: 415', async (headers) => {
    const { status, body } = await post(reviewBody(), user, headers);
    expect(status).toBe(415);
    expect(body).toEqual({
      error: 'unsupported_media_type',
      description: expect.stringContaining('application/json'),
    });
  });

  test.each(['iso-8859-1', '"ISO-8859-1"', 'utf-16', 'utf-8; charset=latin1', '', 'utf-8 x'])(
    'refuses the charset %s: 415',
    async (charset) => {
      const headers = { 'Content-Type': `application/json; charset=${charset}` };
      const { status, body } = await post(reviewBody(), user, headers);
      expect(status).toBe(415);
      expect(body).toEqual({
        error: 'unsupported_media_type',
        description: expect.stringContaining('UTF-8'),
      });
    },
  );

  test.each<Record<string, string>>([
    { 'content-type': 'application/json; charset=utf-8' },
    { 'CONTENT-TYPE': 'Application/JSON' },
    { 'Content-Type': 'application/json;charset=UTF-8' },
    { 'Content-Type': 'application/json ; Charset="Utf-8"; x=y' },
    { 'Content-Type': 'application/json;charset=utf8;' },
  ])('accepts the type %j', async (headers) => {
    expect((await post(reviewBody(), user, headers)).status).toBe(200);
  });

  test.each([
    ['published', {}, false],
    ['a draft', { is_draft: true }, false],
    ['hidden', {}, true],
  ])('refuses a second review of an entity while the first is %s', async (_, content, hide) => {
    const entity_id = randomUUID();
    const id = await makeReview(user, { entity_id, ...content });
    if (hide) await setHidden(id, true);
    const { status, body } = await post(reviewBody({ entity_id }));
    expect(status).toBe(400);
    expect(body.description).toMatch(/^entity_id /);
  });

  test('refuses a request without a caller: 401', async () => {
    const { status, body, headers } = await invoke(handler, { body: reviewBody() });
    expect(status).toBe(401);
    expect(body.error).toBe('not_authorized');
    expect(headers['www-authenticate']).toMatch(/^Bearer /);
  });

  test('refuses a caller whose account is deleted or being deleted: 401', async () => {
    const going = await makeUser();
    await setAttributes(userKey(going.id), { deleted_at: new Date().toISOString() });
    const gone = { ...going, caller: { ...going.caller, user_id: randomUUID() } };
    for (const author of [going, gone]) {
      const sent = reviewBody();
      const { status, body, headers } = await post(sent, author);
      expect([status, body.error]).toEqual([401, 'invalid_token']);
      expect(headers['www-authenticate']).toContain('error="invalid_token"');
      expect(await readItem(entityKey(`${sent.entity_id}`))).toBeUndefined();
    }
  });
});
