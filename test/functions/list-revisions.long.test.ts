import { handler as listRevisions } from '../../functions/api/list-revisions.ts';
import { eventOf } from '../../infra/local/gateway/endpoint-event.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import { reviewKey, revisionKey } from '../../shared/core/keys.ts';
import { getPublicReview } from '../../shared/core/review/read-reviews.ts';
import { invalid, lambdaContext } from '../helpers/invoke.ts';
import { setAttributes } from '../helpers/items.ts';
import { afterSend } from '../helpers/sends.ts';
import { makeUser, makeUsers, text, visitor } from '../helpers/world.ts';

const author = await makeUser();
const id = await author.publishes();
for (let i = 2; i <= 11; i++) {
  await author.edits(id, i === 11 ? { rating: null } : { text: `${text} Number ${i}.` });
}
await (await makeUser()).votes(id, 'down');
await setAttributes(reviewKey(id), { last_updated: '2024-02-29T12:34:56.789Z' });

const last = {
  id: 11,
  review_id: id,
  text: `${text} Number 10.`,
  rating: null,
  timestamp: 'Thu, 29 Feb 2024 12:34:56 GMT',
  votes_positive: 0,
  votes_negative: 1,
};

const idsIn = ({ revisions }: { revisions: { id: number }[] }) => revisions.map(({ id }) => id);

/** Writes three times as many revisions as fit an answer. */
async function putRevisions(review_id: string, content: string) {
  const size = Buffer.byteLength(JSON.stringify(JSON.stringify(content)));
  const timestamp = new Date().toISOString();
  const votes = { votes_positive: 0, votes_negative: 0 };
  const revisions = Array.from({ length: Math.ceil(800_000 / size) }, (_, i) => {
    const revision = { review_id, id: i + 1, text: content, rating: 5, timestamp, ...votes };
    return { put: { ...revisionKey(review_id, i + 1), ...revision } };
  });
  await batchWrite(revisions);
  await setAttributes(reviewKey(review_id), { edits: revisions.length });
}

describe('GET /review/{review_id}/revisions', () => {
  test('returns all, newest first', async () => {
    const { status, body } = await visitor.listsRevisions(id);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['revisions']);
    expect(idsIn(body)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect(body.revisions[0]).toEqual(last);
    expect(body.revisions[10]).toMatchObject({ id: 1, text, rating: 4 });
  });

  test.each([
    ['12', [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ['11', [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ['3', [2, 1]],
    ['2', [1]],
    ['1', []],
    [`${Number.MAX_SAFE_INTEGER}`, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
  ])('returns revisions before %s', async (before, ids) => {
    const { status, headers, body } = await visitor.listsRevisions(id, { before });
    expect(status).toBe(200);
    expect(idsIn(body)).toEqual(ids);
    expect(headers).not.toHaveProperty('link');
  });

  test.each(['0', '-1', '1.5', 'x', ''])('refuses before=%s: 400', async (before) => {
    const description = 'before must be an integer of at least 1';
    expect(await visitor.listsRevisions(id, { before })).toMatchObject(invalid(description));
  });

  test('pages through every revision of a long history', async () => {
    const review_id = await author.publishes();
    await putRevisions(review_id, '🎷'.repeat(5_000));
    const { edits } = (await getPublicReview(review_id)).review;
    const found = [];
    let query = {};
    for (let pages = 1; ; pages++) {
      const { headers, body } = await visitor.listsRevisions(review_id, query);
      found.push(...idsIn(body));
      const [, before] = /^<\?before=(\d+)>; rel="next"$/.exec(headers.link ?? '') ?? [];
      if (before === undefined) {
        expect(pages).toBeGreaterThan(2);
        break;
      }
      query = { before };
    }
    expect(found).toEqual(Array.from({ length: edits + 1 }, (_, n) => edits + 1 - n));
  });

  test.each(['x', '"', '\n', '🎷', '\u0001'])(
    'fills 256 KB, and no more, with texts of %j',
    async (character) => {
      const review_id = await author.publishes();
      await putRevisions(review_id, `x${character.repeat(4_999)}`);
      const result = await listRevisions(eventOf({ path: { review_id } }), lambdaContext());
      const bytes = Buffer.byteLength(result.body);
      // The braces around the list take 16 bytes.
      expect(bytes).toBeLessThanOrEqual(262_144 + 16);
      const { revisions } = JSON.parse(result.body);
      expect(revisions[0].id).toBe(revisions.at(-1).id + revisions.length - 1);
      expect(result.headers?.Link).toBe(`<?before=${revisions.at(-1).id}>; rel="next"`);
      expect(bytes + JSON.stringify(revisions.at(-1)).length * 2).toBeGreaterThan(262_144);
    },
  );

  test('answers 304 until a vote or an edit', async () => {
    const review_id = await author.publishes();
    await author.edits(review_id, { text: `${text} Another.` });
    const { headers } = await visitor.listsRevisions(review_id);
    const known = { 'if-none-match': headers.etag ?? '' };
    expect(await visitor.listsRevisions(review_id, {}, known)).toMatchObject({ status: 304 });
    await (await makeUser()).votes(review_id);
    const voted = await visitor.listsRevisions(review_id, {}, known);
    expect(voted).toMatchObject({ status: 200, body: { revisions: [{ votes_positive: 1 }, {}] } });
    await author.edits(review_id, { rating: 1 });
    const tag = { 'if-none-match': voted.headers.etag ?? '' };
    expect(await visitor.listsRevisions(review_id, {}, tag)).toHaveStatus(200);
  });

  test('contains a revision that a replica does not have yet', async () => {
    const review_id = await author.publishes();
    for (let rating = 1; rating <= 3; rating++) await author.edits(review_id, { rating });
    const behind = afterSend((command, answer) => {
      const { ConsistentRead } = command.input as { ConsistentRead?: boolean };
      const isBehind = answer.Items !== undefined && !ConsistentRead;
      return isBehind ? { ...answer, Items: answer.Items?.slice(1) } : answer;
    });
    const { body } = await visitor.listsRevisions(review_id);
    behind.mockRestore();
    expect(idsIn(body)).toEqual([4, 3, 2, 1]);
  });

  test('shows the votes of all revisions, also those that a replica does not have yet', async () => {
    const edited = await author.publishes();
    const [first, second] = await makeUsers(2);
    await first.votes(edited);
    await author.edits(edited, { text: `${text} Better.` });
    await second.votes(edited, 'down');
    const behind = afterSend((command, answer) => {
      const { ConsistentRead } = command.input as { ConsistentRead?: boolean };
      const Items = answer.Items?.map((item) => ({ ...item, votes_positive: 0 }));
      return ConsistentRead === false && Items ? { ...answer, Items } : undefined;
    });
    const { body } = await visitor.listsRevisions(edited);
    behind.mockRestore();
    expect(body.revisions).toMatchObject([
      { votes_positive: 0, votes_negative: 1 },
      { votes_positive: 1, votes_negative: 0 },
    ]);
  });
});
