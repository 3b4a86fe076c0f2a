import { randomUUID } from 'node:crypto';
import { decideCase, seenOf } from '../helpers/cases.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import { makeModerator, makeUser, type Person, text, visitor } from '../helpers/world.ts';

const mia = await makeModerator('Mia');

beforeEach(() => {
  process.env.HELD_REVIEWS = '2';
});

/** Publishes a review by the form of the pages. Returns its id and the next page. */
async function publishOnPage(author: Person) {
  const query = { entity_id: randomUUID(), entity_type: 'work' };
  const form = { name: 'Blue', text, rating: '4', language: 'en', license_choice: 'CC0 1.0' };
  const { headers } = await ask('publish-review', author, { query, form });
  const { body } = await author.listsOwnReviews();
  return { id: body.reviews[0].id as string, location: headers.location };
}

test('pages say to a newcomer that the review waits, and to moderators that they decide', async () => {
  const author = await makeUser({ display_name: 'Nora' });
  const { id, location } = await publishOnPage(author);
  expect(location).toBe('https://api.example/ws/account/reviews');
  const path = { review_id: id };
  const own = await pageFor('show-my-reviews', author);
  expect(own).toContain('Waits for a moderator');
  expect(own).toContain('Nobody else can see it until then.');
  expect(own).not.toContain('/appeal"');
  expect(await pageFor('show-review-editor', author, { path })).toContain(
    'This review waits for a moderator.',
  );
  const deletion = await pageFor('show-review-deletion', author, { path });
  expect(deletion).not.toContain('A moderator has hidden this review');
  const queue = await pageFor('show-cases', mia, { query: { kind: 'held' } });
  expect(queue).toContain(`/account/moderation/reviews/${id}"`);
  expect(queue).toContain('Waits for approval');
  const spam = await ask('show-cases', mia, { query: { reason: 'spam' } });
  expect(spam.html).not.toContain(id);
  const page = await pageFor('show-case', mia, { path });
  expect(page).toContain('value="approve"');
  expect(page).toContain('Refuse the review');
  expect(page).not.toContain('Make it public again');
  expect(page).not.toContain('Decided last');
  expect(await decideCase(mia, id, { decision: 'approve' })).toHaveStatus(303);
  expect(await visitor.reads(id)).toHaveStatus(200);
  expect(await pageFor('show-my-reviews', author)).toContain('<p class="soft">Public · ');
  expect(await pageFor('show-account', author)).toContain('<h3>Approved</h3>');
});

test('a refusal needs a reason, and the author reads it and can appeal', async () => {
  const author = await makeUser();
  const { id } = await publishOnPage(author);
  expect(await decideCase(mia, id, { decision: 'hide', reason: '' })).toHaveStatus(400);
  await decideCase(mia, id, { decision: 'hide', reason: 'spam', note: 'A shop.' });
  const own = await pageFor('show-my-reviews', author);
  expect(own).toContain('Hidden: spam');
  expect(own).toContain(`/account/reviews/${id}/appeal"`);
});

test('an edit that the moderator has not seen keeps the review waiting', async () => {
  const author = await makeUser();
  const { id } = await publishOnPage(author);
  const seen = await seenOf(mia, id);
  await author.edits(id, { rating: 1 });
  expect(await decideCase(mia, id, { decision: 'approve' }, seen)).toHaveStatus(400);
  expect(await visitor.reads(id)).toHaveStatus(404);
});

/** Publishes a review that is approved, and opens its form. */
async function openApproved(author: Person) {
  const { id } = await publishOnPage(author);
  await decideCase(mia, id, { decision: 'approve' });
  const path = { review_id: id };
  const opened = await pageFor('show-review-editor', author, { path });
  const revision = /name="revision" value="([^"]+)"/.exec(opened)?.[1] ?? '';
  return { id, path, revision };
}

test('pages show an edit that waits to its author and to moderators, and both texts on the desk', async () => {
  const author = await makeUser({ display_name: 'Nora' });
  const { id, path, revision } = await openApproved(author);
  const added = 'A text that is new, and that nobody has looked at yet.';
  const form = { text: added, rating: '4', revision };
  const answer = await ask('save-review', author, { path, form });
  expect(answer.headers.location).toBe(`https://api.example/ws/review/${id}`);
  expect(answer.headers['set-cookie'] ?? JSON.stringify(answer)).toContain('edit-held');
  // The form sent twice is no conflict.
  expect(await ask('save-review', author, { path, form })).toHaveStatus(303);
  const [own, editor, publicly] = await Promise.all([
    ask('show-my-reviews', author),
    ask('show-review-editor', author, { path }),
    ask('show-review', author, { path }),
  ]);
  expect(own.html).toContain('Public, an edit waits for a moderator');
  expect(editor.html).toContain('Your new text waits for a moderator.');
  expect(editor.html).toContain(`${added}</textarea>`);
  expect(publicly.html).not.toContain(added);
  const queue = await pageFor('show-cases', mia, { query: { kind: 'held' } });
  expect(queue).toContain('An edit waits for approval');
  const desk = await pageFor('show-case', mia, { path });
  expect(desk).toContain(text.trim());
  expect(desk).toContain(added);
  expect(desk).toContain('>Approve the new text<');
  expect(desk).toContain('>Refuse the new text<');
  expect(desk).not.toContain('Dismiss the reports');
  const refusal = { decision: 'refuse', reason: 'spam', note: 'A <shop>.' };
  expect(await decideCase(mia, id, refusal)).toHaveStatus(303);
  const after = await pageFor('show-my-reviews', author);
  expect(after).toContain('Edit refused: spam');
  expect(after).toContain('A &lt;shop&gt;.');
  const account = await pageFor('show-account', author);
  expect(account).toContain('A moderator has refused an edit of yours.');
  expect(await pageFor('show-review-editor', author, { path })).not.toContain(added);
});

test('an edit of text and stars that is sent twice has its stars at once, and no conflict', async () => {
  const author = await makeUser();
  const { id, path, revision } = await openApproved(author);
  const form = { text: `${text.trim()} And more.`, rating: '1', revision };
  for (let i = 0; i < 2; i++) {
    expect(await ask('save-review', author, { path, form })).toHaveStatus(303);
  }
  expect(await visitor.sees(id)).toMatchObject({ rating: 1, text, edits: 1 });
});
