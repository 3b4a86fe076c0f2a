import { randomUUID } from 'node:crypto';
import { countsKey, entityKey, reviewKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { makeUser, text, visitor } from '../helpers/world.ts';

const author = await makeUser();
let entity_id: string;
let id: string;

beforeEach(async () => {
  entity_id = randomUUID();
  id = await author.publishes({ entity_id });
});

const show = async () => await visitor.sees(id);
const revisions = async () => (await visitor.listsRevisions(id)).body.revisions;

const changed = `${text} And then some more.`;

describe('POST /review/{review_id}', () => {
  test('changes the fields sent, and adds a revision', async () => {
    await setAttributes(reviewKey(id), {
      created: '2024-01-01T00:00:00.000Z',
      published_on: '2024-02-29T12:34:56.789Z',
      last_updated: '2024-03-01T00:00:00.000Z',
    });
    const body = { message: 'Request processed successfully', review: { id } };
    expect(await author.edits(id, { text: changed })).toMatchObject({ status: 200, body });
    const review = await show();
    expect(review).toMatchObject({ text: changed, rating: 4, edits: 1 });
    expect(review.created).toBe('Mon, 01 Jan 2024 00:00:00 GMT');
    expect(review.published_on).toBe('Thu, 29 Feb 2024 12:34:56 GMT');
    expect(Date.now() - Date.parse(review.last_updated)).toBeLessThan(5_000);

    await author.edits(id, { rating: 2 });
    expect(await show()).toMatchObject({ text: changed, rating: 2, edits: 2 });
    expect(await revisions()).toMatchObject([
      { id: 3, text: changed, rating: 2 },
      { id: 2, text: changed, rating: 4 },
      { id: 1, text, rating: 4 },
    ]);
    expect(await readItem(entityKey(entity_id))).toMatchObject({ b4: 0, b2: 1 });
    expect(await readItem(reviewKey(id))).toMatchObject({ version: 3 });
  });

  test('removes fields sent as null, and counts the review by its new content', async () => {
    await author.edits(id, { rating: null });
    expect(await show()).toMatchObject({ text, rating: null });
    expect(await readItem(entityKey(entity_id))).toMatchObject({
      release_group: 1,
      EN: 1,
      b4: 0,
      t: 1,
    });
    await author.edits(id, { text: null, rating: 5 });
    expect(await show()).toMatchObject({ text: null, rating: 5, edits: 2 });
    expect(await readItem(countsKey(author.id))).toMatchObject({ r5: 1 });
    await author.edits(id, { text });
    expect(await show()).toMatchObject({ text, rating: 5, edits: 3 });
  });

  test.each([
    {},
    { text },
    { rating: 4 },
    { text, rating: 4, is_draft: false },
    { is_draft: false },
    { is_draft: null },
    { entity_id: randomUUID(), language: 'de', license_choice: 'CC0 1.0', edits: 7 },
  ])('adds no revision if nothing changes: %j', async (body) => {
    const before = await readItem(reviewKey(id));
    expect(await author.edits(id, body)).toHaveStatus(200);
    expect(await readItem(reviewKey(id))).toEqual(before);
    expect(await revisions()).toHaveLength(1);
  });

  test('publishes a draft, with or without a change', async () => {
    for (const change of [{}, { text: changed }]) {
      const edits = Object.keys(change).length;
      id = await author.publishes({ is_draft: true });
      const day = '2024-01-01T00:00:00.000Z';
      await setAttributes(reviewKey(id), { created: day, last_updated: day });
      expect(await author.edits(id, { is_draft: true })).toHaveStatus(200);
      expect(await visitor.reads(id)).toHaveStatus(404);
      expect(await author.edits(id, { ...change, is_draft: false })).toHaveStatus(200);
      const review = await show();
      expect(review).toMatchObject({ edits, created: 'Mon, 01 Jan 2024 00:00:00 GMT' });
      expect(Date.now() - Date.parse(review.published_on)).toBeLessThan(5_000);
    }
  });

  test('publishes a draft once in parallel requests', async () => {
    const drafted = randomUUID();
    id = await author.publishes({ entity_id: drafted, is_draft: true });
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => author.edits(id, { is_draft: false })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await readItem(entityKey(drafted))).toMatchObject({ release_group: 1 });
  });

  test('changes a draft, and keeps it a draft', async () => {
    id = await author.publishes({ is_draft: true });
    expect(await author.edits(id, { text: changed })).toHaveStatus(200);
    const draft = { text: changed, published_on: null, edits: 1 };
    expect(await readItem(reviewKey(id))).toMatchObject(draft);
  });

  test('keeps a hidden review hidden', async () => {
    await setHidden(id, true);
    expect(await author.edits(id, { text: changed })).toHaveStatus(200);
    const hidden = { text: changed, is_hidden: true, edits: 1 };
    expect(await readItem(reviewKey(id))).toMatchObject(hidden);
    expect(await readItem(entityKey(entity_id))).toMatchObject({ release_group: 0 });
  });
});
