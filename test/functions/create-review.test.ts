import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/create-review.ts';
import {
  claimKey,
  countsKey,
  entityKey,
  reviewKey,
  revisionKey,
  userKey,
} from '../../shared/base/table/keys.ts';
import { entityTypes } from '../../shared/core/entity/entity-type.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { readItem } from '../helpers/items.ts';
import { rowsOf } from '../helpers/rows.ts';
import { beginErasure, makeUser, Person, reviewBody, text, visitor } from '../helpers/world.ts';

const user = await makeUser();

const show = async (review_id: string) => await visitor.sees(review_id);

const json = { 'Content-Type': 'application/json' };

const unsupported = (needed: string) => ({
  status: 415,
  body: { error: 'unsupported_media_type', description: expect.stringContaining(needed) },
});

describe('POST /review', () => {
  test('publishes a review with its first revision, its claim and its counts', async () => {
    const author = await makeUser();
    const sent = reviewBody({ language: 'de' });
    const { status, body } = await author.triesToPublish(sent);
    expect(status).toBe(200);
    expect(body).toEqual({
      message: 'Request processed successfully',
      id: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
    });
    const { entity_id } = sent as { entity_id: string };
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
    expect(item?.last_updated).toEqual(item?.created);
    expect(item?.published_on).toEqual(item?.created);
    // The current revision lies on the review. Only earlier revisions have items of their own.
    expect(await readItem(revisionKey(body.id, 1))).toBeUndefined();
    expect((await visitor.readsRevision(body.id, '1')).body.revision).toEqual({
      review_id: body.id,
      id: 1,
      text,
      rating: 4,
      timestamp: new Date(String(item?.created)).toUTCString(),
      votes_positive: 0,
      votes_negative: 0,
    });
    expect(await readItem(claimKey(author.id, entity_id))).toMatchObject({ review_id: body.id });
    const counts = { release_group: 1, DE: 1, b4: 1 };
    expect(await readItem(countsKey(author.id))).toMatchObject({ ...counts, written: 1 });
    expect(await readItem(entityKey(entity_id))).toMatchObject(counts);
  });

  test('saves a draft that is counted nowhere', async () => {
    const author = await makeUser();
    const sent = reviewBody({ is_draft: true });
    const { body } = await author.triesToPublish(sent);
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
    ['text that looks like JSON', { text: '{"__proto__": {"is_admin": true}, "a":"\\u0000"}' }, {}],
    ['rating 1', { rating: 1 }, {}],
    ['rating 5.0', { rating: 5.0 }, {}],
    ['unknown fields', { id: 'x', is_hidden: true, votes: 5, version: 7 }, {}],
  ])('accepts %s', async (_, content, expected) => {
    const sent = reviewBody(content);
    const { status, body } = await user.triesToPublish(sent);
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
    const id = await user.publishes({ entity_id: entity_id.toUpperCase() });
    expect(await show(id)).toMatchObject({ entity_id });
    expect(await user.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(400);
  });

  test.each(entityTypes)('accepts a review of type %s', async (entity_type) => {
    expect(await show(await user.publishes({ entity_type }))).toMatchObject({ entity_type });
  });

  const byNcSa = 'Attribution-NonCommercial-ShareAlike';
  // Names and addresses as creativecommons.org has them.
  test.each([
    ['CC BY-SA 3.0', 'Attribution-ShareAlike 3.0 Unported', 'licenses/by-sa/3.0'],
    ['CC BY-NC-SA 3.0', `${byNcSa} 3.0 Unported`, 'licenses/by-nc-sa/3.0'],
    ['CC BY 4.0', 'Attribution 4.0 International', 'licenses/by/4.0'],
    ['CC BY-SA 4.0', 'Attribution-ShareAlike 4.0 International', 'licenses/by-sa/4.0'],
    ['CC BY-NC-SA 4.0', `${byNcSa} 4.0 International`, 'licenses/by-nc-sa/4.0'],
    ['CC0 1.0', 'Zero 1.0 Universal', 'publicdomain/zero/1.0'],
  ])('accepts the licence %s', async (license_choice, name, path) => {
    const { license } = await show(await user.publishes({ license_choice }));
    expect(license).toEqual({
      id: license_choice,
      full_name: `Creative Commons ${name}`,
      info_url: `https://creativecommons.org/${path}/`,
    });
  });

  const id = randomUUID();
  const blanks = [' ', '\u200b', '\u0301', '\u3164', '\u2800', '\n\t', '\u202e', '\u{e0020}'];
  const bad = {
    entity_id: [undefined, null, 5, 'x', [id], `{${id}}`, id.replaceAll('-', ''), `${id}\n`],
    entity_type: [undefined, null, 'musicdb', 'Artist', ['artist'], 'toString'],
    text: [
      5,
      ['x'.repeat(25)],
      { length: 30 },
      '',
      'x'.repeat(24),
      '🎵'.repeat(24),
      'x'.repeat(5001),
      '🎵'.repeat(5001),
      'x'.repeat(100_000),
      ...[...blanks, '\ufe0f', '\uffff'].map((character) => character.repeat(25)),
      `${text}\0`,
      `\0${text}`,
      `${text}\ud800`,
      `\udfb5${text}`,
    ],
    rating: ['4', 4.5, true, 0, 6, -1, 1e300, [4], {}],
    license_choice: [undefined, null, 'cc by-sa 3.0', 'GPL'],
    language: ['eng', 'EN', '', 5, ['en']],
    is_draft: ['true', 1],
  };
  test.each<[string, Record<string, unknown>]>([
    ...rowsOf<unknown>(bad).map(([name, value]): [string, Record<string, unknown>] => [
      name,
      { [name]: value },
    ]),
    ['text or rating', { text: null, rating: null }],
    ['text or rating', { text: undefined, rating: undefined }],
  ])('refuses a bad %s: %p', async (name, content) => {
    const description = new RegExp(`^${name} (is|must) .{5,150}$`);
    expect(await user.triesToPublish(reviewBody(content))).toMatchObject(invalid(description));
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
  ])('refuses a body that is not a JSON object: %.40j', async (body) => {
    expect(await user.triesToPublish(body, json)).toMatchObject(invalid(/^The body must be /));
  });

  test.each([
    ['{"text" "x"}', /^The body must be valid JSON: .*':'.* line 1 column 9/],
    ['{\n  "rating": 5\n  "text": "x"}', /^The body must be valid JSON: .*','.* line 3 column 3/],
    [`{"text":"${text.trim()}", "rating": five}`, /^The body must be valid JSON: .*"rating": five/],
    ['{"rating": 5', /^The body must be valid JSON: .*line 1 column 13/],
    ['{"a":{"__proto__":1}}', /^The body must be JSON without the key __proto__$/],
    ['{"constructor":{"prototype":1}}', /without the key constructor.prototype$/],
    [`${'['.repeat(500)}${']'.repeat(500)}`, /must be a JSON object$/],
    [`${'['.repeat(60_000)}${']'.repeat(60_000)}`, /^The body must be JSON with fewer levels$/],
    [`{"a":${'['.repeat(500)}{"__proto__":1}${']'.repeat(500)}}`, /the key __proto__$/],
  ])('says where the JSON is invalid: %.40j', async (body, description) => {
    const answer = await user.triesToPublish(body, json);
    expect(answer).toHaveStatus(400);
    expect(answer.body.description.replace(/[()]/g, '')).toMatch(description);
  });

  test('quotes only the text around the mistake', async () => {
    const secret = 'Password1 '.repeat(1_000);
    for (const body of [`{"text": ${secret}}`, `{"text": "${secret}" ${secret}}`, `🎵${secret}`]) {
      const answer = await user.triesToPublish(body, json);
      expect(answer).toHaveStatus(400);
      expect(answer.body.description.length).toBeLessThan(140);
      expect(answer.body.description.isWellFormed()).toBe(true);
    }
  });

  test('ignores keys that have a meaning in JavaScript', async () => {
    const more = '"constructor":{"rating":1},"prototype":{},"toString":"x","hasOwnProperty":1}';
    expect(
      await user.triesToPublish(JSON.stringify(reviewBody()).replace(/}$/, `,${more}`)),
    ).toHaveStatus(200);
    expect({}).not.toHaveProperty('rating');
  });

  const filled = (bytes: number) => {
    const body = JSON.stringify({ ...reviewBody(), more: '' });
    return body.replace(/"}$/, `${'x'.repeat(bytes - body.length)}"}`);
  };

  test('accepts a body of 128 KB', async () => {
    expect(await user.triesToPublish(filled(128 * 1024))).toHaveStatus(200);
  });

  test.each([
    ['JSON', filled(128 * 1024 + 1), json],
    ['characters of two bytes', `{"more":"${'é'.repeat(64 * 1024)}"}`, json],
    ['another type', filled(128 * 1024 + 1), { 'Content-Type': 'text/plain' }],
    ['no JSON', '{'.repeat(128 * 1024 + 1), json],
  ])('refuses more than 128 KB of %s before it is parsed: 413', async (_, body, headers) => {
    expect(await user.triesToPublish(body, headers)).toMatchObject({
      status: 413,
      body: { error: 'payload_too_large', description: 'A JSON body may have at most 128 KB' },
    });
  });

  test.each<Record<string, string>>([
    {},
    { 'Content-Type': '' },
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    { 'Content-Type': 'application/jsonp' },
    { 'Content-Type': 'text/plain; application/json' },
  ])('refuses the type %j: 415', async (headers) => {
    expect(await user.triesToPublish(reviewBody(), headers)).toMatchObject(
      unsupported('application/json'),
    );
  });

  test.each(['iso-8859-1', '"ISO-8859-1"', 'utf-16', 'utf-8; charset=latin1', '', 'utf-8 x'])(
    'refuses the charset %s: 415',
    async (charset) => {
      const headers = { 'Content-Type': `application/json; charset=${charset}` };
      expect(await user.triesToPublish(reviewBody(), headers)).toMatchObject(unsupported('UTF-8'));
    },
  );

  test.each<Record<string, string>>([
    { 'content-type': 'application/json; charset=utf-8' },
    { 'CONTENT-TYPE': 'Application/JSON' },
    { 'Content-Type': 'application/json;charset=UTF-8' },
    { 'Content-Type': 'application/json ; Charset="Utf-8"; x=y' },
    { 'Content-Type': 'application/json;charset=utf8;' },
  ])('accepts the type %j', async (headers) => {
    expect(await user.triesToPublish(reviewBody(), headers)).toHaveStatus(200);
  });

  test.each([
    ['published', {}, false],
    ['a draft', { is_draft: true }, false],
    ['hidden', {}, true],
  ])('refuses a second review of an entity while the first is %s', async (_, content, hide) => {
    const entity_id = randomUUID();
    const id = await user.publishes({ entity_id, ...content });
    if (hide) await setHidden(id, true);
    expect(await user.triesToPublish(reviewBody({ entity_id }))).toMatchObject(
      invalid(/^entity_id /),
    );
  });

  test('refuses a request without a caller: 401', async () => {
    expect(await invoke(handler, { body: reviewBody() })).toMatchObject({
      status: 401,
      body: { error: 'not_authorized' },
      headers: { 'www-authenticate': expect.stringMatching(/^Bearer /) },
    });
  });

  test('refuses a caller whose account is deleted or being deleted: 401', async () => {
    const going = await makeUser();
    await beginErasure(going);
    for (const author of [going, new Person(randomUUID())]) {
      const sent = reviewBody();
      const { status, body, headers } = await author.triesToPublish(sent);
      expect(status).toBe(401);
      expect(body.error).toBe('invalid_token');
      expect(headers['www-authenticate']).toContain('error="invalid_token"');
      expect(await readItem(entityKey(`${sent.entity_id}`))).toBeUndefined();
    }
  });
});
