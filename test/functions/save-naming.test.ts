import { randomUUID } from 'node:crypto';
import { type EntityRecord, readRecord, recordWrites } from '../../shared/core/entity/record.ts';
import { writeRecords } from '../../shared/core/entity/write-records.ts';
import { userKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { countNews } from '../../shared/core/user/news.ts';
import { findUser } from '../../shared/core/user/user-repository.ts';
import { proposalKey } from '../../shared/features/names/kinds.ts';
import { faultsOn } from '../helpers/browser.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { nameEntities } from '../helpers/names.ts';
import { correct, decideName, reviewNew, wordsOf } from '../helpers/names-by-people.ts';
import { filledForm, newEntity, publishForm } from '../helpers/review-form.ts';
import { beforeTransaction } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import { makeModerator, makeUser, makeUsers, newWork, visitor } from '../helpers/world.ts';

const at = 'https://api.example/ws';
const mia = await makeModerator('Mia Modestly');

describe('the first review of something without a name', () => {
  test('names it in the same form, with a line and an address', async () => {
    const ann = await makeUser();
    const words = { name: ' Blue \n Train ', about: 'John Coltrane · 1957' };
    const url = 'https://music.example/blue-train';
    const entity = await reviewNew(ann, { ...words, url });
    expect(await wordsOf(entity)).toEqual({
      name: 'Blue Train',
      about: words.about,
      url,
      origin: 'member',
      user_id: ann.id,
    });
    const { body } = await visitor.readsEntity(entity.entity_id, { include_metadata: 'true' });
    expect(body.metadata).toMatchObject({ name: 'Blue Train', about: words.about, url });
  });

  test('needs the name, and asks for it with all that was typed', async () => {
    const query = newEntity();
    const answer = await publishForm(await makeUser(), query, filledForm({ name: '' }));
    expect([answer.status, faultsOn(answer.shown).name]).toEqual([400, 'Please fill this in.']);
    expect(answer.html).toContain('<legend>What are you reviewing?</legend>');
    expect((await visitor.lists({ entity_id: query.entity_id })).body.count).toBe(0);
  });

  test('is not asked for a name that is known, and ignores one that is sent', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Blue' });
    const form = await pageFor('show-review-form', ben, { query: { ...entity } });
    expect(form).not.toContain('What are you reviewing?');
    const answer = await publishForm(ben, { ...entity }, filledForm({ name: 'Mine' }));
    expect(answer).toHaveStatus(303);
    expect((await wordsOf(entity)).name).toBe('Blue');
  });

  test('two at once name it once, and both are published', async () => {
    for (let round = 0; round < 5; round++) {
      const people = await makeUsers(4);
      const query = newEntity();
      const answers = await Promise.all(
        people.map((person, i) => publishForm(person, query, filledForm({ name: `Name ${i}` }))),
      );
      expect(answers.map(({ status }) => status)).toEqual([303, 303, 303, 303]);
      const record = await readRecord(query as never);
      const winner = people.findIndex(({ id }) => id === record?.user_id);
      expect(record?.name).toBe(`Name ${winner}`);
    }
  });
});

/** The form that undoes the newest correction of the log. */
async function newestEntry() {
  const html = await pageFor('show-decisions', mia);
  return { id: /name="id" value="([^"]*)"/.exec(html)?.[1] ?? '' };
}

describe('a correction', () => {
  test('is made at once where nobody else has reviewed, and logged', async () => {
    const ann = await makeUser();
    const entity = await reviewNew(ann, { name: 'Bleu', about: '1957' });
    const answer = await correct(ann, entity, { name: 'Blue', about: '1958' });
    expect(answer.headers.location).toBe(`${at}/entity/${entity.entity_id}?entity_type=work`);
    expect(answer.headers['set-cookie']).toContain('notice=name-saved');
    expect(await wordsOf(entity)).toMatchObject({ name: 'Blue', about: '1958' });
    await applyStream();
    const html = await pageFor('show-decisions', mia);
    expect(html).toContain('<del><bdi>Bleu</bdi></del> → <bdi>Blue</bdi>');
    // It is no decision of a moderator about her.
    expect(await pageFor('show-account', ann)).not.toContain('Name corrected');
  });

  test('is proposed to moderators where somebody else has reviewed', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await ben.publishes({ ...entity });
    for (const person of [ann, ben]) {
      expect(await correct(person, entity, { name: 'Blue', note: 'A typo' })).toHaveStatus(303);
    }
    expect((await wordsOf(entity)).name).toBe('Bleu');
    await applyStream();
    const desk = await pageFor('show-cases', mia, { query: { kind: 'proposal' } });
    expect(desk).toContain('<del><bdi>Bleu</bdi></del> → <bdi>Blue</bdi>');
    expect(desk).toContain('A typo');
    expect(await decideName(mia, entity, ben, 'accept')).toHaveStatus(303);
    expect(await wordsOf(entity)).toMatchObject({
      name: 'Blue',
      user_id: ben.id,
      origin: 'member',
    });
    // Ann reads that her words were corrected. Her own proposal is outdated now.
    expect(countNews((await findUser(ann.id)) as never)).toBe(1);
    const late = await decideName(mia, entity, ann, 'accept');
    expect([late.status, faultsOn(late.shown)['']]).toEqual([
      400,
      'The proposal changes nothing: decline it.',
    ]);
    expect(await decideName(mia, entity, ann, 'decline')).toHaveStatus(303);
    expect(await pageFor('show-cases', mia, { query: { kind: 'proposal' } })).not.toContain(
      entity.entity_id,
    );
  });

  test.each([
    ['accept', 'A moderator has accepted a correction of yours.', 'Accepted'],
    ['decline', 'A moderator has declined a correction of yours.', 'Correction declined'],
  ] as const)(
    'is listed for who proposed it, and the outcome is news: %s',
    async (decision, news, outcome) => {
      const [ann, ben] = await makeUsers(2);
      const entity = await reviewNew(ann, { name: 'Bleu' });
      await correct(ben, entity, { name: 'Blue', note: 'A typo' });
      await applyStream();
      const link = `href="${at}/entity/${entity.entity_id}?entity_type=work"`;
      const open = await pageFor('show-my-names', ben);
      expect(open).toContain(link);
      expect(open).toContain('A typo');
      expect(open).not.toContain(outcome);
      expect(await pageFor('show-my-names', ann)).not.toContain(link);
      await decideName(mia, entity, ben, decision);
      await applyStream();
      const account = await pageFor('show-account', ben);
      expect(account).toContain(`${news} <a href="${at}/account/names">See your corrections</a>`);
      const decided = await pageFor('show-my-names', ben);
      expect(decided).toContain(link);
      expect(decided).toContain(outcome);
      expect(decided).not.toContain('A typo');
      // What she corrects herself is no outcome, nor is a decision on a review.
      const own = await reviewNew(ann, { name: 'Rouge' });
      await correct(ann, own, { name: 'Red' });
      await applyStream();
      expect(await pageFor('show-my-names', ann)).not.toContain('Red');
    },
  );

  test('of a name that somebody else gave is proposed, although nobody has reviewed', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = newWork();
    await correct(ann, entity, { name: 'Given' });
    await correct(ben, entity, { name: 'Taken' });
    expect((await wordsOf(entity)).name).toBe('Given');
  });

  test('counts only public reviews of others', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await ben.publishes({ ...entity, is_draft: true });
    const carl = await makeUser();
    await setHidden(await carl.publishes({ ...entity }), true);
    await correct(ann, entity, { name: 'Blue' });
    expect((await wordsOf(entity)).name).toBe('Blue');
    // A draft of hers is no review that counts, so that of Dora is another's.
    const other = newWork();
    await nameEntities({ [other.entity_id]: 'From a database' }, 'work');
    const dora = await makeUser();
    await dora.publishes({ ...other });
    await ann.publishes({ ...other, is_draft: true });
    await correct(ann, other, { name: 'Mine' });
    expect((await wordsOf(other)).name).toBe('From a database');
  });

  test('by a moderator is made at once, undone from the log, and undone once', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Bleu', about: '1957', url: 'https://a.example/' });
    await ben.publishes({ ...entity });
    await correct(mia, entity, { name: 'Blue', about: '', url: '' });
    expect(await wordsOf(entity)).toEqual({ name: 'Blue', origin: 'moderator', user_id: mia.id });
    await applyStream();
    const form = await newestEntry();
    const undone = await ask('undo-correction', mia, { form });
    expect(undone.headers.location).toBe(`${at}/account/moderation/log`);
    const words = { name: 'Bleu', about: '1957', url: 'https://a.example/' };
    expect(await wordsOf(entity)).toEqual({ ...words, origin: 'member', user_id: ann.id });
    const again = await ask('undo-correction', mia, { form });
    expect([again.status, faultsOn(again.shown)['']]).toEqual([
      400,
      'The name has been changed again since.',
    ]);
  });

  test('is undone without the name of an author who has left since', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await ben.publishes({ ...entity });
    await correct(mia, entity, { name: 'Blue' });
    await ann.leaves();
    await applyStream();
    const form = await newestEntry();
    expect(await ask('undo-correction', mia, { form })).toHaveStatus(303);
    expect(await wordsOf(entity)).toEqual({ name: 'Bleu', origin: 'member' });
  });

  test('by the author of the name is undone as well', async () => {
    const ann = await makeUser();
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await correct(ann, entity, { name: 'Blue' });
    const form = await newestEntry();
    expect(await ask('undo-correction', mia, { form })).toHaveStatus(303);
    expect(await wordsOf(entity)).toEqual({ name: 'Bleu', origin: 'member', user_id: ann.id });
  });

  test('of what has changed since the form was shown is refused, and keeps the words', async () => {
    const ann = await makeUser();
    const entity = await reviewNew(ann, { name: 'Bleu' });
    const { version } = (await readRecord(entity)) ?? {};
    await correct(ann, entity, { name: 'Blau' });
    const late = await correct(ann, entity, { name: 'Blue', seen: `${version}` });
    expect([late.status, faultsOn(late.shown)['']]).toEqual([
      412,
      'This was saved elsewhere after you opened this page, so nothing was changed.',
    ]);
    expect(late.html).toContain('value="Blue"');
    expect((await wordsOf(entity)).name).toBe('Blau');
  });

  test('without a change is a report if it says why, and nothing otherwise', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'An insult' });
    const nothing = await correct(ben, entity, { name: 'An insult' });
    expect(nothing.headers['set-cookie']).toContain('notice=name-same');
    await correct(ben, entity, { name: 'An insult', note: 'This insults somebody' });
    await applyStream();
    const html = await pageFor('show-cases', mia, { query: { kind: 'proposal' } });
    expect(html).toContain('A report<p class="verbatim" dir="auto">This insults somebody');
    const path = { entity_id: entity.entity_id };
    const page = await pageFor('show-thing', mia, { path, query: { entity_type: 'work' } });
    expect(page).toContain('>Close the report</button>');
    await decideName(mia, entity, ben, 'decline');
  });

  test('is decided and undone by moderators alone', async () => {
    const ann = await makeUser();
    const { entity_id, entity_type } = newWork();
    const seen = { user_id: mia.id, proposed_at: new Date().toISOString(), seen: '' };
    const form = { decision: 'decline', ...seen, id: randomUUID() };
    const at = { path: { entity_id }, query: { entity_type } };
    for (const operation of ['show-proposals', 'decide-proposal', 'undo-correction']) {
      expect(await ask(operation, ann, { ...at, form })).toHaveStatus(404);
    }
  });

  test('counts as an edit', async () => {
    process.env.EDITS_PER_DAY = '2';
    const ann = await makeUser();
    const entity = await reviewNew(ann, { name: 'One' });
    for (const name of ['Two', 'Three']) {
      expect(await correct(ann, entity, { name })).toHaveStatus(303);
    }
    const refused = await correct(ann, entity, { name: 'Four' });
    expect([refused.status, (await wordsOf(entity)).name]).toEqual([403, 'Three']);
  });
});

describe('the text of a name', () => {
  test.each([
    ['x'.repeat(201), 'It must have 1 to 200 characters.'],
    ['a\u0000b', 'It must not contain U+0000.'],
    ['a\u202eb', 'It must not contain invisible characters or controls of the direction of text.'],
    ['\u200b', 'It must have some visible character.'],
    ['Buy at https://shop.example', 'It must not contain an address of a website.'],
    ['www.shop.example', 'It must not contain an address of a website.'],
    ['shop.example/blue', 'It must not contain an address of a website.'],
    ['Moderator: call 555', 'It must not look like a message of a moderator.'],
    ['Αdmin — sign in again', 'It must not look like a message of a moderator.'],
  ])('%j is refused', async (name, sentence) => {
    const entity = newWork();
    const answer = await correct(await makeUser(), entity, { name });
    expect([answer.status, faultsOn(answer.shown).name]).toEqual([400, sentence]);
    expect(await readRecord(entity)).toBeUndefined();
  });

  test.each([
    'Smooth Operator',
    'Amazon.com',
    'S.W.A.T.',
    'Se7en',
    '<b>&"\'</b>',
    'Ночь',
    '千と千尋',
  ])('%j is taken, and stands on pages as it is', async (name) => {
    const ann = await makeUser();
    const entity = await reviewNew(ann, { name, about: '"><script>alert(1)</script>' });
    expect((await wordsOf(entity)).name).toBe(name);
    const { entity_id } = entity;
    for (const operation of ['show-entity', 'show-my-reviews', 'show-home', 'show-reviews']) {
      const { html } = await ask(operation, ann, { path: { entity_id } });
      expect(html).not.toMatch(/<script>|<b>&/);
    }
  });

  test('of a moderator is for moderators', async () => {
    const entity = newWork();
    for (const name of ['Mia Modestly', 'ＭＩＡ  modestly', 'Mіa Modestly']) {
      expect([name, (await correct(await makeUser(), entity, { name })).status]).toEqual([
        name,
        400,
      ]);
    }
    const line = await correct(await makeUser(), entity, { name: 'Blue', about: 'Mia Modestly' });
    expect(line).toHaveStatus(400);
    expect(await correct(mia, entity, { name: 'Mia Modestly' })).toHaveStatus(303);
  });

  test.each(['javascript:alert(1)', 'ftp://a.example/', 'https://user@a.example/', 'a b'])(
    'an address %j is refused',
    async (url) => {
      const entity = newWork();
      const answer = await correct(await makeUser(), entity, { name: 'Blue', url });
      expect([answer.status, Object.keys(faultsOn(answer.shown))]).toEqual([400, ['', 'url']]);
    },
  );
});

describe('races', () => {
  test.each(['the first', 'another'])(
    'somebody publishes %s review while a name is corrected: it is proposed',
    async (which) => {
      const [ann, ben] = await makeUsers(2);
      const entity = newWork();
      await correct(ann, entity, { name: 'Bleu' });
      if (which === 'another') await ann.publishes({ ...entity });
      beforeTransaction(() => ben.publishes({ ...entity }));
      const answer = await correct(ann, entity, { name: 'Blue' });
      expect(answer.headers['set-cookie']).toContain('notice=name-proposed');
      expect((await wordsOf(entity)).name).toBe('Bleu');
    },
  );

  test('a moderator who is none any more when the name is stored writes nothing', async () => {
    const [ann, ben] = await makeUsers(2);
    const former = await makeModerator('Nora Newly');
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await ben.publishes({ ...entity });
    beforeTransaction(() => setAttributes(userKey(former.id), { is_moderator: false }));
    const { status } = await correct(former, entity, { name: 'Blue' });
    expect(status).toBeGreaterThanOrEqual(400);
    expect((await wordsOf(entity)).name).toBe('Bleu');
  });

  test('a decision of a moderator who is none any more when it is stored changes nothing', async () => {
    const [ann, ben] = await makeUsers(2);
    const former = await makeModerator('Olga Only');
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await correct(ben, entity, { name: 'Blue' });
    await applyStream();
    beforeTransaction(() => setAttributes(userKey(former.id), { is_moderator: false }));
    expect(await decideName(former, entity, ben, 'accept')).toHaveStatus(404);
    expect((await wordsOf(entity)).name).toBe('Bleu');
  });

  test('a proposal that is replaced while it is decided stays, and is not decided', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await correct(ben, entity, { name: 'Blue' });
    await applyStream();
    const Key = proposalKey(entity.entity_type, entity.entity_id, ben.id);
    const proposed_at = new Date(Date.now() + 1_000).toISOString();
    for (const decision of ['accept', 'decline'] as const) {
      const html = await pageFor('show-cases', mia, { query: { kind: 'proposal' } });
      expect(html).toContain(entity.entity_id);
      beforeTransaction(() => setAttributes(Key, { name: 'Azure', proposed_at }));
      expect(await decideName(mia, entity, ben, decision)).toHaveStatus(400);
      expect(await readItem(Key)).toMatchObject({ name: 'Azure' });
      await setAttributes(Key, { proposed_at: new Date().toISOString() });
    }
    expect((await wordsOf(entity)).name).toBe('Bleu');
  });

  test('a correction and a renewal by a database: the moderator’s words stay', async () => {
    for (let round = 0; round < 5; round++) {
      const entity = newWork();
      await nameEntities({ [entity.entity_id]: 'Database' }, 'work');
      const before = (await readRecord(entity)) as EntityRecord;
      const renewal = recordWrites(before, { ...before, name: 'Renewed' });
      const [answer] = await Promise.all([
        correct(mia, entity, { name: 'Person' }),
        writeRecords([renewal]),
      ]);
      const words = await wordsOf(entity);
      if (answer.status === 303) expect(words.origin).toBe('moderator');
      else expect([answer.status, words.name]).toEqual([412, 'Renewed']);
      await writeRecords([renewal]);
      expect((await wordsOf(entity)).name).toBe(words.name);
    }
  });

  test('a correction and the deletion of its account: the name stays, the person does not', async () => {
    for (let round = 0; round < 5; round++) {
      const [ann, ben] = await makeUsers(2);
      const entity = await reviewNew(ann, { name: 'Bleu' });
      const other = await reviewNew(ben, { name: 'Rouge' });
      const corrections = [
        correct(ann, entity, { name: 'Blue' }),
        correct(ann, other, { name: 'Red', note: 'English' }),
      ];
      await Promise.all([...corrections, ann.leaves()]);
      await applyStream();
      expect(['Bleu', 'Blue']).toContain((await wordsOf(entity)).name);
      const rest = (await scanTable()).filter((item) =>
        JSON.stringify(item, noRank).includes(ann.id),
      );
      // The logs name ids, and the projection remembers the version.
      expect(
        rest.map(({ sk }) => sk).filter((sk) => !/^(DECISION$|PROJECTION$|AT#)/.test(sk)),
      ).toEqual([]);
    }
  });

  test('a proposal of somebody who leaves is gone, and cannot be accepted', async () => {
    const [ann, ben] = await makeUsers(2);
    const entity = await reviewNew(ann, { name: 'Bleu' });
    await correct(ben, entity, { name: 'Blue' });
    await applyStream();
    await ben.leaves();
    const { status } = await decideName(mia, entity, ben, 'accept');
    expect(status).toBe(400);
    await applyStream();
    expect(await pageFor('show-cases', mia, { query: { kind: 'proposal' } })).not.toContain(
      entity.entity_id,
    );
    expect((await wordsOf(entity)).name).toBe('Bleu');
  });
});

const noRank = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

test('own data has names and proposals', async () => {
  const [ann, ben] = await makeUsers(2);
  const entity = await reviewNew(ann, { name: 'Bleu', about: '1957' });
  await correct(ben, entity, { name: 'Blue', note: 'A typo' });
  const { names } = (await ann.exports()).body;
  expect(names).toMatchObject([{ ...entity, name: 'Bleu', about: '1957' }]);
  const { proposed_names } = (await ben.exports()).body;
  expect(proposed_names).toMatchObject([{ ...entity, name: 'Blue', note: 'A typo' }]);
});
