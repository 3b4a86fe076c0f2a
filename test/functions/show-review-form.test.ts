import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { dailyVotesKey } from '../../shared/core/keys.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { contentOf, faultsOn } from '../helpers/browser.ts';
import { setAttributes } from '../helpers/items.ts';
import {
  chosenIn,
  filledForm,
  languageIn,
  newEntity,
  ownForm,
  publishForm,
  sendForm,
  showForm,
} from '../helpers/review-form.ts';
import { pageFor, signInAs } from '../helpers/visit.ts';
import { makeUser, operator, text } from '../helpers/world.ts';

const at = 'https://api.example/ws';

describe('GET /review/new', () => {
  test('proposes no stars and no language, but a licence, to a person who has written nothing', async () => {
    const { status, html } = await showForm(await makeUser(), newEntity());
    expect(status).toBe(200);
    expect(chosenIn(html, 'rating')).toBe('');
    expect(chosenIn(html, 'license_choice')).toBe('CC BY-SA 4.0');
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
    // A browser would cut a longer text without a word, and counts an emoji twice.
    expect(html).toContain('maxlength="20000"');
    expect(gzipSync(html).length).toBeLessThan(30 * 1024);
  });

  test.each([
    ['de-CH,de;q=0.9, en;q=0.8,*;q=0.1', ['de', 'en']],
    ['en;q=0.2, fr, JA;q=0.9', ['fr', 'ja', 'en']],
    ['xx, q=, ;;, deu, -, de;q=0', []],
    ['x'.repeat(2_000), []],
  ])('puts the languages of the browser first: %s', async (header, codes) => {
    const user = await makeUser();
    const html = await pageFor('show-review-form', user, {
      query: newEntity(),
      headers: { 'Accept-Language': header },
    });
    const [, first = ''] = /<optgroup label="Of your browser">(.*?)<\/optgroup>/s.exec(html) ?? [];
    expect([...first.matchAll(/value="(\w+)"/g)].map(([, code]) => code)).toEqual(codes);
    expect(languageIn(html)).toBe(codes[0]);
    expect(html.match(/<option value="[a-z]{2}"/g)).toHaveLength(183);
  });

  test('proposes language and licence of the last review or draft', async () => {
    const ann = await makeUser();
    const last = { language: 'ja', license_choice: 'CC BY-SA 3.0', is_draft: true };
    await ann.publishes(last);
    const { html } = await showForm(ann, newEntity());
    expect(languageIn(html)).toBe('ja');
    expect(chosenIn(html, 'license_choice')).toBe('CC BY-SA 3.0');
  });

  test('leads to the review that one has written, in any state', async () => {
    const ann = await makeUser();
    const published = newEntity();
    const draft = newEntity();
    const hidden = newEntity();
    for (const [query, id] of [
      [published, await ann.publishes(published)],
      [draft, await ann.publishes({ ...draft, is_draft: true })],
      [hidden, await ann.publishesHidden(hidden)],
    ] as const) {
      const { status, headers } = await showForm(ann, query);
      expect([status, headers.location]).toEqual([303, `${at}/review/${id}/edit`]);
    }
  });

  test.each([
    [{ entity_id: 'x', entity_type: 'work' }, 'entity_id must be a UUID'],
    [{ entity_id: randomUUID(), entity_type: 'toString' }, 'entity_type must be one of event,'],
  ])('refuses %j', async (query, sentence) => {
    const user = await makeUser();
    for (const answer of [
      await showForm(user, query as never),
      await publishForm(user, query as never, filledForm()),
    ]) {
      expect(answer).toHaveStatus(400);
      expect(answer.html).toContain(sentence);
    }
  });

  test('leads to the search without a thing, and to the thing without its type', async () => {
    const user = await makeUser();
    const entity_id = randomUUID();
    for (const [query, location] of [
      [{}, `${at}/find`],
      [{ entity_type: 'work' }, `${at}/find`],
      [{ entity_id }, `${at}/entity/${entity_id}`],
    ] as const) {
      const { status, headers } = await showForm(user, query as never);
      expect([status, headers.location]).toEqual([303, location]);
    }
  });

  test('says beforehand that the review of a newcomer waits, and to nobody else', async () => {
    const words = 'a moderator looks at your review before others see it';
    const ann = await makeUser();
    const bob = await makeUser();
    await bob.publishes();
    expect((await showForm(ann, newEntity())).html).not.toContain(words);
    process.env.HELD_REVIEWS = '1';
    expect((await showForm(ann, newEntity())).html).toContain(words);
    expect((await showForm(bob, newEntity())).html).not.toContain(words);
  });

  test('has no link that leaves it', async () => {
    const ann = await makeUser();
    const entity = newEntity();
    const form = filledForm({ url: 'https://example.org/page' });
    const refused = await publishForm(ann, entity, { ...form, rating: '9' });
    const bob = await makeUser();
    await publishForm(bob, entity, form);
    const named = await showForm(ann, entity);
    expect(named.html).toContain('described at');
    for (const html of [refused.html, named.html]) {
      const main = html.slice(html.indexOf('<main'), html.indexOf('</main'));
      const leaving = (main.match(/<a [^>]*>/g) ?? []).filter((tag) => !tag.includes('_blank'));
      expect(leaving).toEqual([]);
      expect(main).toContain('target="_blank" rel="noreferrer">Change the name');
    }
  });

  test('leads from another type to the type that the reviews of the entity have', async () => {
    const query = newEntity();
    await (await makeUser()).publishes(query);
    const { status, headers } = await showForm(await makeUser(), {
      ...query,
      entity_type: 'event',
    });
    expect(status).toBe(303);
    const { entity_id } = query;
    expect(headers.location).toBe(
      `${at}/review/new?entity_id=${entity_id}&entity_type=release_group`,
    );
  });

  test('says why to a blocked account, and to whom to turn', async () => {
    const user = await makeUser();
    await decideUser(user.id, 'block', operator);
    const { html } = await showForm(user, newEntity());
    const why = 'A moderator has blocked this account: it can read and be deleted, but not write.';
    expect(html).toContain(why);
    expect(html).toContain('ask the operator of this service');
    expect(html).not.toContain('<textarea');
    const { csrf, cookie } = await signInAs(user.id);
    const sent = await sendForm(newEntity(), { ...filledForm(), csrf }, { ...ownForm, cookie });
    expect(sent).toHaveStatus(403);
    expect(sent.html).toContain(why);
    expect(contentOf(sent.shown, 'text')).toBe(text);
  });

  test('explains that the publications of the day are used up', async () => {
    const user = await makeUser();
    const today = new Date().toISOString().slice(0, 10);
    await setAttributes(dailyVotesKey(user.id, today), { publications: 2 });
    process.env.PUBLICATIONS_PER_DAY = '2';
    const sentence = 'An account may publish 2 reviews a day (UTC), drafts included.';
    const { html } = await showForm(user, newEntity());
    expect(html).toContain(sentence);
    expect(html).not.toContain('<textarea');
    const { csrf, cookie } = await signInAs(user.id);
    const sent = await sendForm(newEntity(), { ...filledForm(), csrf }, { ...ownForm, cookie });
    expect(sent).toHaveStatus(403);
    expect(faultsOn(sent.shown)).toEqual({ '': sentence });
    expect(contentOf(sent.shown, 'text')).toBe(text);
  });

  test('explains that a hidden review was deleted', async () => {
    const user = await makeUser();
    const query = newEntity();
    await user.deletes(await user.publishesHidden(query));
    for (const answer of [
      await showForm(user, query),
      await publishForm(user, query, filledForm()),
    ]) {
      expect(answer.html).toContain('A moderator has hidden your review of this');
      expect(answer.html).not.toContain('name="license_choice"');
    }
  });
});

test('the form says under which name it publishes, and leads to another name', async () => {
  const ann = await makeUser({ display_name: 'Ann <b>' });
  const { html } = await showForm(ann, newEntity());
  expect(html).toContain('Published as <bdi>Ann &lt;b&gt;</bdi>.');
  const href =
    /<a href="([^"]*)"[^>]*>Change the name/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const query = Object.fromEntries(new URL(href).searchParams);
  expect(query.return_to).toBe(`${at}/account`);
  const asked = await pageFor('show-account', ann, { query });
  expect(asked).toContain('<h1>Choose your public name</h1>');
  expect(asked).toContain('value="Ann &lt;b&gt;"');
});
