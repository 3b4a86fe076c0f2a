import '../helpers/engine.ts';
import { measure } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/api/list-entities.ts';
import { invoke } from '../helpers/invoke.ts';
import { filledForm, newEntity, publishForm } from '../helpers/review-form.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const list = (query: Record<string, string | string[]>, headers = {}) =>
  invoke(handler, { query, headers });

describe('GET /entity/', () => {
  test('finds entities by the beginning of a word, as metadata', async () => {
    const { entity_id, entity_type } = newEntity();
    const form = filledForm({ name: 'Kestrel Songs', about: 'Ann · 1991' });
    await publishForm(await makeUser(), { entity_id, entity_type }, form);
    await applyStream();
    const { status, headers, body } = await list({ q: 'song' });
    expect(status).toBe(200);
    expect(body).toEqual({
      entities: [
        {
          id: entity_id,
          type: entity_type,
          name: 'Kestrel Songs',
          url: `${at}/entity/${entity_id}`,
          about: 'Ann · 1991',
          image: null,
          review_count: 1,
          average_rating: { rating: 4, count: 1 },
        },
      ],
    });
    expect(headers['cache-control']).toContain('s-maxage=10');
    const again = await list({ q: 'song' }, { 'If-None-Match': headers.etag });
    expect([again.status, again.body]).toEqual([304, '']);
    expect((await list({ q: 'song', entity_type: 'work' })).body).toEqual({ entities: [] });
    expect((await list({ q: 'kestrel', entity_type })).body.entities).toHaveLength(1);
  });

  test('takes hostile text, for few units and no writes', async () => {
    for (const q of [
      '#',
      '##work#',
      'NAMED#',
      '\u{1f3b7}',
      "'; --",
      '%',
      '\ufffd',
      'ا'.repeat(200),
    ]) {
      const { status, read, write } = await measure('list-entities', { query: { q } });
      expect([q, status, write]).toEqual([q, 200, 0]);
      expect(read).toBeLessThanOrEqual(12);
    }
  });
});
