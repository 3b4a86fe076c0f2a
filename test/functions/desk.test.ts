/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import { readRecord } from '../../shared/core/entity/record.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { stopClock } from '../helpers/clock.ts';
import { readItem } from '../helpers/items.ts';
import { filledForm } from '../helpers/review-form.ts';
import { applyStream } from '../helpers/stream.ts';
import { addFilm } from '../helpers/things.ts';
import { ask, pageFor, pagesOf } from '../helpers/visit.ts';
import { makeModerator, makeUser, type Person, visitor } from '../helpers/world.ts';

// The desk after the first evening of a club whose members are all new.

const mia = await makeModerator('Mia');

beforeEach(() => {
  process.env.HELD_REVIEWS = '1';
});

/** Adds a film with a review, by the form. */
async function addAndReview(author: Person, name: string) {
  const entity = { entity_id: randomUUID(), entity_type: 'film' };
  const form = { ...filledForm(), ...entity, name, review: 'publish' };
  expect(await ask('add-entity', author, { form })).toHaveStatus(303);
  const { body } = await author.listsOwnReviews();
  const own = body.reviews.find(
    (each: { entity_id: string }) => each.entity_id === entity.entity_id,
  );
  return { ...entity, id: own.id as string };
}

/** Returns the rows of the desk with this text. */
async function rowsWith(text: string, query: Record<string, string> = {}): Promise<string[]> {
  const rows: string[] = [];
  for await (const { html } of pagesOf('show-cases', mia, query)) {
    rows.push(...(html.match(/<tr>[\s\S]*?<\/tr>/g) ?? []).filter((row) => row.includes(text)));
  }
  return rows;
}

/** Presses a button of a row. */
async function press(row: string, button: 'approve' | 'approve_all') {
  const forms = row.match(/<form [\s\S]*?<\/form>/g) ?? [];
  const form = forms.find((each) => each.includes(`value="${button}"`)) ?? '';
  const [, where = '', id = ''] = /action="[^"]*\/(reviews|users)\/([^"]*)"/.exec(form) ?? [];
  const fields = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
    .filter(([, name]) => name !== 'csrf')
    .map(([, name, value]) => [name, value]);
  return ask(where === 'users' ? 'decide-user' : 'decide-review', mia, {
    path: where === 'users' ? { user_id: id } : { review_id: id },
    form: { ...Object.fromEntries(fields), decision: button },
  });
}

const stateOf = async (id: string) => (await readItem(reviewKey(id)))?.is_hidden;

test('a review and the name that waits with it are one row, which approves both', async () => {
  const dora = await makeUser({ display_name: 'Dora' });
  const film = await addAndReview(dora, 'Sátántangó');
  const { entity: alone } = await addFilm(await makeUser(), 'Werckmeister');
  const rows = await rowsWith('Sátántangó');
  expect(rows).toHaveLength(1);
  expect(rows[0]).toContain('Waits for approval, with a new name');
  expect(await rowsWith('Sátántangó', { kind: 'name' })).toEqual([]);
  // A name without a review has its own row.
  expect(await rowsWith('Werckmeister', { kind: 'name' })).toHaveLength(1);
  const { status, headers } = await press(`${rows[0]}`, 'approve');
  expect([status, headers.location]).toEqual([303, 'https://api.example/ws/account/moderation']);
  expect(await visitor.reads(film.id)).toHaveStatus(200);
  expect((await readRecord(film as never))?.state).toBeUndefined();
  expect((await readRecord(alone))?.state).toBe('waiting');
  expect(await rowsWith('Sátántangó')).toEqual([]);
});

test('what an author wrote meanwhile is released with the first approval, and names too', async () => {
  const dora = await makeUser({ display_name: 'Dora Two' });
  const first = await addAndReview(dora, 'Film A of Dora');
  const second = await addAndReview(dora, 'Film B of Dora');
  const { entity } = await addFilm(dora, 'Film C of Dora');
  const [row = ''] = await rowsWith(first.id);
  await press(row, 'approve');
  expect([await stateOf(first.id), await stateOf(second.id)]).toEqual([false, false]);
  expect((await readRecord(entity))?.state).toBeUndefined();
  await applyStream();
  expect(await rowsWith('of Dora')).toEqual([]);
});

test('nothing is released while the author needs more approved reviews', async () => {
  process.env.HELD_REVIEWS = '3';
  const dora = await makeUser({ display_name: 'Dora Three' });
  const first = await dora.publishes();
  const second = await dora.publishes();
  const [row = ''] = await rowsWith(first);
  await press(row, 'approve');
  expect([await stateOf(first), await stateOf(second)]).toEqual([false, true]);
});

test('all of an author is approved at once, but for what came after the page', async () => {
  process.env.HELD_REVIEWS = '9';
  const dora = await makeUser({ display_name: 'Dora Four' });
  const ids = [await dora.publishes(), await dora.publishes(), await dora.publishes()];
  const [row = ''] = await rowsWith(ids[0] as string);
  stopClock(Date.now() + 1_000);
  const later = await dora.publishes();
  const until = /name="until" value="([^"]*)"/.exec(row)?.[1] ?? '';
  expect(Date.parse(until)).toBeGreaterThan(0);
  const { status } = await press(row, 'approve_all');
  expect(status).toBe(303);
  for (const id of ids) expect(await stateOf(id)).toBe(false);
  expect(await stateOf(later)).toBe(true);
});

test('an edit after the page was shown is not approved by its row', async () => {
  process.env.HELD_REVIEWS = '9';
  const dora = await makeUser();
  const id = await dora.publishes();
  const [row = ''] = await rowsWith(id);
  await dora.edits(id, { text: 'Something else that nobody has read so far.' });
  const { status } = await press(row, 'approve');
  expect(status).toBe(400);
  expect(await stateOf(id)).toBe(true);
});

test('moderators approve nothing of their own', async () => {
  const html = await pageFor('show-author', mia, { path: { user_id: mia.id } });
  expect(html).not.toContain('Approve all');
});
