import {
  claimKey,
  countsKey,
  entityKey,
  reviewKey,
  revisionKey,
  userKey,
} from '../../shared/core/keys.ts';
import { readItem } from '../helpers/items.ts';
import { makeUser, reviewBody, text, visitor } from '../helpers/world.ts';

const user = await makeUser();

const json = { 'Content-Type': 'application/json' };

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
});
