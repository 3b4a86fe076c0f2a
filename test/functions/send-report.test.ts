import { dailyVotesKey, reportKey, userKey } from '../../shared/core/keys.ts';
import { faultsOn } from '../helpers/browser.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { ask as visit } from '../helpers/visit.ts';
import { makeUser, type Person } from '../helpers/world.ts';

const at = 'https://api.example/ws';

const author = await makeUser({ display_name: 'Ann <b>' });

/** Asks for the page, or sends its form, as somebody who has signed in. */
const ask = (user: Person, review_id: string, form?: Record<string, string>) =>
  visit(form ? 'send-report' : 'show-report', user, { path: { review_id }, form });

describe('/review/{review_id}/report', () => {
  test('takes one of five reasons, thanks, and takes no other', async () => {
    const text = 'Buy this now! <b>Cheap</b> for you only.';
    const review_id = await author.publishes({ text });
    const reader = await makeUser();
    const { body } = await ask(reader, review_id);
    const choices = [...body.matchAll(/type="radio" id="[\w-]+" name="reason" value="(\w+)"/g)];
    const reasons = ['spam', 'abuse', 'off_topic', 'copyright', 'other'];
    expect(choices.map(([, reason]) => reason)).toEqual(reasons);
    expect(body).toContain('lang="en" dir="auto">Buy this now! &lt;b&gt;Cheap&lt;/b&gt;');
    expect(body).toContain('<bdi>Ann &lt;b&gt;</bdi>');
    for (const form of [{ reason: 'rude' }, {}] as Record<string, string>[]) {
      const { status, shown } = await ask(reader, review_id, form);
      expect(status).toBe(400);
      expect(Object.keys(faultsOn(shown))).toEqual(['', 'reason']);
    }
    for (const reason of ['off_topic', 'spam']) {
      const { status, headers } = await ask(reader, review_id, { reason });
      expect(status).toBe(303);
      expect(headers.location).toBe(`${at}/review/${review_id}/report`);
    }
    const stored = await readItem(reportKey(review_id, reader.id));
    expect(stored).toMatchObject({ user_id: reader.id, reason: 'off_topic' });
    const thanks = (await ask(reader, review_id)).body;
    expect(thanks).toContain('Thank you.');
    expect(thanks).toContain(': Off topic.');
    expect(thanks).toContain(`href="${at}/review/${review_id}"`);
    expect(thanks).not.toContain('type="radio"');
  });

  test('says why nobody reports an own review', async () => {
    const review_id = await author.publishes();
    const { body } = await ask(author, review_id);
    expect(body).toContain('You cannot report your own review.');
    expect(body).not.toContain('type="radio"');
    const refused = await ask(author, review_id, { reason: 'spam' });
    expect(refused).toHaveStatus(400);
    expect(refused.body).toContain('You cannot report your own review.');
    expect(await readItem(reportKey(review_id, author.id))).toBeUndefined();
  });

  test('explains to a blocked account that it cannot report', async () => {
    const review_id = await author.publishes();
    const blocked = await makeUser();
    await setAttributes(userKey(blocked.id), { blocked_at: new Date().toISOString() });
    const { body } = await ask(blocked, review_id);
    const why = 'You cannot report reviews, because a moderator has blocked your account.';
    expect(body).toContain(why);
    expect(body).not.toContain('type="radio"');
    const refused = await ask(blocked, review_id, { reason: 'spam' });
    expect(refused).toHaveStatus(403);
    expect(refused.body.includes('blocked')).toBe(true);
  });

  test('takes words of the reporter in the place of the reason', async () => {
    const review_id = await author.publishes();
    const reader = await makeUser();
    expect((await ask(reader, review_id)).body).toContain('In your own words');
    const words = '  It is copied from a newspaper of Tuesday. ';
    expect(await ask(reader, review_id, { reason: 'other', words })).toHaveStatus(303);
    expect((await ask(reader, review_id)).body).toContain('It is copied from a newspaper');
    const other = await makeUser();
    const long = await ask(other, review_id, { reason: 'other', words: 'x'.repeat(501) });
    expect(long).toHaveStatus(400);
  });

  test('explains the daily limit of reports in polite words', async () => {
    const review_id = await author.publishes();
    const reader = await makeUser();
    const today = new Date().toISOString().slice(0, 10);
    await setAttributes(dailyVotesKey(reader.id, today), { reports: 10 });
    const { status, body } = await ask(reader, review_id, { reason: 'spam' });
    expect(status).toBe(403);
    expect(body.includes('You have reached your daily limit')).toBe(true);
    expect(body).toContain('With your karma you may report 10 reviews a day (UTC).');
    expect(body).toContain('You can continue after midnight UTC.');
    expect(body).not.toContain('Noob');
  });
});
