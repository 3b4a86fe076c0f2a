/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import { handler as listChanges } from '../../functions/api/list-changes.ts';
import { handler as listEntities } from '../../functions/api/list-entities.ts';
import { type Entity, recordKey } from '../../shared/core/entity/record.ts';
import { caseKey } from '../../shared/core/keys.ts';
import { listDecisions } from '../../shared/core/report/decision-log.ts';
import { decideReview } from '../../shared/core/report/decision-repository.ts';
import { mostHidden } from '../../shared/features/names/record-decisions.ts';
import { faultsOn } from '../helpers/browser.ts';
import { decideCase, seenOf } from '../helpers/cases.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { nameEntities } from '../helpers/names.ts';
import { correct, reviewNew, wordsOf } from '../helpers/names-by-people.ts';
import { expectExact } from '../helpers/recount.ts';
import { filledForm, publishForm } from '../helpers/review-form.ts';
import { applyStream } from '../helpers/stream.ts';
import { addFilm, decideThing, stateOf, thingFor } from '../helpers/things.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import {
  idsOf,
  makeModerator,
  makeUser,
  makeUsers,
  type Person,
  visitor,
} from '../helpers/world.ts';

const at = 'https://api.example/ws';
const mia = await makeModerator('Mia Modestly');

/** Makes somebody whose reviews and names are held. */
async function makeNewcomer(): Promise<Person> {
  process.env.HELD_REVIEWS = '2';
  return makeUser();
}

/** Returns the ids of what a search finds, once the index has followed. */
async function found(q: string): Promise<string[]> {
  await applyStream();
  const { body } = await invoke(listEntities, { query: { q } });
  return idsOf(body.entities);
}

/** Returns what the public reads of a thing: its state, and its name. */
async function publicly({ entity_id }: Entity) {
  const { body } = await visitor.readsEntity(entity_id, { include_metadata: 'true' });
  const { state, leads_to } = body.entity;
  return { state, leads_to, name: body.metadata?.name };
}

describe('a thing of a newcomer', () => {
  test('waits: its author and moderators read the name, and nobody finds it', async () => {
    const nora = await makeNewcomer();
    const ben = await makeUser();
    const { entity } = await addFilm(nora, 'Waiting Windmill');
    expect(await stateOf(entity)).toMatchObject({ state: 'waiting' });
    for (const [person, isShown] of [
      [nora, true],
      [mia, true],
      [ben, false],
    ] as const) {
      const html = await thingFor(person, entity);
      expect(html.includes('Waiting Windmill')).toBe(isShown);
      expect(html.includes('This name waits for a moderator.')).toBe(isShown);
    }
    expect(await found('windmill')).toEqual([]);
    expect(await publicly(entity)).toEqual({ state: null, leads_to: null });
    // Others cannot review what they do not see.
    const form = await pageFor('show-review-form', ben, { query: { ...entity } });
    expect(form).toContain('Add it first');
    expect(
      (await ben.triesToPublish({ ...entity, rating: 4, license_choice: 'CC0 1.0' })).status,
    ).toBe(400);
  });

  test('is public with the first approved review, which needs the name that the moderator saw', async () => {
    const nora = await makeNewcomer();
    const { entity } = await addFilm(nora, 'Approved Alligator');
    expect(await publishForm(nora, { ...entity }, filledForm())).toHaveStatus(303);
    const id: string = (await nora.listsOwnReviews()).body.reviews[0].id;
    expect(await pageFor('show-my-reviews', nora)).toContain('Approved Alligator');
    const html = await pageFor('show-case', mia, { path: { review_id: id } });
    expect(html).toContain('The name is new. It waits with the review');
    const before = await seenOf(mia, id);
    const { named: _, ...unnamed } = before;
    await correct(nora, entity, { name: 'Cheap Alligator' });
    for (const seen of [before, unnamed]) {
      const blind = await decideCase(mia, id, { decision: 'approve' }, seen);
      expect(faultsOn(blind.shown)['']).toContain(
        'The name has changed since you opened this page',
      );
    }
    expect(await stateOf(entity)).toMatchObject({ state: 'waiting' });
    expect(await decideCase(mia, id, { decision: 'approve' })).toHaveStatus(303);
    expect(await found('alligator')).toEqual([entity.entity_id]);
    expect(await publicly(entity)).toEqual({
      state: 'public',
      leads_to: null,
      name: 'Cheap Alligator',
    });
    // What is public now, its author no longer changes alone.
    await correct(nora, entity, { name: 'Advert' });
    expect((await wordsOf(entity)).name).toBe('Cheap Alligator');
  });

  test('stays unnamed to the world, also in the feed, until a moderator confirms it', async () => {
    const { body } = await invoke(listChanges, {});
    const nora = await makeNewcomer();
    const entity = await reviewNew(nora, { name: 'Quiet Quail' });
    await applyStream();
    const changesSince = async () =>
      (
        await invoke(listChanges, { query: { since: body.next, limit: '100' } })
      ).body.changes.filter(({ id }: Entity & { id: string }) => id === entity.entity_id);
    expect(await changesSince()).toEqual([]);
    const page = await pageFor('show-thing', mia, {
      path: { entity_id: entity.entity_id },
      query: { entity_type: entity.entity_type },
    });
    expect(page).toContain('Waits: only its author and moderators read the name');
    expect(await decideThing(mia, entity, { decision: 'confirm' })).toHaveStatus(303);
    expect(await found('quail')).toEqual([entity.entity_id]);
    expect(await changesSince()).toMatchObject([
      { kind: 'entity', entity: { name: 'Quiet Quail' }, state: 'public', leads_to: null },
    ]);
  });

  test('gives way to the name of somebody whose reviews are not held', async () => {
    const nora = await makeNewcomer();
    const nils = await makeNewcomer();
    const entity = await reviewNew(nora, { name: 'Watches, call now' });
    // Another newcomer is asked for a name, which changes nothing.
    const query = { ...entity };
    expect(await pageFor('show-review-form', nils, { query })).toContain('It has no name here yet');
    await publishForm(nils, query, filledForm({ name: 'Of Nils' }));
    expect(await wordsOf(entity)).toMatchObject({ name: 'Watches, call now', user_id: nora.id });
    delete process.env.HELD_REVIEWS;
    const ben = await makeUser();
    expect(await publishForm(ben, query, filledForm({ name: 'Of Ben' }))).toHaveStatus(303);
    expect(await wordsOf(entity)).toMatchObject({ name: 'Of Ben', user_id: ben.id });
    expect((await publicly(entity)).name).toBe('Of Ben');
  });

  test('is public at once where nothing is held, and of moderators', async () => {
    expect(await stateOf((await addFilm(await makeUser(), 'Open Otter')).entity)).toEqual({});
    process.env.HELD_REVIEWS = '2';
    expect(await stateOf((await addFilm(mia, 'Moderate Otter')).entity)).toEqual({});
  });
});

describe('a removed thing', () => {
  test('has no name, is not found or reviewed, and comes back', async () => {
    const ann = await makeUser();
    const { entity } = await addFilm(ann, 'Removed Raccoon');
    expect(await found('raccoon')).toEqual([entity.entity_id]);
    const removal = { decision: 'remove', reason: 'spam', note: 'An advert.' };
    expect(await decideThing(mia, entity, removal)).toHaveStatus(303);
    for (const person of [ann, mia]) {
      expect(await thingFor(person, entity)).not.toContain('Removed Raccoon');
    }
    expect(await found('raccoon')).toEqual([]);
    expect(await publicly(entity)).toEqual({ state: 'removed', leads_to: null });
    const body = { ...entity, rating: 4, license_choice: 'CC0 1.0' };
    expect(await ann.triesToPublish(body)).toHaveStatus(400);
    expect(await pageFor('show-account', ann)).toContain(
      'A name that you gave was corrected or removed.',
    );
    // Nobody but a moderator names it again.
    expect(
      (await correct(ann, entity, { name: 'Again', seen: '' })).headers['set-cookie'],
    ).toContain('name-proposed');
    expect(await stateOf(entity)).toEqual({ state: 'removed' });
    expect(await decideThing(mia, entity, { decision: 'return' })).toHaveStatus(303);
    expect(await found('raccoon')).toEqual([entity.entity_id]);
    expect(await ann.triesToPublish(body)).toHaveStatus(200);
  });

  test('has no public reviews, unless they are hidden with it', async () => {
    const [ann, ben] = await makeUsers(2);
    const { entity } = await addFilm(ann, 'Reviewed Rabbit');
    const ids = [await ann.publishes({ ...entity }), await ben.publishes({ ...entity })];
    const removal = { decision: 'remove', reason: 'abuse', note: 'An insult.' };
    const refused = await decideThing(mia, entity, removal);
    expect(faultsOn(refused.shown)['']).toContain('It has public reviews');
    expect(refused.html).toContain('Hide 2 public reviews of it too');
    const answer = await decideThing(mia, entity, { ...removal, hides_reviews: 'yes' });
    expect(answer).toHaveStatus(303);
    for (const id of ids) expect(await visitor.reads(id)).toHaveStatus(404);
    await applyStream();
    const { decisions } = await listDecisions(3);
    expect(decisions.map(({ decision, note }) => [decision, note])).toEqual([
      ['remove', 'An insult.'],
      ['hide', 'An insult.'],
      ['hide', 'An insult.'],
    ]);
    // A review of it is not restored before it.
    const [id = ''] = ids;
    const by = { reason: 'other', note: '', moderator_id: mia.id } as const;
    await expect(decideReview(id, 'restore', by)).rejects.toMatchObject({ status: 400 });
    await decideThing(mia, entity, { decision: 'return' });
    await decideReview(id, 'restore', by);
    expect(await visitor.reads(id)).toHaveStatus(200);
    await expectExact();
  });

  test('with more reviews than one decision hides is refused', async () => {
    const people = await makeUsers(mostHidden + 1);
    const { entity } = await addFilm(mia, 'Popular Porcupine');
    for (const person of people) await person.publishes({ ...entity });
    const removal = { decision: 'remove', hides_reviews: 'yes' };
    const { shown } = await decideThing(mia, entity, removal);
    expect(faultsOn(shown)['']).toContain('It has more than 20 public reviews');
  });

  test('of a database type is as if it had no name, and can be reviewed', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Typo Tapir' });
    await ann.deletes((await ann.listsOwnReviews()).body.reviews[0].id);
    await decideThing(mia, entity, { decision: 'remove' });
    const form = await pageFor('show-review-form', ben, { query: { ...entity } });
    expect(form).not.toContain('Typo Tapir');
    expect(form).not.toContain('It has no name here yet');
    expect(await publishForm(ben, { ...entity }, filledForm({ name: 'Mine' }))).toHaveStatus(303);
    expect(await publicly(entity)).toEqual({ state: 'removed', leads_to: null });
  });

  test('is put before the moderators by its first new review, and not by the next', async () => {
    const [ann, ben, eve] = await makeUsers(3);
    const entity = await reviewNew(ann, { name: 'Removed Rook' });
    await ann.deletes((await ann.listsOwnReviews()).body.reviews[0].id);
    await decideThing(mia, entity, { decision: 'remove' });
    const caseOf = (id: string) => readItem(caseKey(id));
    const draft = await ben.publishes({ ...entity, is_draft: true });
    expect(await caseOf(draft)).toBeUndefined();
    const id = await eve.publishes({ ...entity });
    expect(await caseOf(id)).toMatchObject({ all: 'CASE', state: 'open', reports: 0 });
    await ben.edits(draft, { is_draft: false });
    expect(await caseOf(draft)).toBeUndefined();
    const html = await pageFor('show-case', mia, { path: { review_id: id } });
    expect(html).toContain('A moderator has removed it.');
    expect(html).toContain('Leave it public');
    await mia.decides(id, 'dismiss');
    expect(await caseOf(id)).toMatchObject({ state: 'closed' });
    await ben.deletes(draft);
    await eve.deletes(id);
    const later = await ben.publishes({ ...entity, is_draft: true });
    await ben.edits(later, { is_draft: false });
    expect(await caseOf(later)).toMatchObject({ all: 'CASE', state: 'open', reports: 0 });
    await applyStream();
    await expectExact();
  });
});

describe('a duplicate', () => {
  test('leads to the other, keeps its reviews, and is parted again', async () => {
    const [ann, ben] = await makeUsers(2);
    const { entity: other } = await addFilm(ann, 'Past Lives', { about: 'Celine Song · 2023' });
    const { entity } = await addFilm(ben, 'Past Lives', { about: '2023', is_other: 'yes' });
    const { entity: empty } = await addFilm(ben, 'Past Lives', { about: 'Empty', is_other: 'yes' });
    const id = await ann.publishes({ ...entity });
    await applyStream();
    const path = { entity_id: entity.entity_id };
    const query = { entity_type: 'film', q: 'past lives' };
    const page = await pageFor('show-thing', mia, { path, query });
    expect(page).toContain(`name="other" value="${other.entity_id}"`);
    expect(page).not.toContain(`name="other" value="${entity.entity_id}"`);
    const join = { decision: 'lead', other: other.entity_id };
    for (const each of [entity, empty]) {
      expect(await decideThing(mia, each, join)).toHaveStatus(303);
    }
    expect(await found('past lives')).toEqual([other.entity_id]);
    expect(await publicly(entity)).toMatchObject({ state: 'public', leads_to: other.entity_id });
    const html = await thingFor(ben, entity);
    expect(html).toContain('This is the same as');
    expect(html).toContain('The reviews below were written here.');
    expect(await thingFor(ben, empty)).not.toContain('written here');
    expect(html).toContain(`review/new?entity_id=${other.entity_id}`);
    expect(html).toContain(`id="review-${id}"`);
    const form = await ask('show-review-form', ben, { query: { ...entity } });
    expect(form.headers.location).toBe(
      `${at}/review/new?entity_id=${other.entity_id}&entity_type=film`,
    );
    for (const each of [entity, empty]) {
      expect(await decideThing(mia, each, { decision: 'return' })).toHaveStatus(303);
      expect(await stateOf(each)).toEqual({});
    }
    expect(await stateOf(other)).toEqual({});
    expect((await found('past lives')).toSorted()).toEqual(
      [entity, empty, other].map(({ entity_id }) => entity_id).toSorted(),
    );
  });
});

describe('a thing that others lead to', () => {
  test('is found by their names, and its page has their reviews, while each keeps its id', async () => {
    const [ann, ben, cid] = await makeUsers(3);
    const { entity: film } = await addFilm(ann, 'Parasite', { about: 'Bong Joon-ho · 2019' });
    const { entity: korean } = await addFilm(ben, '기생충', { about: '봉준호' });
    const own = await ann.publishes({ ...film, rating: 5, language: 'en' });
    const led = [
      await ben.publishes({ ...korean, rating: 2, language: 'ko' }),
      await cid.publishes({ ...korean, rating: 2, language: 'ko' }),
    ];
    const join = { decision: 'lead', other: film.entity_id };
    expect(await decideThing(mia, korean, join)).toHaveStatus(303);
    await applyStream();
    expect(await found('기생충')).toEqual([film.entity_id]);
    expect(await found('parasite')).toEqual([film.entity_id]);
    const path = { entity_id: film.entity_id };
    const html = await pageFor('show-entity', ben, { path });
    expect(html).toContain('<h2>3 reviews</h2>');
    expect(html).toContain('content="3 of 5 stars from 3 ratings. 3 reviews."');
    const at = (id: string) => html.indexOf(`id="review-${id}"`);
    const places = [...led.toReversed(), own].map(at);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    const korean2 = await pageFor('show-entity', ben, { path, query: { language: 'ko' } });
    expect(korean2).toContain('<h2>2 reviews in Korean</h2>');
    expect(korean2).not.toContain(`id="review-${own}"`);
    // The API has the reviews of each under its own id.
    const { body } = await visitor.readsEntity(film.entity_id);
    expect(body.entity).toMatchObject({ review_count: 1, leads_to: null });
    expect(body.entity.led_from).toEqual([korean.entity_id]);
    // Who adds it once more is asked whether this is meant.
    const again = await ask('add-entity', cid, {
      form: { ...film, entity_id: randomUUID(), name: '기생충' },
    });
    expect(again.html).toContain(`value="${film.entity_id}"`);
    expect(await decideThing(mia, korean, { decision: 'return' })).toHaveStatus(303);
    await applyStream();
    expect(await found('기생충')).toEqual([korean.entity_id]);
    expect(await pageFor('show-entity', ben, { path })).toContain('<h2>1 review</h2>');
  });

  test('has all reviews once in the pages of its list, in both orders', async () => {
    const authors = await makeUsers(30);
    const films = await Promise.all(
      ['Solaris', 'Солярис', 'Soljaris'].map((name, i) => addFilm(authors[i] as Person, name)),
    );
    const [film, ...others] = films.map(({ entity }) => entity) as [Entity, Entity, Entity];
    const ids: string[] = [];
    const begun = Date.now();
    for (const [i, author] of authors.entries()) {
      // Reviews of one millisecond are in the order of their ids.
      stopClock(begun + i);
      ids.push(await author.publishes({ ...films[i % 3]?.entity }));
    }
    for (const id of ids.slice(0, 5)) await mia.votes(id);
    for (const other of others) {
      await decideThing(mia, other, { decision: 'lead', other: film.entity_id });
    }
    for (const sort of ['published_on', 'popularity']) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const query = { sort, ...(cursor && { cursor }) };
        const html = await pageFor('show-entity', mia, {
          path: { entity_id: film.entity_id },
          query,
        });
        for (const [, id = ''] of html.matchAll(/id="review-([^"]*)"/g)) seen.push(id);
        cursor = /rel="next" href="[^"]*cursor=([\w-]+)/.exec(html)?.[1];
      } while (cursor !== undefined);
      expect(seen).toHaveLength(30);
      expect(seen.toSorted()).toEqual(ids.toSorted());
      if (sort === 'published_on') expect(seen).toEqual(ids.toReversed());
      else expect(seen.slice(0, 5).toSorted()).toEqual(ids.slice(0, 5).toSorted());
    }
  });
});

describe('decisions on things', () => {
  test('stand in the log with their author, and each is undone there', async () => {
    const ann = await makeUser();
    const { entity } = await addFilm(ann, 'Logged Lynx');
    const { entity: other } = await addFilm(ann, 'Other Lynx');
    const decided: [Record<string, string>, object][] = [
      [{ decision: 'remove', reason: 'spam' }, { state: 'removed' }],
      [
        { decision: 'lead', other: other.entity_id },
        { same_as: other.entity_id, leads_to: other.entity_id },
      ],
    ];
    for (const [form, state] of decided) {
      expect(await decideThing(mia, entity, form)).toHaveStatus(303);
      expect(await stateOf(entity)).toEqual(state);
      await applyStream();
      const [decision] = (await listDecisions(1)).decisions;
      expect(decision).toMatchObject({
        decision: form.decision,
        moderator_id: mia.id,
        user_id: ann.id,
      });
      const html = await pageFor('show-decisions', mia);
      expect(html).toContain(`name="id" value="${decision?.id}"`);
      expect(await ask('undo-correction', mia, { form: { id: `${decision?.id}` } })).toHaveStatus(
        303,
      );
      expect(await stateOf(entity)).toEqual({});
      expect(await stateOf(other)).toEqual({});
    }
    await applyStream();
    expect((await found('lynx')).length).toBe(2);
  });

  test.each<[string, Record<string, string>, string]>([
    ['what has changed', { decision: 'confirm', seen: '5' }, 'changed since you opened'],
    ['what was not removed', { decision: 'return' }, 'It was not removed'],
    ['itself', { decision: 'lead' }, 'A thing cannot lead to itself'],
    ['nothing', { decision: 'lead', other: mia.id }, 'has no name here'],
  ])('refuse %s', async (name, form, sentence) => {
    const { entity } = await addFilm(mia, `Refused ${name}`);
    const sent = { other: entity.entity_id, ...form };
    const { status, shown } = await decideThing(mia, entity, sent);
    expect([status, faultsOn(shown)['']]).toEqual([400, expect.stringContaining(sentence)]);
  });

  test('are for moderators alone', async () => {
    const ann = await makeUser();
    const { entity } = await addFilm(ann, 'Own Ocelot');
    expect(await decideThing(ann, entity, { decision: 'remove' })).toHaveStatus(404);
    const path = { entity_id: entity.entity_id };
    expect(await ask('show-thing', ann, { path, query: { entity_type: 'film' } })).toHaveStatus(
      404,
    );
    expect(await thingFor(ann, entity)).not.toContain('Remove or join it');
    expect(await thingFor(mia, entity)).toContain('Remove or join it');
  });
});

describe('a thing that its database has merged into another', () => {
  const page = async ({ entity_id, entity_type }: Entity) =>
    await pageFor('show-thing', mia, { path: { entity_id }, query: { entity_type } });
  const merge = async (into: string) => {
    const entity = { entity_id: randomUUID(), entity_type: 'work' } as const;
    await nameEntities({ [entity.entity_id]: 'Blue Trane' }, 'work');
    await setAttributes(recordKey(entity), { merged_into: into });
    return entity;
  };

  test('is offered to moderators to be joined with it, if that has a name here', async () => {
    const other = randomUUID();
    const entity = await merge(other);
    expect(await page(entity)).not.toContain('Its database has merged it');
    await nameEntities({ [other]: 'Blue Train' }, 'work');
    const html = await page(entity);
    expect(html).toContain('Its database has merged it into this one');
    expect(html).toContain(`value="${other}"`);
    const joined = await decideThing(mia, entity, { decision: 'lead', other });
    expect(joined).toHaveStatus(303);
    expect(await stateOf(entity)).toMatchObject({ leads_to: other });
    expect(await page(entity)).not.toContain('Its database has merged it');
  });

  test('is joined for good with one that only a search has found', async () => {
    const other = { entity_id: randomUUID(), entity_type: 'work' } as const;
    await nameEntities({ [other.entity_id]: 'Blue Train' }, 'work');
    await setAttributes(recordKey(other), { expires_at: 2 ** 32 });
    const entity = await merge(other.entity_id);
    await setAttributes(recordKey(entity), { expires_at: 2 ** 32 });
    await decideThing(mia, entity, { decision: 'lead', other: other.entity_id });
    for (const each of [entity, other]) {
      expect(await readItem(recordKey(each))).not.toHaveProperty('expires_at');
    }
  });
});
