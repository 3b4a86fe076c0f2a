import { randomUUID } from 'node:crypto';
import { handler } from '../../functions/api/batch-get-reviews.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { beginErasure, makeUser, makeUsers, visitor } from '../helpers/world.ts';

const author = await makeUser();
const id = await author.publishes();

const lookUp = (review_ids: string) => invoke(handler, { query: { review_ids } });

async function found(review_ids: string) {
  const { status, body } = await lookUp(review_ids);
  expect(status).toBe(200);
  return body;
}

describe('GET /reviews', () => {
  test('returns reviews by canonical id, as GET /review/{review_id} does', async () => {
    const other = await (await makeUser()).publishes();
    const show = async (review_id: string) => (await visitor.reads(review_id)).body.review;
    expect(await found(`${id},${other}`)).toEqual({
      reviews: { [id]: await show(id), [other]: await show(other) },
      review_id_mapping: { [id]: id, [other]: other },
    });
  });

  test.each([
    ['upper case', id.toUpperCase()],
    ['no hyphens', id.replaceAll('-', '')],
    ['hyphens elsewhere', id.replaceAll('-', '').replace(/(.{6})/g, '$1-')],
    ['urn:uuid:', `urn:uuid:${id}`],
    ['URN:UUID: in upper case', `URN:UUID:${id}`.toUpperCase()],
    ['braces', `{${id}}`],
  ])('accepts an id with %s', async (_, sent) => {
    const { reviews, review_id_mapping } = await found(sent);
    expect(Object.keys(reviews)).toEqual([id]);
    expect(review_id_mapping).toEqual({ [sent]: id });
  });

  test('skips empty items, and omits duplicates in any spelling', async () => {
    const { reviews, review_id_mapping } = await found(`,${id},,${id},${id.toUpperCase()},`);
    expect(Object.keys(reviews)).toEqual([id]);
    expect(review_id_mapping).toEqual({ [id]: id, [id.toUpperCase()]: id });
  });

  test('omits missing reviews, drafts, hidden reviews and those of a deleted account', async () => {
    const draft = await author.publishes({ is_draft: true });
    const hidden = await author.publishesHidden();
    const going = await makeUser();
    const left = await going.publishes();
    await beginErasure(going);
    const ids = [randomUUID(), draft, hidden, left, author.id];
    expect(await found(ids.join())).toEqual({ reviews: {}, review_id_mapping: {} });
  });

  test('accepts 25 ids, and counts duplicates once', async () => {
    const authors = await makeUsers(25);
    const ids = await Promise.all(authors.map((user) => user.publishes()));
    const body = await found([...ids, ...ids.map((one) => one.toUpperCase())].join());
    expect(Object.keys(body.reviews).toSorted()).toEqual(ids.toSorted());
    expect(Object.keys(body.review_id_mapping)).toHaveLength(50);
  });

  test('refuses 26 ids: 400', async () => {
    const answer = await lookUp(Array.from({ length: 26 }, randomUUID).join());
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  test.each([
    '',
    ',',
    ',,',
    'x',
    `${id},x`,
    `${id} `,
    ` ${id}`,
    `${id}\n`,
    id.slice(1),
    `${id}0`,
    `{${id}`,
    `${id}}`,
    `{}`,
    `urn:uuid:`,
    `g${id.slice(1)}`,
    `(${id})`,
    `${id};${id}`,
    '-'.repeat(36),
    '__proto__',
    'constructor',
    '\0',
  ])('refuses %j: 400', async (review_ids) => {
    expect(await lookUp(review_ids)).toMatchObject(invalid(/^review_ids must /));
  });

  test('requires review_ids, once: 400', async () => {
    expect((await invoke(handler)).body.description).toBe('review_ids is required');
    expect(await invoke(handler, { query: { review_id: id } })).toHaveStatus(400);
    expect(await invoke(handler, { query: { review_ids: [id, id] } })).toHaveStatus(400);
  });

  // "review_ids=" takes 11 of the 4,096 characters.
  test.each([
    [4096, `${id},`.padEnd(4085, ','), 200],
    [4097, `${id},`.padEnd(4086, ','), 503],
    [4097, 'x'.repeat(4086), 503],
    [100_000, `${id},`.repeat(2703).slice(0, 99_989), 503],
  ])('limits the query string: %i characters', async (_, review_ids, expected) => {
    const { status, body, headers } = await lookUp(review_ids);
    expect(status).toBe(expected);
    if (status === 503) {
      // To repeat it cannot help.
      expect(headers).not.toHaveProperty('retry-after');
      expect(body).toMatchObject({ error: 'service_unavailable', request_id: expect.any(String) });
    }
  });

  // Characters that a client can send unescaped count once. Others count three for each UTF-8 byte.
  test.each([
    ...[...'{|^"% <'].map((character) => [character, 1] as const),
    ...[...'&+\u0001'].map((character) => [character, 3] as const),
    ['é', 6],
    ['名', 9],
    ['🎷', 12],
  ])('counts %j as %i characters', async (character, length) => {
    // "review_ids=" takes 11.
    const most = Math.floor(4085 / length);
    expect(await lookUp(character.repeat(most))).toHaveStatus(400);
    expect(await lookUp(character.repeat(most + 1))).toHaveStatus(503);
  });

  test('counts no "=" after a name without a value', async () => {
    const query = { review_ids: id, a: Array.from({ length: 2_000 }, () => '') };
    expect(await invoke(handler, { query })).toHaveStatus(200);
  });

  test('measures the whole query string', async () => {
    const query = { review_ids: id, padding: 'x'.repeat(4096) };
    expect(await invoke(handler, { query })).toHaveStatus(503);
  });
});
