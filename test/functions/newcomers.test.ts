import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { caseKey, reviewKey } from '../../shared/table/keys.ts';
import { readItem } from '../helpers/items.ts';
import { ask } from '../helpers/visit.ts';
import { makeModerator, makeUser, type Person, text, visitor } from '../helpers/world.ts';

const mia = await makeModerator('Mia');

beforeEach(() => {
  process.env.HELD_REVIEWS = '2';
});

afterEach(() => {
  delete process.env.HELD_REVIEWS;
});

/** Publishes a review by the form of the pages. Returns its id and the next page. */
async function publishOnPage(author: Person) {
  const query = { entity_id: randomUUID(), entity_type: 'work' };
  const form = { name: 'Blue', text, rating: '4', language: 'en', license_choice: 'CC0 1.0' };
  const { headers } = await ask('publish-review', author, { query, form });
  const { body } = await author.listsOwnReviews();
  return { id: body.reviews[0].id as string, location: headers.location };
}

/** Decides by the form of the desk, on what the moderator has seen. */
async function decide(review_id: string, decision: string, why: Record<string, string>) {
  const version = `${(await readItem(caseKey(review_id)))?.version}`;
  const edits = `${(await readItem(reviewKey(review_id)))?.edits}`;
  const form = { decision, version, edits, ...why };
  return ask('decide-review', mia, { path: { review_id }, form });
}

test('pages say to a newcomer that the review waits, and to moderators that they decide', async () => {
  const author = await makeUser({ display_name: 'Nora' });
  const { id, location } = await publishOnPage(author);
  expect(location).toBe('https://api.example/ws/account/reviews');
  const path = { review_id: id };
  const own = await ask('show-my-reviews', author);
  expect(own.html).toContain('Waits for a moderator');
  expect(own.html).toContain('Nobody else can see it until then.');
  expect(own.html).not.toContain('/appeal"');
  expect((await ask('show-review-editor', author, { path })).html).toContain(
    'This review waits for a moderator.',
  );
  const deletion = await ask('show-review-deletion', author, { path });
  expect(deletion.html).not.toContain('A moderator has hidden this review');
  const queue = await ask('show-cases', mia, { query: { reason: 'held' } });
  expect(queue.html).toContain(`/account/moderation/reviews/${id}"`);
  expect(queue.html).toContain('Waits for approval');
  const spam = await ask('show-cases', mia, { query: { reason: 'spam' } });
  expect(spam.html).not.toContain(id);
  const page = await ask('show-case', mia, { path });
  expect(page.html).toContain('value="approve"');
  expect(page.html).toContain('Refuse the review');
  expect(page.html).not.toContain('Make it public again');
  expect(page.html).not.toContain('Decided last');
  const answer = await decide(id, 'approve', { reason: 'other', note: '' });
  expect(answer.status).toBe(303);
  expect((await visitor.reads(id)).status).toBe(200);
  expect((await ask('show-my-reviews', author)).html).toContain('>Public<');
  expect((await ask('show-account', author)).html).toContain('<h3>Approved</h3>');
});

test('a refusal needs a reason, and the author reads it and can appeal', async () => {
  const author = await makeUser();
  const { id } = await publishOnPage(author);
  expect((await decide(id, 'hide', { reason: '', note: '' })).status).toBe(400);
  await decide(id, 'hide', { reason: 'spam', note: 'A shop.' });
  const own = (await ask('show-my-reviews', author)).html;
  expect(own).toContain('Hidden: spam');
  expect(own).toContain(`/account/reviews/${id}/appeal"`);
});

test('an edit that the moderator has not seen keeps the review waiting', async () => {
  const author = await makeUser();
  const { id } = await publishOnPage(author);
  const version = `${(await readItem(caseKey(id)))?.version}`;
  await author.edits(id, { rating: 1 });
  const form = { decision: 'approve', version, edits: '0', reason: 'other', note: '' };
  const answer = await ask('decide-review', mia, { path: { review_id: id }, form });
  expect(answer.status).toBe(400);
  expect((await visitor.reads(id)).status).toBe(404);
});
