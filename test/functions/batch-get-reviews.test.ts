import { handler } from '../../functions/api/batch-get-reviews.ts';
import { invoke } from '../helpers/invoke.ts';
import { makeUser } from '../helpers/world.ts';

const author = await makeUser();
const id = await author.publishes();

const lookUp = (review_ids: string) => invoke(handler, { query: { review_ids } });

describe('GET /reviews', () => {
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
