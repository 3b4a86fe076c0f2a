import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { handler as getRevision } from '../../functions/get-revision.ts';
import { handler as listRevisions } from '../../functions/list-revisions.ts';
import { handler as updateReview } from '../../functions/update-review.ts';
import { setHidden } from '../../shared/review/review-repository.ts';
import { listRevisions as readRevisions } from '../../shared/review/revision-repository.ts';
import { revisionKey } from '../../shared/table/keys.ts';
import { makeReview, makeUser, setAttributes, text, vote } from '../fixtures.ts';
import { invoke } from '../invoke.ts';

const author = await makeUser();
const id = await makeReview(author);
for (let i = 2; i <= 11; i++) {
  const body = i === 11 ? { rating: null } : { text: `${text} Number ${i}.` };
  await invoke(updateReview, { caller: author.caller, path: { review_id: id }, body });
}
await vote(await makeUser(), id, false);
await setAttributes(revisionKey(id, 11), { timestamp: '2024-02-29T12:34:56.789Z' });

const last = {
  id: 11,
  review_id: id,
  text: `${text} Number 10.`,
  rating: null,
  timestamp: 'Thu, 29 Feb 2024 12:34:56 GMT',
  votes_positive: 0,
  votes_negative: 1,
};

function get(rev: string, review_id = id) {
  return invoke(getRevision, { path: { review_id, rev } });
}

function list(review_id = id) {
  return invoke(listRevisions, { path: { review_id } });
}

describe('GET /review/{review_id}/revisions', () => {
  test('gives all, newest first', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['revisions']);
    expect(body.revisions.map((revision: { id: number }) => revision.id)).toEqual([
      11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
    expect(body.revisions[0]).toEqual(last);
    expect(body.revisions[10]).toMatchObject({ id: 1, text, rating: 4 });
  });

  test('leaves out the oldest when there is more than fits an answer', async () => {
    const all = await readRevisions(id);
    const bytes = all.slice(0, 3).reduce((sum, one) => sum + JSON.stringify(one).length, 0);
    expect(await readRevisions(id, bytes)).toEqual(all.slice(0, 3));
    expect(await readRevisions(id, bytes - 1)).toEqual(all.slice(0, 2));
  });
});

describe('GET /review/{review_id}/revisions/{rev}', () => {
  test('gives one', async () => {
    const { status, body } = await get('11');
    expect(status).toBe(200);
    expect(body).toEqual({ revision: last });
    expect((await get('1', id.toUpperCase())).body.revision).toMatchObject({ id: 1, text });
  });

  test.each(['0', '12', '-1', '1.0', '1e0', '+1', ' 1', '', 'x', '1000000', '9'.repeat(40), '1#'])(
    'knows no revision %j: 404',
    async (rev) => {
      const { status, body } = await get(rev);
      expect(status).toBe(404);
      expect(body).toEqual({ error: 'not_found', description: 'Revision not found' });
    },
  );
});

test('both know no hidden, draft or other review: 404', async () => {
  const hidden = await makeReview(author);
  await setHidden(hidden, true);
  const draft = await makeReview(author, { is_draft: true });
  for (const review_id of [hidden, draft, randomUUID(), 'x']) {
    for (const { status, body } of [await list(review_id), await get('1', review_id)]) {
      expect([status, body.description]).toEqual([404, 'Review not found']);
    }
  }
});
