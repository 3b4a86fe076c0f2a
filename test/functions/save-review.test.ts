import { gzipSync } from 'node:zlib';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { contentOf, faultsOn, noticeOn } from '../helpers/browser.ts';
import type { TestResponse } from '../helpers/invoke.ts';
import { chosenIn, ownForm } from '../helpers/review-form.ts';
import { ask } from '../helpers/visit.ts';
import { makeUser, operator, type Person, text, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const other = 'Another text of the same review, long enough to be one.';

const show = (user: Person, review_id: string) =>
  ask('show-review-editor', user, { path: { review_id } });
const save = (user: Person, review_id: string, form: Record<string, string>, headers = {}) =>
  ask('save-review', user, { path: { review_id }, form, headers });

/** The tag of the revision that the page of the form shows. */
async function revisionOf(user: Person, review_id: string): Promise<string> {
  return contentOf((await show(user, review_id)).shown, 'revision') ?? '';
}

/** The notice on the page of the review, after an answer. */
async function noticeAfter({ headers }: TestResponse, user: Person, review_id: string) {
  const [cookie] = (headers['set-cookie'] ?? '').split(';');
  return noticeOn((await ask('show-review', user, { path: { review_id }, cookie })).shown);
}

const stored = async (id: string) => await visitor.sees(id);

describe('/review/{review_id}/edit', () => {
  test('shows the review as it is, and saves a change as a revision', async () => {
    const user = await makeUser();
    const id = await user.publishes({ language: 'ja' });
    const { status, html, shown } = await show(user, id);
    expect(status).toBe(200);
    expect(contentOf(shown, 'text')).toBe(text);
    expect(html).toContain('id="rating-4" name="rating" value="4" checked');
    expect(html).toContain('In Japanese, under the licence CC BY-SA 3.0.');
    expect(html).not.toContain('name="is_draft"');
    expect(gzipSync(html).length).toBeLessThan(30 * 1024);
    const revision = contentOf(shown, 'revision') ?? '';
    const answer = await save(user, id, { text: other, rating: '2', revision });
    expect([answer.status, answer.headers.location]).toEqual([303, `${at}/review/${id}`]);
    expect(await stored(id)).toMatchObject({ text: other, rating: 2, edits: 1 });
    expect(await noticeAfter(answer, user, id)).toBe('Your review is saved.');
  });

  test.each([
    ['CRLF', 'The first line of a longer text.\r\nAnd the second.\r\n'],
    ['CR', 'The first line of a longer text.\rAnd the second.'],
    ['controls', 'Some \u0085text\u0008 with controls, \ufffe which no form shows.'],
  ])('adds no revision to a text with %s that is saved as it was shown', async (_, sent) => {
    const user = await makeUser();
    const id = await user.publishes({ text: sent });
    const { shown } = await show(user, id);
    // A form sends each line end as CRLF.
    const form = `${contentOf(shown, 'text')}`.replaceAll(/\r\n?|\n/g, '\r\n');
    const revision = contentOf(shown, 'revision') ?? '';
    expect(await save(user, id, { text: form, rating: '4', revision })).toHaveStatus(303);
    expect(await stored(id)).toMatchObject({ text: sent, edits: 0 });
    expect(await save(user, id, { text: form, rating: '5', revision })).toHaveStatus(303);
    // The rating alone has changed, also if the form is sent twice.
    expect(await save(user, id, { text: form, rating: '5', revision })).toHaveStatus(303);
    expect(await stored(id)).toMatchObject({ text: sent, rating: 5, edits: 1 });
  });

  test('shows both texts where another tab was faster, and replaces with the next press', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    const revision = await revisionOf(user, id);
    await user.edits(id, { text: other });
    const mine = `${'🎷'.repeat(4_999)}x`;
    const { status, html, shown } = await save(user, id, { text: mine, rating: '4', revision });
    expect(status).toBe(412);
    expect(faultsOn(shown)['']).toContain('saved elsewhere after you opened this page');
    expect(contentOf(shown, 'text')).toBe(mine);
    expect(html).toContain(`<div class="review verbatim" lang="en" dir="auto">${other}</div>`);
    expect((await stored(id)).text).toBe(other);
    const renewed = contentOf(shown, 'revision') ?? '';
    const next = await save(user, id, { text: mine, rating: '4', revision: renewed });
    expect(next).toHaveStatus(303);
    expect((await stored(id)).text).toBe(mine);
  });

  test.each([
    ['the text', { text: other, rating: '4' }],
    ['the stars', { text, rating: '2' }],
    ['the stars away', { text, rating: '' }],
  ])('does not take a form that changes %s for one that was sent twice', async (_, mine) => {
    const user = await makeUser();
    const id = await user.publishes();
    const revision = await revisionOf(user, id);
    await user.edits(id, { text: `${other} Elsewhere.` });
    await user.edits(id, { text });
    const { status, html, shown } = await save(user, id, { ...mine, revision });
    expect(status).toBe(412);
    expect(html).toContain('<h2>The saved review</h2>');
    expect(contentOf(shown, 'text')).toBe(mine.text);
    expect(chosenIn(html, 'rating')).toBe(mine.rating);
    expect(await stored(id)).toMatchObject({ text, rating: 4 });
  });

  test('makes one revision of a form that is sent ten times at once', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    const form = { text: other, rating: '4', revision: await revisionOf(user, id) };
    const answers = await Promise.all(Array.from({ length: 10 }, () => save(user, id, form)));
    const ways = answers.map(({ status, headers }) => `${status} ${headers.location}`);
    expect(new Set(ways)).toEqual(new Set([`303 ${at}/review/${id}`]));
    expect((await stored(id)).edits).toBe(1);
  });

  test('saves a draft, publishes it, and makes no draft of it again', async () => {
    const user = await makeUser();
    const id = await user.publishes({ is_draft: true });
    const revision = await revisionOf(user, id);
    const draft = { text: other, rating: '', is_draft: 'yes' };
    const saved = await save(user, id, { ...draft, revision });
    expect(saved.headers.location).toBe(`${at}/review/${id}/edit`);
    expect(await visitor.reads(id)).toHaveStatus(404);
    const renewed = await revisionOf(user, id);
    const published = await save(user, id, { ...draft, is_draft: 'no', revision: renewed });
    expect(published.headers.location).toBe(`${at}/review/${id}`);
    expect(await noticeAfter(published, user, id)).toBe('Your review is public.');
    expect(await stored(id)).toMatchObject({ text: other, rating: null });
    const late = await save(user, id, { ...draft, text: `${other} More.`, revision: renewed });
    expect(late).toHaveStatus(400);
    expect(faultsOn(late.shown)).toEqual({
      '': 'is_draft must be false: a published review cannot become a draft again.',
    });
    expect(contentOf(late.shown, 'text')).toBe(`${other} More.`);
    expect((await stored(id)).text).toBe(other);
  });

  test('refuses what the API refuses with the same sentence, and keeps what was typed', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    const revision = await revisionOf(user, id);
    const nothing = await save(user, id, { text: '', rating: '', revision });
    expect(nothing).toHaveStatus(400);
    expect(faultsOn(nothing.shown)).toEqual({ '': 'Give stars, write a text, or both.' });
    const short = await save(user, id, { text: '\u202e <', rating: '4', revision });
    expect(faultsOn(short.shown).text).toBe('It must have 25 to 5000 characters.');
    expect(contentOf(short.shown, 'text')).toBe('\u202e <');
    expect((await stored(id)).edits).toBe(0);
  });

  test('warns the author of a hidden review, and links to the appeal', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    await setHidden(id, true);
    const { html, shown } = await show(user, id);
    expect(html).toContain('A moderator has hidden this review.');
    expect(html).toContain(`<a href="${at}/account/reviews">See the reason, or appeal</a>`);
    const revision = contentOf(shown, 'revision') ?? '';
    const saved = await save(user, id, { text: other, rating: '', revision });
    expect(saved.headers.location).toBe(`${at}/account/reviews`);
    expect(await visitor.reads(id)).toHaveStatus(404);
  });

  test('says why to a blocked account, with the text to copy', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    const revision = await revisionOf(user, id);
    await decideUser(user.id, 'block', operator);
    const why = 'A moderator has blocked this account: it can read and be deleted, but not write.';
    expect((await show(user, id)).html).toContain(why);
    const answer = await save(user, id, { text: other, rating: '', revision }, ownForm);
    expect(answer).toHaveStatus(403);
    expect(answer.body).toContain(why);
    expect(contentOf(answer.shown, 'text')).toBe(other);
  });

  test('gives back the text of a review that was deleted meanwhile', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    const revision = await revisionOf(user, id);
    await user.deletes(id);
    const answer = await save(user, id, { text: other, rating: '', revision }, ownForm);
    expect(answer).toHaveStatus(404);
    expect(answer.body).toContain('<h1>Review not found</h1>');
    expect(contentOf(answer.shown, 'text')).toBe(other);
  });

  test('saves nothing of a review of others', async () => {
    const others = await (await makeUser()).publishes();
    const revision = (await visitor.reads(others)).headers.etag?.slice(1, 12) ?? '';
    const form = { text: other, rating: '4', revision };
    expect(await save(await makeUser(), others, form)).toHaveStatus(404);
    expect((await stored(others)).text).toBe(text);
  });
});

describe('/review/{review_id}/delete', () => {
  const show = (user: Person, review_id: string) =>
    ask('show-review-deletion', user, { path: { review_id } });
  const confirm = (user: Person, review_id: string) =>
    ask('confirm-review-deletion', user, { path: { review_id } });

  test('says what goes with the review, and deletes it, however often it is asked', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    await (await makeUser()).votes(id);
    await user.edits(id, { text: other });
    const { html } = await show(user, id);
    expect(html).toContain('Your text and stars, with all 2 revisions');
    expect(html).toContain('The votes on it: 1 yes, 0 no. Your karma changes with them');
    expect((await stored(id)).text).toBe(other);
    const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(user, id)));
    const ways = answers.map(({ status, headers }) => `${status} ${headers.location}`);
    expect(new Set(ways)).toEqual(new Set([`303 ${at}/account/reviews`]));
    expect(await visitor.reads(id)).toHaveStatus(404);
  });

  test('says what a hidden review takes with it, and how little a draft does', async () => {
    const user = await makeUser();
    const hidden = await user.publishesHidden();
    const draft = await user.publishes({ is_draft: true, rating: null });
    expect((await show(user, hidden)).html).toContain('cannot write another one about this');
    const { html } = await show(user, draft);
    expect(html).toContain('<ul><li>Your text</li></ul>');
    expect(html).toContain('<button class="danger">Delete draft</button>');
  });

  test('refuses others, and blocked accounts', async () => {
    const user = await makeUser();
    const id = await user.publishes();
    const stranger = await confirm(await makeUser(), id);
    expect(stranger).toHaveStatus(403);
    expect(noticeOn(stranger.shown)).toBeUndefined();
    await decideUser(user.id, 'block', operator);
    expect((await show(user, id)).html).not.toContain('class="danger"');
    expect(await confirm(user, id)).toHaveStatus(403);
    expect((await stored(id)).text).toBe(text);
  });
});
