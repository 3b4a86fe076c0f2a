/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film,board_game:Board game"}} */
import { handler as eraser } from '../../functions/background/eraser.ts';
import { getItem } from '../../shared/base/table/query.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { fileKey, rowsKey } from '../../shared/features/bring/kinds.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { faultsOn, noticeOn } from '../helpers/browser.ts';
import { scanTable, setAttributes } from '../helpers/items.ts';
import { expectExact } from '../helpers/recount.ts';
import { applyStream, readStream } from '../helpers/stream.ts';
import { addFilm } from '../helpers/things.ts';
import { ask, pageFor, textIn } from '../helpers/visit.ts';
import { text as longText, makeUser, operator, type Person, visitor } from '../helpers/world.ts';

const text = longText.trim();

const header = 'Date,Name,Year,Letterboxd URI,Rating,Rewatch,Review,Tags,Watched Date';
const row = (name: string, rating = '4', review = '', year = '1927') =>
  `2024-03-02,${name},${year},https://boxd.it/2a,${rating},,"${review}",,2024-03-01`;
const fileOf = (...rows: string[]) => [header, ...rows].join('\r\n');

/** An account that is old enough to name any number of things. */
const makeMember = () => makeUser({ created: '2026-01-01T12:00:00.000Z' });

const choices = {
  decision: 'bring',
  as: 'public',
  halves: 'up',
  language: 'de',
  license_choice: 'CC0 1.0',
};

const send = (person: Person, file: string, more = {}) =>
  ask('send-file', person, { form: { file, entity_type: '', ...more } });
const show = async (person: Person, slot = '1', query = {}) =>
  ask('show-file', person, { path: { slot }, query });
const decide = (person: Person, form: Record<string, string>, slot = '1') =>
  ask('decide-file', person, { path: { slot }, form });

/** Sends a file, and waits until it is looked up. */
async function sendWhole(person: Person, file: string, more = {}) {
  const answer = await send(person, file, more);
  expect(answer).toHaveStatus(303);
  await applyStream();
  return show(person);
}

/** Brings a file, and waits until it is done. */
async function bring(person: Person, file: string, more = {}) {
  await sendWhole(person, file);
  expect(await decide(person, { ...choices, ...more })).toHaveStatus(303);
  await applyStream();
  return show(person);
}

/** The numbers of rows on the page, by their words. */
function numbersOn(html: string): Record<string, number> {
  const rows = html.matchAll(/<td data-name="What">(.*?)<\/td><td data-name="Rows">(\d+)/g);
  return Object.fromEntries([...rows].map(([, what = '', rows]) => [what, Number(rows)]));
}

/** The rows on the page that were left out: the line, and why. */
function leftOutOn(html: string): [string | undefined, string | undefined][] {
  const rows = html.matchAll(/<td data-name="Line">(.*?)<\/td><td data-name="Why">(.*?)<\/td>/g);
  return [...rows].map(([, line, why]) => [line, why]);
}

const ownOf = async (person: Person) => (await person.listsOwnReviews()).body.reviews;

describe('POST /account/files', () => {
  test('shows what a file has before anything is published', async () => {
    const ann = await makeMember();
    const { entity } = await addFilm(ann, 'Metropolis', { about: 'Fritz Lang · 1927' });
    await addFilm(ann, 'Solaris', { about: '1972' });
    await addFilm(ann, 'Twin', { about: 'one' });
    await addFilm(ann, 'Twin', { about: 'other', same_as: 'other' });
    const own = await addFilm(ann, 'Stalker', { about: '1979' });
    await applyStream();
    await ann.publishes({ ...own.entity });
    const { html } = await sendWhole(
      ann,
      fileOf(
        row('METROPOLIS'),
        row('Solaris', '3', '', '2002'),
        row('Twin'),
        row('Stalker', '5', '', '1979'),
        row('See www.example.org'),
        row('Broken', 'ten'),
        row('To be seen', ''),
      ),
    );
    expect(numbersOn(html)).toEqual({
      'Film that is here: ready to be brought': 1,
      // Another year is another film.
      'Film that is not here yet: it will be added': 1,
      'Left out: you have a review of it, or the file has it twice': 1,
      'Left out: no Film of this name is here, or several are': 2,
      'Left out: the row cannot be read': 1,
      'Left out: it has neither stars nor a text': 1,
    });
    expect(leftOutOn(html)).toEqual([
      ['4', '2 things here have this name'],
      ['5', 'You have a review of it'],
      ['6', 'The name must not contain an address of a website'],
      ['7', 'It has the rating “ten”, which is not a number of stars up to 5'],
    ]);
    expect(html).toContain('>Bring 2 reviews</button>');
    expect((await visitor.lists({ entity_id: entity.entity_id })).body.count).toBe(0);
    await expectExact();
  });

  test.each([
    ['nothing', '', 'Please choose a file'],
    [
      'another table',
      'id,title,stars\n1,2,3',
      'Its columns are: id, title, stars. Taken are exports of Letterboxd (reviews.csv, ratings.csv or diary.csv), Goodreads (goodreads_library_export.csv), StoryGraph',
    ],
    [
      'what was seen',
      'Date,Name,Year,Letterboxd URI\n1,2,3,4',
      'Its columns are: Date, Name, Year',
    ],
    ['another encoding', `${header}\nM\ufffdtropolis`, 'not UTF-8'],
    ['5,001 rows', fileOf(...Array.from({ length: 5_001 }, (_, i) => row(`${i}`))), '5,000 rows'],
    ['more than 4 MB', `${header}\n${'x'.repeat(4 * 1024 * 1024)}`, 'more than 4 MB'],
  ])('refuses a file with %s', async (_, file, words) => {
    const answer = await send(await makeMember(), file);
    expect(answer).toHaveStatus(400);
    expect(faultsOn(answer.shown).file).toContain(words);
  });

  test('asks for the type where the service has none for the site', async () => {
    const ann = await makeMember();
    const books = 'Title,Authors,Read Status,Star Rating,Review\nEmma,Jane Austen,read,4,';
    expect(await sendWhole(ann, books)).toHaveStatus(200);
    expect(await getItem(fileKey(ann.id, 1))).toMatchObject({ entity_type: 'bk_literary_work' });
    await send(ann, books, { entity_type: 'board_game' });
    expect(await getItem(fileKey(ann.id, 2))).toMatchObject({ entity_type: 'board_game' });
    expect(await send(ann, books, { entity_type: 'hat' })).toHaveStatus(400);
  });

  test('takes three files in 24 hours, at once as well, and then replaces the oldest', async () => {
    const ann = await makeMember();
    const file = fileOf(row('Any'));
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => send(ann, file)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 303, 303, 403, 403]);
    await applyStream();
    const form = await pageFor('show-files', ann);
    expect(form).toContain('You may bring 3 files in 24 hours');
    const before = await getItem(fileKey(ann.id, 2));
    const created = new Date(Date.now() - 86_460_000).toISOString();
    await setAttributes(fileKey(ann.id, 2), { created });
    expect((await send(ann, file)).headers.location).toMatch(/\/account\/files\/2$/);
    expect(await getItem(rowsKey(ann.id, `${before?.id}`, 0))).toBeUndefined();
    expect(await send(ann, file)).toHaveStatus(403);
  });

  test('is for the person alone', async () => {
    const ann = await makeMember();
    const ben = await makeMember();
    await sendWhole(ann, fileOf(row('Hers')));
    expect(await show(ben)).toHaveStatus(404);
    expect(await decide(ben, choices)).toHaveStatus(404);
    expect(await show(ann, '4')).toHaveStatus(404);
  });
});

describe('POST /account/files/{slot}', () => {
  test('publishes reviews with stars, texts and dates, and adds what is missing', async () => {
    const ann = await makeMember();
    const ben = await makeMember();
    const { entity } = await addFilm(ben, 'Nosferatu', { about: '1927' });
    await applyStream();
    const { html } = await bring(
      ann,
      fileOf(
        row('Nosferatu', '4.5', text),
        row('Solaris', '0.5', '', '1972'),
        row('Short', '3', 'tiny'),
      ),
    );
    expect(numbersOn(html)).toEqual({ Published: 3 });
    expect(leftOutOn(html)).toEqual([
      ['4', 'Only the stars: the text must have 25 to 5000 characters, not 4'],
    ]);
    const [review] = (await visitor.lists({ entity_id: entity.entity_id })).body.reviews;
    expect(review).toMatchObject({
      text: `${text}\n\nLetterboxd, 2024-03-01`,
      rating: 5,
      language: 'de',
      license: { id: 'CC0 1.0' },
      source: null,
    });
    const all = (await visitor.lists({ user_id: ann.id, include_metadata: 'true' })).body.reviews;
    const named = all.map(({ metadata, rating }: Record<string, { name: string }>) => [
      metadata?.name,
      rating,
    ]);
    expect(named.toSorted()).toEqual([
      ['Nosferatu', 5],
      ['Short', 3],
      ['Solaris', 1],
    ]);
    await expectExact();
  });

  test.each([
    ['up', [1, 4, 4, 3, 5]],
    ['down', [1, 3, 4, 3, 5]],
  ])('rounds half stars %s, and quarters to the nearest', async (halves, expected) => {
    const ann = await makeMember();
    const stars = ['0.5', '3.5', '3.75', '3.25', '4.75'];
    await bring(ann, fileOf(...stars.map((each, i) => row(`Star ${i}`, each))), { halves });
    const reviews: { rating: number }[] = await ownOf(ann);
    expect(reviews.map(({ rating }) => rating).toSorted()).toEqual(expected.toSorted());
  });

  test('keeps drafts, which others never see', async () => {
    const ann = await makeMember();
    const { html } = await bring(ann, fileOf(row('Mine')), { as: 'drafts' });
    expect(numbersOn(html)).toEqual({ 'Saved as a draft': 1 });
    expect(await ownOf(ann)).toMatchObject([{ is_draft: true, rating: 4 }]);
    expect((await visitor.lists({ user_id: ann.id })).body.count).toBe(0);
  });

  test('holds the reviews of a newcomer, and the names with them', async () => {
    process.env.HELD_REVIEWS = '3';
    const ann = await makeMember();
    const { html } = await bring(ann, fileOf(row('Held', '4', text), row('Too')));
    const words = 'Waiting for a moderator, who looks at the first reviews of everybody new';
    expect(numbersOn(html)).toEqual({ [words]: 2 });
    expect((await visitor.lists({ user_id: ann.id })).body.count).toBe(0);
    // The names wait as well. The same file adds nothing twice.
    await send(ann, fileOf(row('Held', '5', text)));
    await applyStream();
    const again = await show(ann, '2');
    expect(numbersOn(again.html)).toEqual({
      'Left out: you have a review of it, or the file has it twice': 1,
    });
  });

  test('adds ten things a day for an account of the last seven days, and says so before', async () => {
    const ann = await makeUser();
    const file = fileOf(...Array.from({ length: 30 }, (_, i) => row(`New ${i}`)));
    const { html } = await sendWhole(ann, file);
    expect(html).toContain('In its first 7 days an account may name 10 things a day (UTC)');
    await decide(ann, choices);
    await applyStream();
    expect(numbersOn((await show(ann)).html)).toEqual({
      Published: 10,
      'Left out: it was refused': 20,
    });
  });

  test('does not count as publications of the day', async () => {
    process.env.PUBLICATIONS_PER_DAY = '1';
    const ann = await makeMember();
    await addFilm(await makeMember(), 'Here', { about: '1927' });
    await applyStream();
    const { html } = await bring(ann, fileOf(row('Here'), row('One'), row('Two')));
    expect(numbersOn(html)).toEqual({ Published: 3 });
    await ann.publishes();
  });

  test('leaves out what the person has reviewed since it was looked up', async () => {
    const ann = await makeMember();
    const { entity } = await addFilm(ann, 'Since', { about: '1927' });
    await applyStream();
    await sendWhole(ann, fileOf(row('Since')));
    const id = await ann.publishes({ ...entity, rating: 1 });
    await decide(ann, choices);
    await applyStream();
    expect(numbersOn((await show(ann)).html)).toEqual({
      'Left out: you have a review of it, or the file has it twice': 1,
    });
    expect((await visitor.reads(id)).body.review.rating).toBe(1);
  });

  test('begins once, by a form that is sent twice, and only at its stage', async () => {
    const ann = await makeMember();
    await sendWhole(ann, fileOf(row('Once')));
    expect(await decide(ann, { decision: 'undo' })).toHaveStatus(409);
    const answers = await Promise.all([1, 2, 3].map(() => decide(ann, choices)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(noticeOn((await show(ann)).shown)).toBeUndefined();
    await applyStream();
    expect(numbersOn((await show(ann)).html)).toEqual({ Published: 1 });
    expect(await decide(ann, { ...choices, halves: 'sideways' })).toHaveStatus(400);
  });

  test('is repeated by a step that was killed, and makes nothing twice', async () => {
    const ann = await makeMember();
    await sendWhole(ann, fileOf(...Array.from({ length: 60 }, (_, i) => row(`Kill ${i}`, '4.5'))));
    await decide(ann, choices);
    const before = await getItem(fileKey(ann.id, 1));
    const rows = await getItem(rowsKey(ann.id, `${before?.id}`, 0));
    const Keys = { pk: { S: `USER#${ann.id}` }, sk: { S: 'FILE#1' } };
    const NewImage = {
      task: { S: 'bring' },
      slot: { N: '1' },
      version: { N: `${before?.version}` },
    };
    const record = { eventName: 'MODIFY', dynamodb: { Keys, NewImage } } as const;
    await eraser({ Records: [record] });
    expect(await getItem(fileKey(ann.id, 1))).toMatchObject({ next: expect.any(Number) });
    // As if it had been killed before its last write, with all reviews of the part stored.
    const { pk: _, sk: __, ...head } = before ?? {};
    await setAttributes(fileKey(ann.id, 1), head);
    await setAttributes(rowsKey(ann.id, `${before?.id}`, 0), { rows: rows?.rows });
    await eraser({ Records: [record] });
    await applyStream();
    expect(numbersOn((await show(ann)).html)).toEqual({ Published: 60 });
    expect((await visitor.lists({ user_id: ann.id, limit: '0' })).body.count).toBe(60);
    // A record of an earlier step does nothing.
    await eraser({ Records: [record] });
    await expectExact();
  });

  test('shows how far it is, and continues what has stopped', async () => {
    const ann = await makeMember();
    await applyStream();
    await send(ann, fileOf(row('Stopped')));
    // The record of its step is lost, as by a restore.
    await readStream();
    const { html } = await show(ann);
    expect(textIn(html)).toContain('0 %');
    expect(html).not.toContain('>Continue</button>');
    await setAttributes(fileKey(ann.id, 1), { updated_at: '2026-01-01T12:00:00.000Z' });
    expect((await show(ann)).html).toContain('>Continue</button>');
    expect(await decide(ann, { decision: 'continue' })).toHaveStatus(303);
    await applyStream();
    expect((await show(ann)).html).toContain('>Bring 1 review</button>');
  });
});

describe('the undoing of a file', () => {
  test('deletes what nobody has touched since, and says what stays', async () => {
    const ann = await makeMember();
    const ben = await makeMember();
    const names = ['Plain', 'Edited', 'Voted', 'Hidden', 'Gone'];
    await bring(ann, fileOf(...names.map((name) => row(name, '4', text))));
    const all = (await visitor.lists({ user_id: ann.id, include_metadata: 'true' })).body.reviews;
    const idOf = (name: string): string =>
      all.find(({ metadata }: { metadata: { name: string } }) => metadata.name === name).id;
    await ann.edits(idOf('Edited'), { rating: 1 });
    await ben.votes(idOf('Voted'));
    await setHidden(idOf('Hidden'), true);
    await ann.deletes(idOf('Gone'));
    expect(await decide(ann, { decision: 'undo' })).toHaveStatus(303);
    await applyStream();
    const { html } = await show(ann);
    expect(numbersOn(html)).toEqual({ Published: 3, 'Deleted again': 2 });
    expect(leftOutOn(html)).toEqual([
      ['3', 'It stays, because you have edited it'],
      ['4', 'It stays, because it has votes'],
      ['5', 'It stays, because a moderator has hidden it'],
    ]);
    expect(await visitor.reads(idOf('Plain'))).toHaveStatus(404);
    expect((await visitor.lists({ user_id: ann.id })).body.count).toBe(2);
    await expectExact();
  });

  test('deletes drafts, but for those that were published', async () => {
    const ann = await makeMember();
    await bring(ann, fileOf(row('Draft'), row('Later')), { as: 'drafts' });
    const [{ id }] = await ownOf(ann);
    await ann.edits(id, { is_draft: false });
    await decide(ann, { decision: 'undo' });
    await applyStream();
    expect((await ownOf(ann)).map((review: { id: string }) => review.id)).toEqual([id]);
    await expectExact();
  });
});

describe('a file', () => {
  test('is erased with its account, also in the middle of its work', async () => {
    const ann = await makeMember();
    await sendWhole(ann, fileOf(...Array.from({ length: 60 }, (_, i) => row(`Leave ${i}`))));
    await decide(ann, choices);
    await ann.leaves();
    await applyStream();
    const items = await scanTable();
    expect(items.filter(({ pk }) => pk.includes(ann.id) && !pk.startsWith('REVIEW'))).toEqual([
      expect.objectContaining({ sk: 'PROJECTION' }),
    ]);
    expect(items.filter(({ user_id }) => user_id === ann.id)).toEqual([]);
  });

  test('is in the own data with all of its rows', async () => {
    const ann = await makeMember();
    await sendWhole(ann, fileOf(row('Exported', '3.5', text), row('Broken', 'ten')));
    const { brought } = (await ann.exports()).body;
    expect(brought).toEqual([
      {
        line: 2,
        state: 'new',
        title: 'Exported',
        year: '1927',
        stars: '3.5',
        text,
        date: '2024-03-01',
        entity_id: expect.any(String),
      },
      { line: 3, state: 'bad', title: 'Broken', why: expect.stringContaining('ten') },
    ]);
  });

  test('is not asked of a blocked account', async () => {
    const ann = await makeMember();
    await decideUser(ann.id, 'block', operator);
    expect(await pageFor('show-files', ann)).not.toContain('type="file"');
  });
});
