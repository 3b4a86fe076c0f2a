/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,game:Game"}} */
import { handler } from '../../functions/api/create-entity.ts';
import { readRecord } from '../../shared/core/entity/record.ts';
import { invalid, invoke } from '../helpers/invoke.ts';
import { applyStream } from '../helpers/stream.ts';
import { decideThing } from '../helpers/things.ts';
import { makeModerator, makeUser, makeUsers, type Person, visitor } from '../helpers/world.ts';

const adds = (person: Person, body: unknown, headers?: Record<string, string>) =>
  invoke(handler, { method: 'POST', caller: person.caller, body, headers });

const film = (name: string, more: object = {}) => ({ entity_type: 'film', name, ...more });

describe('POST /entity/', () => {
  test('adds a thing that can then be reviewed, with its line and address', async () => {
    const ann = await makeUser();
    const words = { about: 'Fritz Lang · 1927', url: 'https://example.org/metropolis' };
    const { status, body } = await adds(ann, film('  Metropolis ', words));
    expect([status, body]).toEqual([
      200,
      { message: 'Request processed successfully', id: expect.stringMatching(/^[\da-f-]{36}$/) },
    ]);
    const entity = { entity_id: body.id, entity_type: 'film' as never };
    const written = { name: 'Metropolis', ...words, origin: 'member', user_id: ann.id };
    expect(await readRecord(entity)).toMatchObject(written);
    await ann.publishes({ ...entity });
  });

  test('answers the thing that has this name and line, or the only one of this name', async () => {
    const ann = await makeUser();
    const ben = await makeUser();
    const { body: first } = await adds(ann, film('Solaris', { about: 'Tarkovsky · 1972' }));
    await applyStream();
    const same = await adds(ben, film('SOLARIS', { about: 'tarkovsky 1972' }));
    expect(same.body.id).toBe(first.id);
    expect((await adds(ben, film('solaris', { about: null }))).body.id).toBe(first.id);
    const { body: second } = await adds(ben, film('Solaris', { about: 'Soderbergh · 2002' }));
    expect(second.id).not.toBe(first.id);
    // Another type is another thing.
    const game = await adds(ben, { ...film('Solaris'), entity_type: 'game' });
    expect([first.id, second.id]).not.toContain(game.body.id);
    await applyStream();
    expect(await adds(ann, film('Solaris'))).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_request',
        description: 'about must say which is meant: 2 have this name',
      },
    });
  });

  test('answers a thing by the name of one that was joined with it', async () => {
    const ann = await makeUser();
    const mia = await makeModerator('Mia');
    const { body: film1 } = await adds(ann, film('Stalker', { about: 'Tarkovsky' }));
    const { body: film2 } = await adds(ann, film('Сталкер', { about: 'Тарковский' }));
    const entity = { entity_id: film2.id, entity_type: 'film' as never };
    await decideThing(mia, entity, { decision: 'lead', other: film1.id });
    await applyStream();
    expect((await adds(ann, film('Сталкер'))).body.id).toBe(film1.id);
  });

  test('adds one thing for one Idempotency-Key', async () => {
    const ann = await makeUser();
    const headers = { 'content-type': 'application/json', 'idempotency-key': '"once"' };
    const first = await adds(ann, film('Nostalghia'), headers);
    const again = await adds(ann, film('Nostalghia'), headers);
    expect([first.status, again.body]).toEqual([200, first.body]);
    const other = await adds(ann, film('Mirror'), headers);
    expect(other).toHaveStatus(422);
  });

  test('repeats the first answer of a key, whatever has the name since', async () => {
    const [ann, ben] = await makeUsers(2);
    const headers = { 'content-type': 'application/json', 'idempotency-key': '"late"' };
    const first = await adds(ann, film('The Sacrifice'), headers);
    await applyStream();
    const again = await adds(ann, film('The Sacrifice'), headers);
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect(again.headers['idempotent-replayed']).toBe('true');
    await adds(ben, film('The Sacrifice', { about: 'a play' }));
    await applyStream();
    expect(await adds(ann, film('The Sacrifice'))).toHaveStatus(400);
    expect(await adds(ann, film('The Sacrifice'), headers)).toMatchObject({
      status: 200,
      body: first.body,
    });
  });

  test('refuses a key of another request, also for the name of something that exists', async () => {
    const ann = await makeUser();
    const headers = { 'content-type': 'application/json', 'idempotency-key': '"two"' };
    await adds(ann, film('Steamroller'));
    await adds(ann, film('Violin'), headers);
    await applyStream();
    expect(await adds(ann, film('Steamroller'), headers)).toMatchObject({
      status: 422,
      body: { error: 'idempotency_mismatch' },
    });
  });

  test('shows the name of what has no review yet, as the search does', async () => {
    const ann = await makeUser();
    const words = { about: 'Vertov · 1929', url: 'https://example.org/camera' };
    const { body } = await adds(ann, film('Man with a Camera', words));
    const answer = await visitor.readsEntity(body.id, { include_metadata: 'true' });
    expect(answer.body).toMatchObject({
      entity: { id: body.id, entity_type: null, review_count: 0, state: 'public' },
      metadata: { id: body.id, type: 'film', name: 'Man with a Camera', ...words },
    });
  });

  test('lets the name of a newcomer wait', async () => {
    process.env.HELD_REVIEWS = '1';
    const ann = await makeUser();
    const { body } = await adds(ann, film('Ivan’s Childhood'));
    delete process.env.HELD_REVIEWS;
    const entity = { entity_id: body.id, entity_type: 'film' as never };
    expect((await readRecord(entity))?.state).toBe('waiting');
    const answer = await visitor.readsEntity(body.id, { include_metadata: 'true' });
    expect(answer.body).toMatchObject({ entity: { state: null }, metadata: null });
  });

  test('gives a new account ten names a day', async () => {
    const ann = await makeUser();
    for (let i = 0; i < 10; i++) expect(await adds(ann, film(`Film ${i}x`))).toHaveStatus(200);
    const refused = await adds(ann, film('The eleventh'));
    expect([refused.status, refused.body.error]).toEqual([403, 'limit_exceeded']);
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
  });

  test.each<[object, string]>([
    [{ name: 'Blue' }, 'entity_type'],
    [{ entity_type: 'work', name: 'Blue' }, 'entity_type must be one of film, game'],
    [{ entity_type: 'film' }, 'name is required'],
    [film(' '), 'name'],
    [film('See https://example.org'), 'name must not contain an address'],
    [film('Blue', { about: 'x'.repeat(201) }), 'about'],
    [film('Blue', { url: 'example' }), 'url must be the whole address'],
  ])('refuses %j', async (body, words) => {
    const answer = await adds(await makeUser(), body);
    expect(answer).toMatchObject(invalid(new RegExp(`^${words}`)));
  });
});
