import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { makeUser } from '../helpers/world.ts';

describe('GET /entities', () => {
  test('accepts 25 ids in one round trip, and counts duplicates once', async () => {
    const id = randomUUID();
    await (await makeUser()).publishes({ entity_id: id });
    const ids = [id, ...Array.from({ length: 24 }, randomUUID)];
    const query = { entity_ids: [...ids, id.toUpperCase()].join() };
    const { body, ...answer } = await measure('batch-get-entities', { query });
    expect(answer).toMatchObject({ status: 200, roundTrips: 1, read: 12.5 });
    expect(Object.keys(body.entities)).toHaveLength(25);
  });
});
