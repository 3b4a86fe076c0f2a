import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measureCalmly, measureRun } from '../../bin/bench/measure.ts';
import { handler } from '../../functions/pages/show-things.ts';
import { listThings } from '../../shared/features/things/public.ts';
import { invoke } from '../helpers/invoke.ts';
import { nameEntities } from '../helpers/names.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeUser } from '../helpers/world.ts';

const at = 'https://api.example/ws';

/** Chips of the page: address and words, and which of them is the page itself. */
const chipsOn = (html: string) =>
  [...html.matchAll(/<a href="([^"]*)" class="chip"( aria-current="page")?>([^<]*)</g)].map(
    ([, href = '', current, words = '']) => [
      words,
      href.replaceAll('&amp;', '&').replace(at, ''),
      current !== undefined,
    ],
  );

describe('GET /things', () => {
  test('shows things as tiles, and links the types that have reviews', async () => {
    const ann = await makeUser();
    const names = { work: 'One', event: 'Two' };
    for (const [entity_type, name] of Object.entries(names)) {
      const entity_id = randomUUID();
      await nameEntities({ [entity_id]: name }, entity_type as 'work');
      await ann.publishes({ entity_id, entity_type });
    }
    // A draft is no review of its type.
    await ann.publishes({ entity_type: 'label', is_draft: true });
    await applyStream();
    const show = async (query = {}) => `${(await invoke(handler, { query })).body}`;
    const all = await show();
    expect(all).toContain('<ul class="shelf">');
    expect(chipsOn(all)).toEqual([
      ['All types', '/things', true],
      ['Events', '/things?entity_type=event', false],
      ['Compositions', '/things?entity_type=work', false],
    ]);
    const works = await show({ entity_type: 'work', sort: 'latest' });
    expect(chipsOn(works)).toEqual([
      ['All types', '/things?sort=latest', false],
      ['Compositions', '/things?sort=latest&entity_type=work', true],
      ['Events', '/things?sort=latest&entity_type=event', false],
    ]);
    expect(works).toContain('<bdi>One</bdi>');
    expect(works).not.toContain('<bdi>Two</bdi>');
    // The chosen type stays, whatever has reviews.
    expect(chipsOn(await show({ entity_type: 'label' })).map(([words]) => words)).toEqual([
      'All types',
      'Labels',
      'Events',
      'Compositions',
    ]);
  });

  // A list takes 19.5 units at most, and a page may take 20.
  test.each([
    { sort: 'reviews' },
    { sort: 'rating' },
    { sort: 'latest', entity_type: 'work' },
  ] as const)('takes half a unit more than its list with %j, and no round trip', async (query) => {
    const list = await measureRun(() => listThings({ limit: 20, ...query }));
    const { read, write, roundTrips } = await measureCalmly('show-things', {
      query: query as Record<string, string>,
    });
    expect([read - list.read, write, roundTrips <= 2]).toEqual([0.5, 0, true]);
  });
});
