import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/api/batch-get-entities.ts';
import { invoke } from '../helpers/invoke.ts';
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

  test('accepts 25 ids in one round trip, and counts duplicates once', async () => {
    const ids = [id, ...Array.from({ length: 24 }, randomUUID)];
    const query = { entity_ids: [...ids, id.toUpperCase()].join() };
    const { body, ...answer } = await measure('batch-get-entities', { query });
    expect(answer).toMatchObject({ status: 200, roundTrips: 1, read: 12.5 });
    expect(Object.keys(body.entities)).toHaveLength(25);
  });
});
