/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { randomUUID } from 'node:crypto';
import { handler as getOpenapi } from '../../functions/api/get-openapi.ts';
import { handler as listEntities } from '../../functions/api/list-entities.ts';
import { ownTypesIn } from '../../shared/entity/own-types.ts';
import { readRecord } from '../../shared/entity/record.ts';
import { faultsOn } from '../helpers/browser.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { expectExact } from '../helpers/recount.ts';
import { filledForm, publishForm } from '../helpers/review-form.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask } from '../helpers/visit.ts';
import { makeUser, makeUsers, type Person, reviewBody, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';

/** Adds something as a person, and returns it. */
async function add(person: Person, form: Record<string, string>) {
  const query = { name: form.name ?? '' };
  const headers = { 'sec-fetch-site': 'same-origin' };
  const { html } = await ask('show-new-entity', person, { query, headers });
  const entity_id = /name="entity_id" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const entity_type = form.entity_type ?? 'film';
  const answer = await ask('add-entity', person, { form: { entity_id, entity_type, ...form } });
  return { answer, html, entity: { entity_id, entity_type } };
}

describe('something of an own type', () => {
  test('is added with a name, has a page, and is reviewed there', async () => {
    const [ann] = await makeUsers(1);
    const words = { name: 'Metropolis', about: 'Fritz Lang · 1927' };
    const { answer, html, entity } = await add(ann, words);
    expect(html).toContain('value="Metropolis"');
    expect(html).toContain('<option value="board_game">Board game</option>');
    const { entity_id } = entity;
    expect(answer.headers.location).toBe(`${at}/entity/${entity_id}?entity_type=film`);
    // The type is known by the name alone.
    const page = (await ask('show-entity', ann, { path: { entity_id } })).html;
    expect(page).toContain('<h1><bdi>Metropolis</bdi></h1>');
    expect(page).toContain('Film · <bdi>Fritz Lang · 1927</bdi>');
    const form = filledForm({ name: '' });
    expect((await publishForm(ann, entity, form)).status).toBe(303);
    await applyStream();
    const { reviews } = (await visitor.lists({ entity_type: 'film', include_metadata: 'true' }))
      .body;
    expect(reviews).toMatchObject([{ entity_id, metadata: { type: 'film', name: 'Metropolis' } }]);
  });

  test('is filled in by a link of ours alone, and never shows the words of another site', async () => {
    const query = { name: 'Cheap watches', entity_type: 'board_game' };
    const open = async (site?: string) => {
      const headers = site === undefined ? undefined : { 'sec-fetch-site': site };
      return (await ask('show-new-entity', await makeUser(), { query, headers })).html;
    };
    const own = await open('same-origin');
    expect(own).toContain('value="Cheap watches"');
    expect(own).toContain('<option value="board_game" selected>');
    for (const site of ['cross-site', 'same-site', 'none', undefined]) {
      const html = await open(site);
      expect(html).not.toMatch(/value="Cheap|Cheap watches|selected/);
      // Who comes back from the sign-in presses a link of ours. An old browser would ask in vain.
      expect(html.includes('>Fill in what you searched for</a>')).toBe(site !== undefined);
    }
  });

  test('is added once by a form that is sent twice, and by a double click', async () => {
    const [ann] = await makeUsers(1);
    const form = { entity_id: randomUUID(), entity_type: 'film', name: 'Twice' };
    const answers = await Promise.all([1, 2, 3].map(() => ask('add-entity', ann, { form })));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    const stolen = await ask('add-entity', await makeUser(), { form: { ...form, name: 'Mine' } });
    expect(stolen.status).toBe(412);
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'Blue', entity_type: 'work' }, 'entity_type'],
    [{ name: 'Blue', url: 'x' }, 'url'],
  ])('is refused as %j', async (form: Record<string, string>, field) => {
    const { answer } = await add(await makeUser(), form);
    expect([answer.status, Object.keys(faultsOn(answer.shown)).includes(field)]).toEqual([
      400,
      true,
    ]);
  });

  test('cannot be reviewed before it is added, by a page or by the API', async () => {
    const [ann] = await makeUsers(1);
    const entity = { entity_id: randomUUID(), entity_type: 'film' };
    const answer = await ann.triesToPublish(reviewBody(entity));
    expect(answer).toMatchObject(invalid('entity_id must be of something that was added here'));
    const { html } = await ask('show-review-form', ann, { query: entity });
    expect(html).toContain(`href="${at}/entity/new">Add it first</a>`);
    const sent = await publishForm(ann, entity, filledForm());
    expect(sent.status).toBe(400);
    expect(await readRecord(entity as never)).toBeUndefined();
  });
});

describe('the lists', () => {
  test('filter by own types and their group, count them, and page far', async () => {
    const [ann, ben] = await makeUsers(2);
    const film = (await add(ann, { name: 'A film' })).entity;
    const game = (await add(ann, { name: 'A game', entity_type: 'board_game' })).entity;
    await ann.publishes(film);
    await ben.publishes({ ...film, language: 'de' });
    await ann.publishes(game);
    await ann.publishes({ entity_type: 'work' });
    await applyStream();
    const count = async (query: Record<string, string>) => (await visitor.lists(query)).body.count;
    const of = { user_id: ann.id };
    expect(await count({ ...of, entity_type: 'own' })).toBe(2);
    expect(await count({ ...of, entity_type: 'board_game' })).toBe(1);
    expect(await count({ ...of, entity_type: 'musicdb' })).toBe(1);
    expect(await count({ entity_id: film.entity_id, entity_type: 'own', language: 'de' })).toBe(1);
    const all = await count({ entity_type: 'own' });
    expect(all).toBe(
      (await count({ entity_type: 'film' })) + (await count({ entity_type: 'board_game' })),
    );
    const far = await visitor.lists({ entity_type: 'own', offset: `${all - 1}` });
    expect(far.body.reviews).toHaveLength(1);
    expect(await visitor.lists({ entity_type: 'opera' })).toMatchObject(
      invalid(/film, board_game$/),
    );
    const { entity } = (await visitor.readsEntity(film.entity_id)).body;
    expect(entity).toMatchObject({ entity_type: 'film', review_count: 2 });
    await expectExact();
  });

  test('and pages name own types', async () => {
    const [ann] = await makeUsers(1);
    const { entity } = await add(ann, { name: 'Stalker' });
    await ann.publishes(entity);
    await applyStream();
    const { html } = await ask('show-reviews', ann, { query: { entity_type: 'film' } });
    expect(html).toContain('<optgroup label="Things added here">');
    expect(html).toContain('of the type “Film”');
    const found = await ask('find-entity', ann, { query: { q: 'stalk' } });
    expect(found.html).toContain('<bdi>Stalker</bdi>');
    expect(found.html).toMatch(/href="[^"]*\/entity\/new\?name=stalk">Add it<\/a>/);
    const { body } = await invoke(listEntities, { query: { q: 'stalk', entity_type: 'film' } });
    expect(body.entities).toMatchObject([{ type: 'film', name: 'Stalker' }]);
  });
});

test('the description has the types and their group', async () => {
  const { body } = await invoke(getOpenapi, {});
  const types = body.components.schemas.EntityType.enum;
  expect(types.slice(-3)).toEqual(['bk_series', 'film', 'board_game']);
  const filter = body.components.schemas.EntityFilter;
  expect(filter.enum).toEqual(expect.arrayContaining(['musicdb', 'own', 'film']));
  expect(JSON.stringify(body.paths['/review'].post)).not.toContain('"own"');
});

describe('OWN_TYPES', () => {
  test.each([
    ['', []],
    [' film : Film , game2:Board game ,', ['film', 'game2']],
    ['a1:Ä', ['a1']],
  ])('%j is read', (text, types) => {
    expect([...ownTypesIn(text).keys()]).toEqual(types);
  });

  test.each([
    ['film', /film must have a name/],
    ['Film:Film', /must begin with 2 to 30 lower-case letters/],
    ['film:', /must have a name/],
    ['film:A:B', /must have a name/],
    [`film:${'x'.repeat(41)}`, /must have a name/],
    ['work:Work', /another meaning/],
    ['own:Own', /another meaning/],
    ['musicbrainz:X', /another meaning/],
    ['bb_film:X', /another meaning/],
    ['film:A,film:B', /twice/],
    [Array.from({ length: 9 }, (_, i) => `type${i}:T`).join(), /at most 8 types, not 9/],
  ])('%j is refused', (text, message) => {
    expect(() => ownTypesIn(text)).toThrow(message);
  });
});
