import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { contentOf, faultsOn, noticeOn } from '../helpers/browser.ts';
import {
  chosenIn,
  filledForm,
  languageIn,
  newEntity,
  ownForm,
  publishForm,
  sendForm,
} from '../helpers/review-form.ts';
import { ask, signInAs } from '../helpers/visit.ts';
import { idsOf, makeUser, operator, text, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';

/** The last part of the address of the review that the answer leads to. */
const idIn = ({ headers }: { headers: Record<string, string> }) =>
  /\/review\/([0-9a-f-]{36})/.exec(headers.location ?? '')?.[1] ?? '';

async function reviewsOf(entity_id: string) {
  return (await visitor.lists({ entity_id })).body.reviews;
}

describe('POST /review/new', () => {
  test('publishes what the form holds', async () => {
    const user = await makeUser();
    const query = newEntity();
    const answer = await publishForm(user, query, filledForm({ text: `${text}\r\n‮مرحبا` }));
    expect(answer).toHaveStatus(303);
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
    const query = newEntity();
    const long = '🎷'.repeat(5_001);
    const refused = await publishForm(user, query, filledForm({ text: long }));
    expect(refused).toHaveStatus(400);
    expect(faultsOn(refused.shown)).toEqual({
      '': 'Nothing was saved. Correct the fields marked below.',
      text: 'It must have 25 to 5000 characters.',
    });
    expect(refused.html).toContain('Now it has 5001.');
    expect(contentOf(refused.shown, 'text')).toBe(long);
    const answer = await publishForm(user, query, filledForm({ text: long.slice(2) }));
    expect((await visitor.sees(idIn(answer))).text).toBe('🎷'.repeat(5_000));
  });

  test('gives back all that a browser lets one type, in any script', async () => {
    const long = '語'.repeat(20_000);
    const { status, shown } = await publishForm(
      await makeUser(),
      newEntity(),
      filledForm({ text: long }),
    );
    expect(status).toBe(400);
    expect(contentOf(shown, 'text')).toBe(long);
  });

  test('shows each error beside its field, with all that was typed', async () => {
    const wrong = { text: ' <b>', rating: '6', language: 'xx', license_choice: '' };
    const { status, html, shown } = await publishForm(
      await makeUser(),
      newEntity(),
      filledForm(wrong),
    );
    expect(status).toBe(400);
    expect(contentOf(shown, 'text')).toBe(' <b>');
    // The first field with an error has the focus, and no other.
    expect(html).toMatch(/<textarea name="text"[^>]* autofocus/);
    expect(html.match(/ autofocus/g)).toHaveLength(1);
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

  test('shows a text with U+0000 again without this character', async () => {
    const form = filledForm({ text: `A\0${text}` });
    const { status, html, shown } = await publishForm(await makeUser(), newEntity(), form);
    expect(status).toBe(400);
    expect(faultsOn(shown).text).toBe('It must not contain U+0000.');
    expect(html).not.toContain('\0');
    expect(contentOf(shown, 'text')).toBe(`A\ufffd${text}`);
  });

  test('refuses neither text nor stars, and says what to give', async () => {
    const user = await makeUser();
    const form = filledForm({ text: '', rating: '' });
    const { status, html, shown } = await publishForm(user, newEntity(), form);
    expect(status).toBe(400);
    expect(faultsOn(shown)).toEqual({ '': 'Give stars, write a text, or both.' });
    expect(languageIn(html)).toBe('de');
    expect(chosenIn(html, 'license_choice')).toBe('CC BY 4.0');
  });

  test('makes one review of a form that is sent ten times at once, and all lead to it', async () => {
    const user = await makeUser();
    const query = newEntity();
    const form = filledForm();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => publishForm(user, query, form)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303));
    expect(new Set(answers.map(idIn)).size).toBe(1);
    const later = await publishForm(user, query, form);
    expect(idIn(later)).toBe(idIn(answers[0] as never));
    const reviews = await reviewsOf(query.entity_id);
    expect(idsOf(reviews)).toEqual([idIn(later)]);
  });

  test('turns a form with another text or other stars into an edit of the review', async () => {
    const user = await makeUser();
    const query = newEntity();
    const form = filledForm();
    const id = idIn(await publishForm(user, query, form));
    const typed = 'Typed on the page before, and not to be lost.';
    for (const change of [{ text: typed }, { rating: '2' }] as Record<string, string>[]) {
      const { status, html, shown } = await publishForm(user, query, { ...form, ...change });
      expect(status).toBe(400);
      expect(html).toContain(`action="${at}/review/${id}/edit"`);
      expect(contentOf(shown, 'text')).toBe(change.text ?? text);
      expect(chosenIn(html, 'rating')).toBe(change.rating ?? '4');
      expect(html).toContain('<h2>The saved review</h2>');
      expect(html).toContain(text.trim());
    }
    expect(await reviewsOf(query.entity_id)).toMatchObject([{ id, text, rating: 4 }]);
  });

  test.each([
    ['another licence', { license_choice: 'CC0 1.0' }],
    ['another language', { language: 'fr' }],
    ['a draft', { is_draft: 'yes' }],
  ] as [string, Record<string, string>][])(
    'does not take %s for the same form sent twice',
    async (_, change) => {
      const user = await makeUser();
      const query = newEntity();
      const id = idIn(await publishForm(user, query, filledForm()));
      const { status, html } = await publishForm(user, query, filledForm(change));
      expect(status).toBe(400);
      expect(html).toContain(`action="${at}/review/${id}/edit"`);
    },
  );

  test('publishes the same form again after the review was deleted, and a changed one', async () => {
    const user = await makeUser();
    const query = newEntity();
    const first = idIn(await publishForm(user, query, filledForm()));
    await user.deletes(first);
    const second = idIn(await publishForm(user, query, filledForm()));
    expect(second).not.toBe(first);
    await user.deletes(second);
    const third = await publishForm(user, query, filledForm({ language: 'fr' }));
    expect(third).toHaveStatus(303);
    const id = idIn(third);
    expect(await reviewsOf(query.entity_id)).toMatchObject([{ id, language: 'fr' }]);
  });

  test('says on the next page that the review is public', async () => {
    const user = await makeUser();
    const answer = await publishForm(user, newEntity(), filledForm());
    const review_id = idIn(answer);
    expect(answer.headers.location).toBe(`${at}/review/${review_id}`);
    const [notice] = (answer.headers['set-cookie'] ?? '').split(';');
    const { shown, html } = await ask('show-review', user, { path: { review_id }, cookie: notice });
    expect(noticeOn(shown)).toBe('Your review is public.');
    expect(html).toMatch(/role="status">[^<]*<a href="[^"]*\/entity\/[^"]*">See it on the page of/);
  });

  test('takes another type than the reviews of the entity have, as the API does', async () => {
    const query = newEntity();
    await (await makeUser()).publishes(query);
    const user = await makeUser();
    const event = { ...query, entity_type: 'event' };
    const answer = await publishForm(user, event, filledForm());
    expect(answer).toHaveStatus(303);
    expect(await visitor.sees(idIn(answer))).toMatchObject(event);
    const draft = await publishForm(await makeUser(), event, filledForm({ is_draft: 'yes' }));
    expect(draft).toHaveStatus(303);
  });

  test('saves a draft that only its author sees', async () => {
    const user = await makeUser();
    const answer = await publishForm(user, newEntity(), filledForm({ is_draft: 'yes' }));
    const id = idIn(answer);
    expect(answer.headers.location).toBe(`${at}/review/${id}/edit`);
    expect(await visitor.reads(id)).toHaveStatus(404);
  });

  test('of an older session shows the form again, and publishes with the next press', async () => {
    const user = await makeUser();
    const query = newEntity();
    const { csrf } = await signInAs(user.id);
    const { cookie } = await signInAs(user.id);
    const form = filledForm();
    const old = await sendForm(query, { ...form, csrf }, { ...ownForm, cookie });
    expect(old).toHaveStatus(403);
    expect(faultsOn(old.shown)).toEqual({
      '': 'This page is from before you last signed in, so nothing was changed. Check the form, and press its button once more.',
    });
    expect(contentOf(old.shown, 'text')).toBe(text);
    expect(chosenIn(old.html, 'rating')).toBe('4');
    expect(await reviewsOf(query.entity_id)).toEqual([]);
    const renewed = contentOf(old.shown, 'csrf') ?? '';
    const next = await sendForm(query, { ...form, csrf: renewed }, { ...ownForm, cookie });
    expect(next).toHaveStatus(303);
    expect(await reviewsOf(query.entity_id)).toHaveLength(1);
  });

  test('without a session carries the form until the person has signed in', async () => {
    const query = newEntity();
    const typed = `${'🎷'.repeat(4_999)}\n`;
    const form = filledForm({ text: typed, csrf: 'old' });
    const { status, html, shown } = await sendForm(query, form, ownForm);
    expect(status).toBe(401);
    expect(html).toContain('<h1>You are signed out</h1>');
    expect(html).toContain('target="_blank"');
    expect(contentOf(shown, 'text')).toBe(typed);
    for (const name of ['rating', 'language', 'license_choice'] as const) {
      expect(contentOf(shown, name)).toBe(form[name]);
    }
    expect(contentOf(shown, 'csrf')).toBe('');
    const { entity_id } = query;
    const action = `/review/new?entity_id=${entity_id}&amp;entity_type=release_group"`;
    expect(html).toContain(`action="${at}${action}`);
    const { cookie } = await signInAs((await makeUser()).id);
    const back = await sendForm(query, { ...form, csrf: '' }, { ...ownForm, cookie });
    expect(back).toHaveStatus(403);
    expect(contentOf(back.shown, 'text')).toBe(typed);
    expect(languageIn(back.html)).toBe('de');
  });

  test('keeps the text in a browser that reports the origin alone', async () => {
    const query = newEntity();
    const { cookie } = await signInAs((await makeUser()).id);
    const form = { ...filledForm(), csrf: 'old' };
    const Origin = 'https://api.example';
    const signedOut = await sendForm(query, form, { Origin });
    expect([signedOut.status, contentOf(signedOut.shown, 'text')]).toEqual([401, text]);
    const outdated = await sendForm(query, form, { Origin, cookie });
    expect([outdated.status, contentOf(outdated.shown, 'text')]).toEqual([403, text]);
  });

  test('keeps the text in any browser if the form has the token of the session', async () => {
    const user = await makeUser();
    await decideUser(user.id, 'block', operator);
    const answer = await publishForm(user, newEntity(), filledForm());
    expect([answer.status, contentOf(answer.shown, 'text')]).toEqual([403, text]);
  });

  test.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a site in front of ours', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://api.example' }],
    ['a neighbour of our host', { 'Sec-Fetch-Site': 'same-site' }],
    ['another site, in an older browser', { Origin: 'https://other.example' }],
    ['a page that hides its origin, in an older browser', { Origin: 'null' }],
    ['an unknown page', {}],
  ] as [string, Record<string, string>][])(
    'from %s changes nothing, and shows nothing of the form',
    async (_, from) => {
      const user = await makeUser();
      const query = newEntity();
      const { cookie } = await signInAs(user.id);
      const { csrf } = await signInAs((await makeUser()).id);
      for (const headers of [from, { ...from, cookie }]) {
        const { status, html } = await sendForm(query, { ...filledForm(), csrf }, headers);
        expect(status).toBe('cookie' in headers ? 403 : 401);
        expect(html).not.toContain('A record that gets better');
        expect(html).not.toContain('<textarea');
      }
      expect(await reviewsOf(query.entity_id)).toEqual([]);
    },
  );

  test('explains that a hidden review is edited instead', async () => {
    const user = await makeUser();
    const query = newEntity();
    const id = idIn(await publishForm(user, query, filledForm()));
    await setHidden(id, true);
    const { html } = await publishForm(user, query, filledForm({ text: `${text} And more.` }));
    expect(html).toContain('A moderator has hidden this review.');
    expect(html).toContain(`${at}/account/reviews"`);
  });
});
