import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { decideUser, setHidden } from '../../shared/moderation/decision-repository.ts';
import { type Route, routes } from '../../shared/routes.ts';
import { dailyVotesKey } from '../../shared/table/keys.ts';
import { contentOf, faultsOn } from '../helpers/browser.ts';
import { setAttributes } from '../helpers/items.ts';
import { ask, requestPage, signInAs } from '../helpers/visit.ts';
import { makeUser, type Person, text, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const route = routes.find(({ operation }) => operation === 'publish-review') as Route;
/** The header that browsers send with a form of our own pages. */
const own = { 'Sec-Fetch-Site': 'same-origin' };

const entity = () => ({ entity_id: randomUUID(), entity_type: 'release_group' });
const filled = (fields: Record<string, string> = {}) => ({
  text,
  rating: '4',
  language: 'de',
  license_choice: 'CC BY 4.0',
  key: randomUUID(),
  ...fields,
});

const show = (user: Person, query: Record<string, string>) =>
  ask('show-review-form', user, { query });
const publish = (user: Person, query: Record<string, string>, form: Record<string, string>) =>
  ask('publish-review', user, { query, form });

/** Sends the form with these headers and this token, as a browser does. */
async function send(
  query: Record<string, string>,
  form: Record<string, string>,
  headers: Record<string, string>,
) {
  const answer = await requestPage(route, { query, form, headers });
  return { ...answer, html: `${answer.body}`, shown: { html: `${answer.body}` } as never };
}

/** The last part of the address of the review that the answer leads to. */
const idIn = ({ headers }: { headers: Record<string, string> }) =>
  /\/review\/([0-9a-f-]{36})/.exec(headers.location ?? '')?.[1] ?? '';

const chosenIn = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"[^>]* checked`).exec(html)?.[1];
const languageIn = (html: string) => /<option value="(\w*)" selected/.exec(html)?.[1];

async function reviewsOf(entity_id: string) {
  return (await visitor.lists({ entity_id })).body.reviews;
}

describe('GET /review/new', () => {
  test('proposes nothing to who has written nothing', async () => {
    const { status, html } = await show(await makeUser(), entity());
    expect(status).toBe(200);
    expect(chosenIn(html, 'rating')).toBe('');
    expect(chosenIn(html, 'license_choice')).toBeUndefined();
    expect(languageIn(html)).toBeUndefined();
    const licences = [...html.matchAll(/name="license_choice" value="([^"]*)"/g)];
    expect(licences.map(([, id]) => id).toSorted()).toEqual([
      'CC BY 4.0',
      'CC BY-NC-SA 3.0',
      'CC BY-NC-SA 4.0',
      'CC BY-SA 3.0',
      'CC BY-SA 4.0',
      'CC0 1.0',
    ]);
    expect(html.match(/<option/g)).toHaveLength(184);
    expect(html).toContain('Between 25 and 5000 characters');
    expect(gzipSync(html).length).toBeLessThan(30 * 1024);
  });

  test('proposes language and licence of the last review or draft', async () => {
    const ann = await makeUser();
    const last = { language: 'ja', license_choice: 'CC BY-SA 3.0', is_draft: true };
    await ann.publishes(last);
    const { html } = await show(ann, entity());
    expect(languageIn(html)).toBe('ja');
    expect(chosenIn(html, 'license_choice')).toBe('CC BY-SA 3.0');
  });

  test('leads to the review that one has written, in any state', async () => {
    const ann = await makeUser();
    const published = entity();
    const draft = entity();
    const hidden = entity();
    for (const [query, id] of [
      [published, await ann.publishes(published)],
      [draft, await ann.publishes({ ...draft, is_draft: true })],
      [hidden, await ann.publishesHidden(hidden)],
    ] as const) {
      const { status, headers } = await show(ann, query);
      expect([status, headers.location]).toEqual([303, `${at}/review/${id}/edit`]);
    }
  });

  test.each([
    [{ entity_type: 'work' }, 'entity_id is required'],
    [{ entity_id: 'x', entity_type: 'work' }, 'entity_id must be a UUID'],
    [{ entity_id: randomUUID() }, 'entity_type is required'],
    [{ entity_id: randomUUID(), entity_type: 'toString' }, 'entity_type must be one of event,'],
  ])('refuses %j', async (query, sentence) => {
    const user = await makeUser();
    for (const answer of [
      await show(user, query as never),
      await publish(user, query as never, filled()),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.html).toContain(sentence);
    }
  });

  test('refuses a type that the reviews of the entity contradict, and leads to theirs', async () => {
    const query = entity();
    await (await makeUser()).publishes(query);
    const user = await makeUser();
    const wrong = { ...query, entity_type: 'event' };
    const { status, html } = await show(user, wrong);
    expect(status).toBe(400);
    expect(html).toContain('It says event, but people have reviewed this as release group.');
    const right = `/review/new?entity_id=${query.entity_id}&amp;entity_type=release_group"`;
    expect(html).toContain(right);
    const refused = await publish(user, wrong, filled());
    expect(refused.status).toBe(400);
    expect(contentOf(refused.shown, 'text')).toBe(text);
    expect(refused.html).toContain(`action="${at}${right}`);
    expect(await reviewsOf(query.entity_id)).toHaveLength(1);
  });

  test('says why to a blocked account, and to whom to turn', async () => {
    const user = await makeUser();
    await decideUser(user.id, 'block', { reason: 'abuse', note: '', moderator_id: null });
    const { html } = await show(user, entity());
    const why = 'A moderator has blocked this account: it can read and be deleted, but not write.';
    expect(html).toContain(why);
    expect(html).toContain('ask the operator of this service');
    expect(html).not.toContain('<textarea');
    const { csrf, cookie } = await signInAs(user.id);
    const sent = await send(entity(), { ...filled(), csrf }, { ...own, cookie });
    expect(sent.status).toBe(403);
    expect(sent.html).toContain(why);
    expect(contentOf(sent.shown, 'text')).toBe(text);
  });

  test('says so where the publications of the day are used up', async () => {
    const user = await makeUser();
    const today = new Date().toISOString().slice(0, 10);
    await setAttributes(dailyVotesKey(user.id, today), { publications: 2 });
    const { PUBLICATIONS_PER_DAY } = process.env;
    process.env.PUBLICATIONS_PER_DAY = '2';
    const sentence = 'An account may publish 2 reviews a day (UTC), drafts included.';
    const { html } = await show(user, entity());
    expect(html).toContain(sentence);
    expect(html).not.toContain('<textarea');
    const { csrf, cookie } = await signInAs(user.id);
    const sent = await send(entity(), { ...filled(), csrf }, { ...own, cookie });
    expect(sent.status).toBe(403);
    expect(faultsOn(sent.shown)).toEqual({ '': sentence });
    expect(contentOf(sent.shown, 'text')).toBe(text);
    process.env.PUBLICATIONS_PER_DAY = PUBLICATIONS_PER_DAY;
  });

  test('says so where a hidden review was deleted', async () => {
    const user = await makeUser();
    const query = entity();
    await user.deletes(await user.publishesHidden(query));
    for (const answer of [await show(user, query), await publish(user, query, filled())]) {
      expect(answer.html).toContain('A moderator has hidden your review of this');
      expect(answer.html).not.toContain('name="license_choice"');
    }
  });
});

describe('POST /review/new', () => {
  test('publishes what the form holds', async () => {
    const user = await makeUser();
    const query = entity();
    const answer = await publish(user, query, filled({ text: `${text}\r\n‮مرحبا` }));
    expect(answer.status).toBe(303);
    const { review } = (await visitor.reads(idIn(answer))).body;
    expect(review).toMatchObject({
      ...query,
      text: `${text}\n‮مرحبا`,
      rating: 4,
      language: 'de',
      license: { id: 'CC BY 4.0' },
      user: { id: user.id },
    });
  });

  test('takes 5000 characters of any plane, and gives back one more with its count', async () => {
    const user = await makeUser();
    const query = entity();
    const long = '🎷'.repeat(5_001);
    const refused = await publish(user, query, filled({ text: long }));
    expect(refused.status).toBe(400);
    expect(faultsOn(refused.shown)).toEqual({
      '': 'Nothing was saved. Correct the fields marked below.',
      text: 'It must have 25 to 5000 characters.',
    });
    expect(refused.html).toContain('Now it has 5001.');
    expect(contentOf(refused.shown, 'text')).toBe(long);
    const answer = await publish(user, query, filled({ text: long.slice(2) }));
    expect((await visitor.reads(idIn(answer))).body.review.text).toBe('🎷'.repeat(5_000));
  });

  test('gives back all that a browser lets one type, in any script', async () => {
    const long = '語'.repeat(20_000);
    const { status, shown } = await publish(await makeUser(), entity(), filled({ text: long }));
    expect(status).toBe(400);
    expect(contentOf(shown, 'text')).toBe(long);
  });

  test('shows each error beside its field, with all that was typed', async () => {
    const wrong = { text: ' <b>', rating: '6', language: 'xx', license_choice: '' };
    const { status, html, shown } = await publish(await makeUser(), entity(), filled(wrong));
    expect(status).toBe(400);
    expect(contentOf(shown, 'text')).toBe(' <b>');
    for (const [name, sentence] of [
      ['text', 'It must have 25 to 5000 characters.'],
      ['rating', 'It must be an integer from 1 to 5.'],
      ['language', 'It must be an ISO 639-1 code, in lower case.'],
      ['license_choice', 'Please fill this in.'],
    ]) {
      expect(html).toContain(`<p class="fault" id="${name}-fault">${sentence}</p>`);
      expect(html).toMatch(
        new RegExp(` name="${name}"[^>]* aria-describedby="[^"]*${name}-fault"`),
      );
    }
  });

  test('refuses neither text nor stars with the sentence of the API', async () => {
    const user = await makeUser();
    const form = filled({ text: '', rating: '' });
    const { status, html, shown } = await publish(user, entity(), form);
    expect(status).toBe(400);
    expect(faultsOn(shown)).toEqual({ '': 'text or rating is required.' });
    expect(languageIn(html)).toBe('de');
    expect(chosenIn(html, 'license_choice')).toBe('CC BY 4.0');
    expect(contentOf(shown, 'key')).toBe(form.key);
  });

  test('makes one review of a form that is sent ten times at once, and all lead to it', async () => {
    const user = await makeUser();
    const query = entity();
    const form = filled();
    const answers = await Promise.all(Array.from({ length: 10 }, () => publish(user, query, form)));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(new Set(answers.map(idIn)).size).toBe(1);
    const later = await publish(user, query, form);
    expect(idIn(later)).toBe(idIn(answers[0] as never));
    const reviews = await reviewsOf(query.entity_id);
    expect(reviews.map(({ id }: { id: string }) => id)).toEqual([idIn(later)]);
  });

  test('turns a form with another text into an edit of the review that it has made', async () => {
    const user = await makeUser();
    const query = entity();
    const form = filled();
    const id = idIn(await publish(user, query, form));
    const typed = 'Typed after the way back, and not to be lost.';
    const { csrf, cookie } = await signInAs(user.id);
    for (const key of [form.key, randomUUID()]) {
      const again = { ...form, key, text: typed, csrf };
      const { status, html, shown } = await send(query, again, { ...own, cookie });
      expect([400, 422]).toContain(status);
      expect(html).toContain(`action="${at}/review/${id}/edit"`);
      expect(contentOf(shown, 'text')).toBe(typed);
      expect(html).toContain(text.trim());
    }
    expect(await reviewsOf(query.entity_id)).toMatchObject([{ id, text }]);
  });

  test('saves a draft that only its author sees', async () => {
    const user = await makeUser();
    const answer = await publish(user, entity(), filled({ is_draft: 'yes' }));
    const id = idIn(answer);
    expect(answer.headers.location).toBe(`${at}/review/${id}/edit`);
    expect((await visitor.reads(id)).status).toBe(404);
  });

  test('of an older session shows the form again, and publishes with the next press', async () => {
    const user = await makeUser();
    const query = entity();
    const { csrf } = await signInAs(user.id);
    const { cookie } = await signInAs(user.id);
    const form = filled();
    const old = await send(query, { ...form, csrf }, { ...own, cookie });
    expect(old.status).toBe(403);
    expect(faultsOn(old.shown)).toEqual({
      '': 'This page is from before you last signed in, so nothing was changed. Check the form, and press its button once more.',
    });
    expect(contentOf(old.shown, 'text')).toBe(text);
    expect(chosenIn(old.html, 'rating')).toBe('4');
    expect(await reviewsOf(query.entity_id)).toEqual([]);
    const renewed = contentOf(old.shown, 'csrf') ?? '';
    const key = contentOf(old.shown, 'key') ?? '';
    expect(key).toBe(form.key);
    const next = await send(query, { ...form, csrf: renewed, key }, { ...own, cookie });
    expect(next.status).toBe(303);
    expect(await reviewsOf(query.entity_id)).toHaveLength(1);
  });

  test('without a session carries the form until the person has signed in', async () => {
    const query = entity();
    const typed = `${'🎷'.repeat(4_999)}\n`;
    const form = filled({ text: typed, csrf: 'old' });
    const { status, html, shown } = await send(query, form, own);
    expect(status).toBe(401);
    expect(html).toContain('<h1>You are signed out</h1>');
    expect(html).toContain('target="_blank"');
    expect(contentOf(shown, 'text')).toBe(typed);
    for (const name of ['rating', 'language', 'license_choice', 'key'] as const) {
      expect(contentOf(shown, name)).toBe(form[name]);
    }
    expect(contentOf(shown, 'csrf')).toBe('');
    const { entity_id } = query;
    const action = `/review/new?entity_id=${entity_id}&amp;entity_type=release_group"`;
    expect(html).toContain(`action="${at}${action}`);
    const { cookie } = await signInAs((await makeUser()).id);
    const back = await send(query, { ...form, csrf: '' }, { ...own, cookie });
    expect(back.status).toBe(403);
    expect(contentOf(back.shown, 'text')).toBe(typed);
    expect(languageIn(back.html)).toBe('de');
  });

  test.each([
    ['another site', 'cross-site'],
    ['a neighbour of our host', 'same-site'],
    ['an unknown page', undefined],
  ])('from %s changes nothing, and shows nothing of the form', async (_, site) => {
    const user = await makeUser();
    const query = entity();
    const { cookie } = await signInAs(user.id);
    const { csrf } = await signInAs((await makeUser()).id);
    const from: Record<string, string> = site === undefined ? {} : { 'Sec-Fetch-Site': site };
    for (const headers of [from, { ...from, cookie }]) {
      const { status, html } = await send(query, { ...filled(), csrf }, headers);
      expect(status).toBe('cookie' in headers ? 403 : 401);
      expect(html).not.toContain('A record that gets better');
      expect(html).not.toContain('<textarea');
    }
    expect(await reviewsOf(query.entity_id)).toEqual([]);
  });

  test('says so where a review that is hidden stands in the way', async () => {
    const user = await makeUser();
    const query = entity();
    const id = idIn(await publish(user, query, filled()));
    await setHidden(id, true);
    const { html } = await publish(user, query, filled({ text: `${text} And more.` }));
    expect(html).toContain('A moderator has hidden this review.');
    expect(html).toContain(`${at}/account/reviews"`);
  });
});
