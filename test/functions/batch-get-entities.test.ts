import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/api/batch-get-entities.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { makeUser, visitor } from '../helpers/world.ts';

const author = await makeUser();
const id = randomUUID();
await author.publishes({ entity_id: id, entity_type: 'work', rating: 5, language: 'de' });
const none = randomUUID();

const lookUp = (entity_ids: string) => invoke(handler, { query: { entity_ids } });

describe('GET /entities', () => {
  test('returns summaries by canonical id as GET /entity/{entity_id} does, also for unreviewed entities', async () => {
    const show = async (entity_id: string) => {
      const {
        state: _,
        leads_to: __,
        led_from: ___,
        ...summary
      } = (await visitor.readsEntity(entity_id)).body.entity;
      return summary;
    };
    const one = await show(id);
    const other = await show(none);
    expect(one.review_count).toBe(1);
    expect(other.review_count).toBe(0);
    const { status, body } = await lookUp(`${id},${none}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      entities: { [id]: one, [none]: other },
      entity_id_mapping: { [id]: id, [none]: none },
    });
  });

  test('accepts every UUID form, skips empty items, and omits duplicates', async () => {
    const forms = [
      id,
      id.toUpperCase(),
      id.replaceAll('-', ''),
      id.replaceAll('-', '').replace(/(.{6})/g, '$1-'),
      `urn:uuid:${id}`,
      `{${id}}`,
    ];
    const { body } = await lookUp(`,${forms.join(',,')},`);
    expect(Object.keys(body.entities)).toEqual([id]);
    expect(body.entity_id_mapping).toEqual(Object.fromEntries(forms.map((form) => [form, id])));
  });

  test('accepts 25 ids in one round trip, and counts duplicates once', async () => {
    const ids = [id, ...Array.from({ length: 24 }, randomUUID)];
    const query = { entity_ids: [...ids, id.toUpperCase()].join() };
    const { body, ...answer } = await measure('batch-get-entities', { query });
    expect(answer).toMatchObject({ status: 200, roundTrips: 1, read: 12.5 });
    expect(Object.keys(body.entities)).toHaveLength(25);
  });

  test('refuses 26 ids: 400', async () => {
    const description = 'entity_ids must hold at most 25 ids';
    const answer = await lookUp(Array.from({ length: 26 }, randomUUID).join());
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request', description } });
  });

  test.each(['', ',', 'x', `${id},x`, `${id} `, `{${id}`, '__proto__'])(
    'refuses %j: 400',
    async (entity_ids) => {
      expect(await lookUp(entity_ids)).toMatchObject(invalid(/^entity_ids must /));
    },
  );

  test('requires entity_ids, once: 400', async () => {
    expect((await invoke(handler)).body.description).toBe('entity_ids is required');
    expect(await invoke(handler, { query: { entity_ids: [id, id] } })).toHaveStatus(400);
  });

  // "entity_ids=" takes 11 of the 4,096 characters.
  test.each([
    [4096, `${id},`.padEnd(4085, ','), 200],
    [4097, `${id},`.padEnd(4086, ','), 503],
    [4097, 'x'.repeat(4086), 503],
  ])('limits the query string: %i characters', async (_, entity_ids, expected) => {
    expect(await lookUp(entity_ids)).toHaveStatus(expected);
  });
});
