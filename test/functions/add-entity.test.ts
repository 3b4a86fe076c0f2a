/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { measure } from '../../bin/bench/measure.ts';
import { handler as getOpenapi } from '../../functions/api/get-openapi.ts';
import { handler as listEntities } from '../../functions/api/list-entities.ts';
import { ownTypesIn } from '../../shared/core/entity/own-types.ts';
import { readRecord } from '../../shared/core/entity/record.ts';
import { faultsOn } from '../helpers/browser.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { expectExact } from '../helpers/recount.ts';
import { chosenIn, filledForm, newEntity, ownForm, publishForm } from '../helpers/review-form.ts';
import { routeOf } from '../helpers/routes.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, pageFor, requestPage, signInAs } from '../helpers/visit.ts';
import { makeUser, makeUsers, type Person, reviewBody, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';

/** Adds something as a person, and returns it. */
async function add(person: Person, form: Record<string, string>) {
  const query = { name: form.name ?? '' };
  const headers = { 'sec-fetch-site': 'same-origin' };
  const html = await pageFor('show-new-entity', person, { query, headers });
  const entity_id = /name="entity_id" value="([^"]*)"/.exec(html)?.[1] ?? '';
  const entity_type = form.entity_type ?? 'film';
  const answer = await ask('add-entity', person, { form: { entity_id, entity_type, ...form } });
  return { answer, html, entity: { entity_id, entity_type } };
}

describe('something of an own type', () => {
  test('is added with a name, has a page, and is reviewed there', async () => {
    const ann = await makeUser();
    const words = { name: 'Metropolis', about: 'Fritz Lang · 1927' };
    const { answer, html, entity } = await add(ann, words);
    expect(html).toContain('value="Metropolis"');
    expect(html).toContain('<option value="board_game">Board game</option>');
    const { entity_id } = entity;
    expect(answer.headers.location).toBe(`${at}/entity/${entity_id}?entity_type=film`);
    // The type is known by the name alone.
    const page = await pageFor('show-entity', ann, { path: { entity_id } });
    expect(page).toContain('<h1><bdi>Metropolis</bdi></h1>');
    expect(page).toContain('Film · <bdi>Fritz Lang · 1927</bdi>');
    const form = filledForm({ name: '' });
    expect(await publishForm(ann, entity, form)).toHaveStatus(303);
    await applyStream();
    const { reviews } = (await visitor.lists({ entity_type: 'film', include_metadata: 'true' }))
      .body;
    expect(reviews).toMatchObject([{ entity_id, metadata: { type: 'film', name: 'Metropolis' } }]);
  });

  test('is filled in by a link of ours alone, and never shows the words of another site', async () => {
    const query = { name: 'Cheap watches', entity_type: 'board_game' };
    const open = async (site?: string) => {
      const headers = site === undefined ? undefined : { 'sec-fetch-site': site };
      return await pageFor('show-new-entity', await makeUser(), { query, headers });
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
    const ann = await makeUser();
    const form = { entity_id: randomUUID(), entity_type: 'film', name: 'Twice' };
    const answers = await Promise.all([1, 2, 3].map(() => ask('add-entity', ann, { form })));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    const stolen = await ask('add-entity', await makeUser(), { form: { ...form, name: 'Mine' } });
    expect(stolen).toHaveStatus(412);
    const changed = await ask('add-entity', ann, { form: { ...form, about: '1929' } });
    expect(changed).toHaveStatus(412);
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
    const ann = await makeUser();
    const entity = { entity_id: randomUUID(), entity_type: 'film' };
    const answer = await ann.triesToPublish(reviewBody(entity));
    expect(answer).toMatchObject(invalid('entity_id must be of something that was added here'));
    const html = await pageFor('show-review-form', ann, { query: entity });
    expect(html).toContain(`href="${at}/entity/new">Add it first</a>`);
    const sent = await publishForm(ann, entity, filledForm());
    expect(sent).toHaveStatus(400);
    expect(await readRecord(entity as never)).toBeUndefined();
  });
});

describe('a first review', () => {
  const words = { name: 'Sunrise', about: 'F. W. Murnau · 1927' };
  const review = { review: 'publish', rating: '5', language: 'de', license_choice: 'CC0 1.0' };
  const ownOf = async (person: Person) =>
    (await visitor.lists({ user_id: person.id })).body.reviews as { entity_id: string }[];

  test('is published by the form that adds its thing, once', async () => {
    const ann = await makeUser();
    const form = { entity_id: randomUUID(), entity_type: 'film', ...words, ...review };
    const answers = await Promise.all([1, 2, 3].map(() => ask('add-entity', ann, { form })));
    const places = new Set(answers.map(({ headers }) => headers.location));
    expect([...answers.map(({ status }) => status), places.size]).toEqual([303, 303, 303, 1]);
    expect([...places][0]).toMatch(/\/review\/[-\da-f]{36}$/);
    await applyStream();
    expect(await ownOf(ann)).toMatchObject([{ entity_id: form.entity_id, rating: 5 }]);
    expect((await visitor.readsEntity(form.entity_id)).body.entity).toMatchObject({
      entity_type: 'film',
      review_count: 1,
    });
    // It is one publication, and nothing of somebody else.
    const stolen = await ask('add-entity', await makeUser(), { form: { ...form, name: 'Mine' } });
    expect(stolen).toHaveStatus(412);
    await expectExact();
  });

  test('is saved as a draft, or not asked for', async () => {
    const ann = await makeUser();
    const draft = await add(ann, { ...words, name: 'Faust', ...review, review: 'draft' });
    expect(draft.answer.headers.location).toMatch(/\/review\/[-\da-f]{36}\/edit$/);
    const sent = { ...review, rating: '', text: '', license_choice: '', review: 'none' };
    const alone = await add(ann, { ...words, name: 'Tabu', ...sent });
    expect(alone.answer.headers.location).toContain(`/entity/${alone.entity.entity_id}`);
    expect(await ownOf(ann)).toEqual([]);
  });

  test.each([
    [{ rating: '', text: 'Too short.' }, 'text'],
    [{ rating: '', text: '' }, ''],
    [{ license_choice: '' }, 'license_choice'],
    [{ name: '' }, 'name'],
    [{ review: 'none', text: 'I would miss this.' }, 'text'],
    [{ review: 'none' }, 'rating'],
  ])('loses nothing that was typed, and adds nothing, with %j', async (flaw, field) => {
    const sent = { ...words, name: 'Dawn', url: 'https://example.org/x', ...review, ...flaw };
    const { answer, entity } = await add(await makeUser(), sent as Record<string, string>);
    const { text = '', name, rating } = sent as Record<string, string>;
    expect([answer.status, Object.keys(faultsOn(answer.shown)).at(-1)]).toEqual([400, field]);
    for (const typed of [
      `value="${name}"`,
      `value="${words.about}"`,
      `value="${sent.url}"`,
      text,
    ]) {
      expect(answer.html).toContain(typed);
    }
    expect(chosenIn(answer.html, 'rating')).toBe(rating);
    expect(answer.html).toContain(`name="entity_id" value="${entity.entity_id}"`);
    expect(await readRecord(entity as never)).toBeUndefined();
  });

  test('of a name that is here goes to the thing that the person means', async () => {
    const [ann, ben, cy] = await makeUsers(3);
    const first = (await add(ann, { name: 'Nosferatu', about: '1922' })).entity;
    await applyStream();
    const headers = { 'sec-fetch-site': 'same-origin' };
    const query = { name: 'nosferatu', entity_type: 'film' };
    const html = await pageFor('show-new-entity', ben, { query, headers });
    expect(html).toContain('One thing has this name already.');
    expect(html).toContain(`name="same_as" value="${first.entity_id}"`);
    const typed = { name: 'Nosfératu!', ...review, text: 'A shadow on the stairs is enough.' };
    const asked = await add(ben, typed);
    expect(Object.keys(faultsOn(asked.answer.shown))).toContain('same_as');
    expect(asked.answer.html).toContain('A shadow on the stairs is enough.');
    const meant = await add(ben, { ...typed, same_as: first.entity_id });
    expect(meant.answer.headers.location).toMatch(/\/review\//);
    const other = await add(cy, { ...typed, same_as: 'other' });
    expect(other.answer.headers.location).toMatch(/\/review\//);
    await applyStream();
    expect(await ownOf(ben)).toMatchObject([{ entity_id: first.entity_id }]);
    expect(await ownOf(cy)).toMatchObject([{ entity_id: other.entity.entity_id }]);
    // The beginning of a name is another name.
    expect((await add(cy, { name: 'Nosferatu and more' })).answer.status).toBe(303);
    // Without a review, it leads there. With a mistake, the form to review that thing has it.
    const alone = await add(cy, { name: 'Nosferatu', same_as: first.entity_id });
    expect(alone.answer.headers.location).toContain(`/entity/${first.entity_id}`);
    const short = await add(cy, { ...typed, text: 'Short', same_as: first.entity_id });
    expect([short.answer.status, short.answer.html.includes('>\nShort</textarea>')]).toEqual([
      400,
      true,
    ]);
    expect(short.answer.html).toContain(`/review/new?entity_id=${first.entity_id}`);
  });

  test('costs what a review costs that names its thing, and a search', async () => {
    const { cookie, csrf } = await signInAs((await makeUser()).id);
    const headers = { cookie, ...ownForm, 'Content-Type': 'application/x-www-form-urlencoded' };
    const send = (operation: string, query: Record<string, string>, thing: object) => {
      const body = `${new URLSearchParams({ ...filledForm(), ...thing, csrf })}`;
      return measure(operation, { method: 'POST', headers, query, body });
    };
    const thing = { entity_id: randomUUID(), entity_type: 'film', review: 'publish' };
    const added = await send('add-entity', {}, thing);
    const named = await send('publish-review', newEntity(), {});
    expect([added.status, named.status, added.write]).toEqual([303, 303, named.write]);
    expect(added.read).toBeLessThanOrEqual(named.read + 12);
    const query = { name: 'Nosferatu', entity_type: 'film' };
    const shown = await measure('show-new-entity', { headers, query });
    expect([shown.status, shown.write]).toEqual([200, 0]);
    expect(shown.read).toBeLessThanOrEqual(20);
    expect(gzipSync(`${shown.body}`).length).toBeLessThan(30_000);
  });

  test('waits with its thing where reviews of newcomers wait', async () => {
    Object.assign(process.env, { HELD_REVIEWS: '1' });
    const form = { entity_id: randomUUID(), entity_type: 'film', ...review, name: 'Phantom' };
    const { headers } = await ask('add-entity', await makeUser(), { form });
    expect(headers.location).toBe(`${at}/account/reviews`);
    expect(await readRecord(form as never)).toMatchObject({ state: 'waiting' });
  });

  test('survives the end of the session', async () => {
    const text = 'Two people on a bench, and a city that waits.';
    const form = { entity_id: randomUUID(), entity_type: 'film', ...words, ...review, text };
    const { status, body } = await requestPage(routeOf('add-entity'), { form, headers: ownForm });
    expect([status, `${body}`.includes(text)]).toEqual([401, true]);
    expect(body).toContain(`name="name" value="${words.name}"`);
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
    const ann = await makeUser();
    const { entity } = await add(ann, { name: 'Stalker' });
    await ann.publishes(entity);
    await applyStream();
    const html = await pageFor('show-reviews', ann, { query: { entity_type: 'film' } });
    expect(html).toContain('<optgroup label="Things added here">');
    expect(html).toContain('of the type “Film”');
    const found = await pageFor('find-entity', ann, { query: { q: 'stalk' } });
    expect(found).toContain('<bdi>Stalker</bdi>');
    // The last result adds it, as a type of this place. A chosen type needs no other choice.
    const [last = ''] = found.split('<li>').slice(-1);
    const link = (type: string) => `${at}/entity/new?name=stalk&amp;entity_type=${type}`;
    expect([last.includes(link('film')), last.includes(link('board_game'))]).toEqual([true, true]);
    const games = await pageFor('find-entity', ann, { query: { q: 'stalk', type: 'board_game' } });
    expect(games).toContain(`href="${link('board_game')}">Add it</a>`);
    expect(games).not.toContain(link('film'));
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
