import { describe, expect, test } from '@jest/globals';
import { insertReport } from '../../shared/moderation/report-repository.ts';
import { reviewKey } from '../../shared/table/keys.ts';
import { stopClock } from '../helpers/clock.ts';
import { makeModerator, makeReview, makeUser } from '../helpers/fixtures.ts';
import { readItem } from '../helpers/items.ts';
import { ask, nextOn } from '../helpers/visit.ts';

const mia = await makeModerator('Mia');
const why = { reason: 'spam', note: 'All of it is <one> shop.' };

/** The hidden fields of the form with this text. */
function fieldsOf(html: string, text: string): Record<string, string> {
  const form = html.match(/<form[\s\S]*?<\/form>/g)?.find((each) => each.includes(text)) ?? '';
  const fields = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

/** An author, and the page of a moderator about the author a moment after so many reviews. */
async function seen(count: number) {
  const author = await makeUser({ display_name: 'Ann' });
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    stopClock(Date.now() + 1);
    ids.unshift(await makeReview(author));
  }
  stopClock(Date.now() + 1);
  const at = { path: { user_id: author.id } };
  const { html } = await ask('show-author', mia, at);
  stopClock(Date.now() + 1);
  const send = (form: Record<string, string>) => ask('decide-user', mia, { ...at, form });
  return { author, ids, html, at, send };
}

async function hiddenOf(ids: readonly string[]): Promise<number> {
  const reviews = await Promise.all(ids.map((id) => readItem(reviewKey(id))));
  return reviews.filter((review) => review?.is_hidden).length;
}

describe('the page about an author', () => {
  test('lists all reviews that are or were public, page by page', async () => {
    const { author, ids, html, at, send } = await seen(22);
    const text = 'Nobody shall read this one before it is done';
    await makeReview(author, { is_draft: true, text });
    const listed = (html: string) =>
      [...html.matchAll(/<strong><a href="[^"]*\/reviews\/([^"]+)"/g)].map(([, id]) => id);
    expect(listed(html)).toEqual(ids.slice(0, 20));
    const second = await ask('show-author', mia, { ...at, query: { cursor: `${nextOn(html)}` } });
    expect(listed(second.html)).toEqual(ids.slice(20));
    expect(html).not.toContain('Hidden: spam');
    await send({ ...fieldsOf(html, 'Hide all'), ...why });
    const after = await ask('show-author', mia, at);
    expect(listed(after.html)).toEqual(ids.slice(0, 19));
    expect(after.html.match(/>Hidden: spam<\/td>/g)).toHaveLength(19);
    expect(after.html).not.toMatch(/Nobody shall read this|Draft/);
    expect(after.html).not.toContain('Hide all');
  });

  test('hides all reviews in steps that say what is left, and can be repeated', async () => {
    const { ids, html, send } = await seen(27);
    expect(html).toContain('>Hide all 27 public reviews<');
    const first = await send({ ...fieldsOf(html, 'Hide all'), ...why });
    expect(first.status).toBe(200);
    expect(first.html).toMatch(/25 reviews are hidden\.\s+2 of this author are still public\./);
    expect(await hiddenOf(ids)).toBe(25);
    const more = fieldsOf(first.html, 'Hide the next reviews');
    expect(more).toMatchObject({ reason: 'spam', note: 'All of it is &lt;one&gt; shop.' });
    for (const said of [/2 reviews are hidden\.\s+None of this/, /0 reviews are hidden\.\s+None/]) {
      const { html } = await send({ ...more, note: why.note });
      expect(html).toMatch(said);
      expect(html).not.toContain('Hide the next reviews');
    }
    expect(await hiddenOf(ids)).toBe(27);
    expect((await send({ ...more, cursor: 'x' })).status).toBe(400);
  });

  test('tells which reviews stay, and why', async () => {
    const { author, ids, html, send } = await seen(2);
    const [id = ''] = ids;
    await insertReport({ id, user_id: author.id }, { user_id: mia.id, reason: 'spam' });
    const { html: told } = await send({ ...fieldsOf(html, 'Hide all'), ...why });
    expect(told).toMatch(/1 review is hidden\.\s+1 of this author is still public\./);
    expect(told).toContain(`/${id}"><bdi>Unnamed release group</bdi></a>: You have reported`);
  });

  test('takes no form without a reason, without a time or about the own reviews', async () => {
    const { ids, html, send } = await seen(1);
    const form = { ...fieldsOf(html, 'Hide the public review'), ...why };
    const faulty = await send({ ...form, reason: '' });
    expect(faulty.status).toBe(400);
    expect(faulty.html).toContain('id="hide-reason-fault">Please fill this in.<');
    expect(faulty.html).not.toContain('id="reason-fault"');
    for (const seen_at of ['yesterday', '2026-11-22T12:00:00+14:00', '2026-11-22 12:00:00.000Z']) {
      expect([seen_at, (await send({ ...form, seen_at })).status]).toEqual([seen_at, 400]);
    }
    expect((await send({ decision: 'hide', ...why })).html).toContain('0 reviews are hidden');
    expect(await hiddenOf(ids)).toBe(0);
    const own = await makeReview(mia);
    const path = { user_id: mia.id };
    expect((await ask('show-author', mia, { path })).html).not.toContain('Hide ');
    stopClock(Date.now() + 1);
    const late = { ...form, seen_at: new Date().toISOString() };
    expect((await ask('decide-user', mia, { path, form: late })).status).toBe(400);
    expect(await hiddenOf([own])).toBe(0);
  });
});
