import { reviewKey, userKey } from '../../shared/core/keys.ts';
import { stopClock } from '../helpers/clock.ts';
import { readItem } from '../helpers/items.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, nextOn, pageFor } from '../helpers/visit.ts';
import { makeModerator, makeUser } from '../helpers/world.ts';

const mia = await makeModerator('Mia');
const why = { reason: 'spam', note: 'All of it is <one> shop.' };

/** An author, and the page of a moderator about the author a moment after so many reviews. */
async function seen(count: number) {
  const author = await makeUser({ display_name: 'Ann' });
  const ids = [];
  for (let i = 0; i < count; i++) {
    stopClock(Date.now() + 1);
    ids.unshift(await author.publishes());
  }
  stopClock(Date.now() + 1);
  const at = { path: { user_id: author.id } };
  const html = await pageFor('show-author', mia, at);
  stopClock(Date.now() + 1);
  const send = (form: Record<string, string>) => ask('decide-user', mia, { ...at, form });
  return { author, ids, html, at, send };
}

async function hiddenOf(ids: readonly string[]) {
  const reviews = await Promise.all(ids.map((id) => readItem(reviewKey(id))));
  return reviews.filter((review) => review?.is_hidden).length;
}

describe('the page about an author', () => {
  test('lists all reviews that are or were public, page by page', async () => {
    const { author, ids, html, at, send } = await seen(22);
    const text = 'Nobody shall read this one before it is done';
    await author.publishes({ is_draft: true, text });
    const listed = (html: string) =>
      [...html.matchAll(/<strong><a href="[^"]*\/reviews\/([^"]+)"/g)].map(([, id]) => id);
    expect(listed(html)).toEqual(ids.slice(0, 20));
    const second = await pageFor('show-author', mia, {
      ...at,
      query: { cursor: `${nextOn(html)}` },
    });
    expect(listed(second)).toEqual(ids.slice(20));
    expect(html).not.toContain('Hidden: spam');
    await send({ decision: 'hide_all', ...why });
    await applyStream();
    const after = await pageFor('show-author', mia, at);
    expect(listed(after)).toEqual(ids.slice(0, 19));
    expect(after.match(/>Hidden: spam<\/td>/g)).toHaveLength(19);
    expect(after).not.toMatch(/Nobody shall read this|Draft/);
  });

  test('blocks the author and hides all reviews, which goes on after the answer', async () => {
    const { author, ids, html, at, send } = await seen(3);
    expect(html).toContain('>Block and undo everything<');
    const answer = await send({ decision: 'hide_all', ...why });
    expect(answer).toHaveStatus(303);
    expect(await hiddenOf(ids)).toBe(0);
    const during = await pageFor('show-author', mia, at);
    expect(during).toContain('Everything is being undone.');
    expect(during).toContain('<dd>3 public</dd>');
    expect(during).not.toContain('value="hide_all"');
    const [first = ''] = ids;
    const ofCase = await pageFor('show-case', mia, { path: { review_id: first } });
    expect(ofCase).toContain('Everything is being undone.');
    await applyStream();
    expect(await hiddenOf(ids)).toBe(3);
    const after = await pageFor('show-author', mia, at);
    expect(after).toContain('<dd>0 public</dd>');
    expect(after).not.toContain('being undone');
    expect(after).toContain('Account blocked, all taken back: spam');
    expect(after).toContain('End the block');
    expect(await readItem(userKey(author.id))).toHaveProperty('blocked_at');
  });

  test('hides the reviews of a blocked author', async () => {
    const { ids, at, send } = await seen(1);
    await send({ decision: 'block', ...why });
    const html = await pageFor('show-author', mia, at);
    expect(html).toContain('>Undo everything<');
    expect(html).not.toContain('value="block"');
    await send({ decision: 'hide_all', ...why });
    await applyStream();
    expect(await hiddenOf(ids)).toBe(1);
    expect(await pageFor('show-author', mia, at)).not.toContain('value="hide_all"');
  });

  test('withdraws the votes of an account without reviews, and says in the log how many', async () => {
    const { author: voter, html, at, send } = await seen(0);
    const author = await makeUser();
    for (let i = 0; i < 2; i++) await voter.votes(await author.publishes(), 'down');
    expect(html).toContain('>Block and undo everything<');
    await send({ decision: 'block', ...why });
    expect(await pageFor('show-author', mia, at)).toContain('>Undo everything<');
    await send({ decision: 'hide_all', ...why });
    await applyStream();
    expect(await readItem(userKey(author.id))).toMatchObject({ karma: 0 });
    const words = 'Account blocked, all taken back, 2 votes withdrawn: spam';
    expect(await pageFor('show-decisions', mia)).toContain(words);
    const after = await pageFor('show-author', mia, at);
    expect(after).toContain(words);
    expect(after).not.toContain('value="hide_all"');
  });

  test('takes no form without a reason, or about a moderator', async () => {
    const { ids, send } = await seen(1);
    const faulty = await send({ decision: 'hide_all', note: '', reason: '' });
    expect(faulty).toHaveStatus(400);
    expect(faulty.html).toContain('id="reason-fault">Please fill this in.<');
    await mia.publishes();
    const path = { user_id: mia.id };
    expect(await pageFor('show-author', mia, { path })).not.toMatch(/hide_all|value="block"/);
    const form = { decision: 'hide_all', ...why };
    expect(await ask('decide-user', mia, { path, form })).toHaveStatus(400);
    await applyStream();
    expect(await hiddenOf(ids)).toBe(0);
  });
});
