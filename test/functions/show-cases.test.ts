import { randomUUID } from 'node:crypto';
import { routes } from '../../shared/base/routes.ts';
import { batchDelete, batchWrite } from '../../shared/base/table/batch.ts';
import { caseKey, metadataKey, reviewKey, userKey } from '../../shared/core/keys.ts';
import { appeal, decideReview } from '../../shared/core/report/decision-repository.ts';
import { insertReport } from '../../shared/core/report/report-repository.ts';
import { deleteReview } from '../../shared/core/review/review-repository.ts';
import { setModerator } from '../../shared/core/user/name-repository.ts';
import { deleteAccount } from '../../shared/features/account/delete-account.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { proposalWrite } from '../../shared/features/names/proposal.ts';
import { faultsOn } from '../helpers/browser.ts';
import { decideCase, seenOf } from '../helpers/cases.ts';
import { stopClock } from '../helpers/clock.ts';
import { readItem, setAttributes, storeItems } from '../helpers/items.ts';
import { correct, reviewNew } from '../helpers/names-by-people.ts';
import { ask, nextOn, pageFor, pagesOf } from '../helpers/visit.ts';
import { makeModerator, makeUser, makeUsers, operator } from '../helpers/world.ts';

const author = await makeUser({ display_name: 'Ann <b>' });
const mia = await makeModerator('Mia');

const pages = routes.filter(({ path }) => path.startsWith('/account/moderation'));

/** A review that so many have reported, for these reasons. */
async function reported(...reasons: string[]): Promise<string> {
  stopClock(Date.now() + 1);
  const id = await author.publishes();
  for (const [i, { id: user_id }] of (await makeUsers(reasons.length)).entries()) {
    await insertReport({ id, user_id: author.id }, { user_id, reason: reasons[i] ?? '' });
  }
  return id;
}

/** The row of a table that leads to a review. */
function rowOf(html: string, id: string): string {
  const rows = html.match(/<tr>[\s\S]*?<\/tr>/g) ?? [];
  return rows.find((row) => row.includes(`/reviews/${id}"`)) ?? '';
}

/** The ids of the reviews that a page links to, in its order. */
const linked = (html: string): string[] =>
  [...html.matchAll(/<strong><a href="[^"]*\/reviews\/([^"]+)"/g)].map(([, id = '']) => id);

describe('the pages of moderators', () => {
  test.each(pages)('$method $path is not there for others', async ({ operation, method }) => {
    const review_id = await reported('spam');
    const former = await makeModerator('Ida');
    const blocked = await makeModerator('Bea');
    await setModerator(former.id, false);
    await decideUser(blocked.id, 'block', operator);
    const invitation_id = 'f'.repeat(32);
    const path = { review_id, user_id: author.id, entity_id: review_id, invitation_id };
    const query = { entity_type: 'work' };
    const form = { reason: 'spam', note: '', ...(await seenOf(mia, review_id)) };
    const decision = operation === 'decide-user' ? 'block' : 'hide';
    for (const user of [author, former, blocked]) {
      for (const fields of [{ ...form, decision }, {}]) {
        const sent = method === 'POST' ? { path, query, form: fields } : { path, query };
        const { status, html } = await ask(operation, user, sent);
        expect(status).toBe(404);
        expect(html.includes('<h1>Page not found</h1>')).toBe(true);
        expect(html).not.toContain('>Moderation<');
      }
    }
    expect(await readItem(reviewKey(review_id))).toMatchObject({ is_hidden: false });
  });

  test('list what was reported, page by page, in both orders', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 21; i++) {
      stopClock(Date.now() + 1);
      ids.push(await reported(...Array(1 + (i % 3)).fill('spam')));
    }
    for (const sort of ['date', 'popularity']) {
      const found: string[] = [];
      const sizes: number[] = [];
      for await (const { status, html } of pagesOf('show-cases', mia, { sort })) {
        expect(status).toBe(200);
        sizes.push(linked(html).length);
        found.push(...linked(html));
      }
      expect(sizes.slice(0, -1)).toEqual(sizes.slice(0, -1).map(() => 20));
      expect(new Set(found).size).toBe(found.length);
      const ours = found.filter((id) => ids.includes(id));
      const counts = ours.map((id) => 1 + (ids.indexOf(id) % 3));
      if (sort === 'date') expect(ours).toEqual(ids);
      else expect(counts).toEqual(counts.toSorted((a, b) => b - a));
      expect(ours).toHaveLength(21);
    }
    expect(await ask('show-cases', mia, { query: { cursor: 'x' } })).toHaveStatus(400);
  });

  test('show the reasons of the reports, the author, and how long each review has waited', async () => {
    const id = await reported('spam', 'Spam', 'abuse', 'In words of one’s own');
    const html = await pageFor('show-cases', mia, { query: { sort: 'popularity' } });
    const row = rowOf(html, id);
    const reports = '4 reports<br>Spam 2, Abuse 1, Another reason 1<';
    expect(row).toContain(`<td data-name="Why">${reports}`);
    expect(row).toMatch(new RegExp(`/users/${author.id}">.*<bdi>Ann &lt;b&gt;</bdi></a>`));
    expect(row).toContain('>a\u00a0moment</time>');
    stopClock(Date.now() + 3 * 3_600_000);
    const later = await pageFor('show-cases', mia, { query: { sort: 'popularity' } });
    expect(rowOf(later, id)).toContain('>3\u00a0hours</time>');
  });

  test('list what was reported for one reason', async () => {
    const spam = await reported('copyright');
    const both = await reported('copyright', 'off_topic');
    const abuse = await reported('off_topic', 'It sells something');
    async function found(reason: string, sort = 'date'): Promise<string[]> {
      const html = await pageFor('show-cases', mia, { query: { reason, sort } });
      return linked(html).filter((id) => [spam, both, abuse].includes(id));
    }
    expect(await found('copyright')).toEqual([spam, both]);
    expect(await found('off_topic')).toEqual([both, abuse]);
    expect(await found('other')).toEqual([abuse]);
    expect(await found('copyright', 'popularity')).toEqual([both, spam]);
    await decideReview(both, 'dismiss', operator);
    expect(await found('copyright')).toEqual([spam]);
    expect(await ask('show-cases', mia, { query: { reason: 'boring' } })).toHaveStatus(400);
  });

  test('name what is reviewed, its type and its language in words', async () => {
    process.env.MUSICDB_API = 'data:application/json,%7B%7D';
    process.env.MUSICDB_PAGE = 'https://music.example/{type}/{id}';
    const text = 'هذا الألبوم من أجمل ما سمعت في حياتي كلها';
    const entity_id = randomUUID();
    const id = await author.publishes({ entity_id, text, language: 'ar' });
    await insertReport({ id, user_id: author.id }, { user_id: mia.id, reason: 'copyright' });
    await setAttributes(metadataKey('release_group', entity_id), { name: 'Blue <i>' });
    for (const [page, path] of [
      ['show-cases', {}],
      ['show-case', { review_id: id }],
      ['show-author', { user_id: author.id }],
    ] as const) {
      const { html } = await ask(page, mia, { path, query: { reason: 'copyright' } });
      expect(html).toContain('<bdi>Blue &lt;i&gt;</bdi>');
      expect(html).toMatch(new RegExp(`lang="ar" dir="auto">${text}<`));
      expect(html).not.toContain('release_group');
      if (page === 'show-case') expect(html).toContain('<dd>Arabic</dd>');
    }
  });

  test('have the number of open cases in their menu, and up to 99 of them', async () => {
    const openOn = async (operation: string, user = mia) =>
      /Moderation \(([^)]*)\)/.exec((await ask(operation, user)).html)?.[1];
    const before = Number(await openOn('show-account'));
    const id = await reported('spam');
    expect(await openOn('show-cases')).toBe(`${before + 1}`);
    await decideCase(mia, id, { decision: 'dismiss' });
    expect(await openOn('show-account')).toBe(`${before}`);
    expect(await openOn('show-account', author)).toBeUndefined();
    await reported('spam');
    const figure = `<span class="figure">${before + 1}<span class="unseen"> to decide</span>`;
    const path = { user_id: author.id };
    for (const operation of [
      'show-home',
      'show-reviews',
      'show-user',
      'show-help',
      'find-entity',
    ]) {
      expect((await ask(operation, mia, { path })).html).toContain(figure);
      const { html } = await ask(operation, author, { path });
      expect(html).not.toMatch(/to decide<|Moderation \(/);
    }
    const opened_at = new Date().toISOString();
    const cases = Array.from({ length: 99 - before }, () => {
      const id = randomUUID();
      return { ...caseKey(id), all: 'CASE', date: `${opened_at}#${id}`, user_id: author.id };
    });
    await storeItems(cases);
    expect(await openOn('show-account')).toBe('99+');
    await batchDelete(cases);
  });

  test('list reports, new authors, appeals and corrections together, and each kind alone', async () => {
    process.env.HELD_REVIEWS = '1';
    const newcomer = await makeUser();
    const held = await newcomer.publishes();
    delete process.env.HELD_REVIEWS;
    const report = await reported('spam');
    const appealed = await author.publishesHidden();
    stopClock(Date.now() + 1);
    await appeal(appealed, author.id, 'It is no shop.');
    const proposed = await reviewNew(author, { name: 'Bleu' });
    await newcomer.publishes({ ...proposed });
    stopClock(Date.now() + 1);
    await correct(newcomer, proposed, { name: 'Blue', note: 'In English' });
    const ours = { held, report, appeal: appealed, proposal: proposed.entity_id };
    const listed = async (query: Record<string, string>) => {
      const found: string[] = [];
      for await (const { html } of pagesOf('show-cases', mia, query)) {
        const kinds = Object.entries(ours).filter(([, id]) => html.includes(id));
        const place = ([, id]: [string, string]) => html.indexOf(id);
        found.push(...kinds.sort((a, b) => place(a) - place(b)).map(([kind]) => kind));
      }
      return found;
    };
    expect(await listed({})).toEqual(['held', 'report', 'appeal', 'proposal']);
    for (const kind of Object.keys(ours)) expect(await listed({ kind })).toEqual([kind]);
    // A report of a review that waits, and an appeal against what was reported, stay what they are.
    await mia.reports(held);
    expect(await listed({ kind: 'held' })).toEqual(['held']);
    expect(await ask('show-cases', mia, { query: { kind: 'boring' } })).toHaveStatus(400);
  });

  test('understand the link of older code to what is held', async () => {
    const html = await pageFor('show-cases', mia, { query: { reason: 'held' } });
    expect(html).toMatch(/kind=held" aria-current="[a-z]+"/);
  });

  test('lead from page to page of corrections', async () => {
    const proposer = await makeUser();
    const entities = Array.from({ length: 41 }, () => {
      return { entity_id: randomUUID(), entity_type: 'work' as const, name: 'Bleu' };
    });
    const writes = entities.map((entity, i) => {
      stopClock(Date.now() + i);
      return proposalWrite(entity, { user_id: proposer.id, note: '' });
    });
    await batchWrite(
      writes.map((write) => ({ put: (write as { Put: { Item: object } }).Put.Item })),
    );
    const found: string[] = [];
    for await (const { status, html } of pagesOf('show-cases', mia, { kind: 'proposal' })) {
      expect(status).toBe(200);
      for (const [, id = ''] of html.matchAll(/\/moderation\/things\/([^?"]+)/g)) found.push(id);
    }
    const ours: string[] = entities.map(({ entity_id }) => entity_id);
    expect(found.filter((id) => ours.includes(id))).toEqual(ours);
  });

  test('make public again and dismiss without a reason', async () => {
    for (const [decision, other] of [
      ['dismiss', 'hide'],
      ['restore', 'uphold'],
    ] as const) {
      const id = await reported('spam');
      if (decision === 'restore') {
        await decideReview(id, 'hide', operator);
        await appeal(id, author.id, '');
      }
      const html = await pageFor('show-case', mia, { path: { review_id: id } });
      const forms = html.split('<form').filter((each) => each.includes('name="version"'));
      const formOf = (verdict: string) => forms.find((each) => each.includes(`value="${verdict}"`));
      expect(formOf(decision)).not.toMatch(/<select|<textarea/);
      expect(formOf(other)).toMatch(/<select[^>]*name="reason"/);
      expect(await decideCase(mia, id, { decision })).toHaveStatus(303);
      const log = await pageFor('show-decisions', mia);
      const words = { dismiss: 'Reports dismissed', restore: 'Public again' }[decision];
      expect(log).toContain(`<strong>${words}</strong>`);
    }
  });

  test('show a case with its reports, in words where there are some, and escaped', async () => {
    const id = await reported('off_topic', 'It is <i>mine</i>', 'constructor', '__proto__');
    const html = await pageFor('show-case', mia, { path: { review_id: id } });
    expect(html).toContain('<h1>A review by Ann &lt;b&gt;</h1>');
    expect(html).toContain('<p class="verbatim" dir="auto">Off topic</p>');
    for (const text of ['It is &lt;i&gt;mine&lt;/i&gt;', 'constructor', '__proto__']) {
      expect(html).toContain(`<p class="verbatim" dir="auto">${text}</p>`);
    }
    expect(html).toContain('value="dismiss"');
    expect(html).not.toContain('value="restore"');
  });

  test('show the moderator of an appeal what others had reported', async () => {
    const id = await reported('abuse', 'It names my sister');
    await decideReview(id, 'hide', operator);
    await appeal(id, author.id, 'It was a joke.');
    const html = await pageFor('show-case', mia, { path: { review_id: id } });
    expect(html).toContain('<p class="verbatim" dir="auto">It was a joke.</p>');
    expect(html).toMatch(/<h2>2 reports from before the last decision<\/h2>/);
    for (const reason of ['Abuse', 'It names my sister']) {
      expect(html).toContain(`<p class="verbatim" dir="auto">${reason}</p>`);
    }
    expect(html).not.toContain('<h2>0 reports');
  });

  test('know no review and no user that is not there, nor a draft', async () => {
    const draft = await author.publishes({ is_draft: true });
    for (const review_id of [randomUUID(), 'x', draft]) {
      expect(await ask('show-case', mia, { path: { review_id } })).toHaveStatus(404);
      expect(await decideCase(mia, review_id, { decision: 'hide', edits: '0' })).toHaveStatus(404);
    }
    expect(await readItem(reviewKey(draft))).toMatchObject({ is_hidden: false });
    for (const user_id of [randomUUID(), 'x']) {
      expect(await ask('show-author', mia, { path: { user_id } })).toHaveStatus(404);
    }
  });

  test('take a decision with a reason of the list, and say beside the field what is wrong', async () => {
    const id = await reported('spam');
    const decide = (form: object) => decideCase(mia, id, { ...whole, ...form });
    const whole = { decision: 'hide', reason: 'spam', note: 'A shop.' };
    for (const [reason, fault] of [
      ['', 'Please fill this in.'],
      ['boring', 'It must be one of spam, abuse, off_topic, copyright, other.'],
    ] as const) {
      const { status, html } = await decide({ reason });
      expect(status).toBe(400);
      expect(html).toContain(`id="reason-fault">${fault}<`);
    }
    const { status: long, shown } = await decide({ note: 'x'.repeat(501) });
    expect(long).toBe(400);
    expect(faultsOn(shown)).toMatchObject({ note: 'It must have 0 to 500 characters.' });
    expect(await decide({ version: '7' })).toHaveStatus(400);
    expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden: false });
    const { status, headers } = await decide({});
    expect(status).toBe(303);
    expect(headers.location).toBe('https://api.example/ws/account/moderation');
    const hidden = { is_hidden: true, moderation: whole };
    expect(await readItem(reviewKey(id))).toMatchObject(hidden);
  });

  test('offer no decision to a moderator who has reported the review', async () => {
    const id = await reported('spam');
    await insertReport({ id, user_id: author.id }, { user_id: mia.id, reason: 'spam' });
    const html = await pageFor('show-case', mia, { path: { review_id: id } });
    expect(html).toContain('You have reported this review: another moderator decides on it.');
    expect(html).not.toContain('Hide the review');
    expect(await decideCase(mia, id, { decision: 'hide', reason: 'spam' })).toHaveStatus(400);
  });

  test('allow a review in place of a hidden one that was deleted', async () => {
    const eva = await makeUser({ display_name: 'Eva' });
    const at = { path: { user_id: eva.id } };
    expect(await pageFor('show-author', mia, at)).not.toContain('Allow a new review');
    const entity_id = randomUUID();
    const id = await eva.publishes({ entity_id });
    await decideReview(id, 'hide', operator);
    await deleteReview(id, eva.id);
    const html = await pageFor('show-author', mia, at);
    expect(html).toContain(`<option value="${entity_id}">Album or single ${entity_id}, deleted `);
    const form = { decision: 'allow', entity_id, reason: 'other', note: 'It was a mistake.' };
    const allow = (changed: object = {}) =>
      ask('decide-user', mia, { ...at, form: { ...form, ...changed } });
    const faulty = await allow({ reason: '' });
    expect(faulty).toHaveStatus(400);
    expect(faulty.html).toContain('id="allow-reason-fault">Please fill this in.<');
    expect(faulty.html).not.toContain('id="reason-fault"');
    for (const other of [randomUUID(), 'x', '']) {
      expect(await allow({ entity_id: other })).toHaveStatus(400);
    }
    expect(await allow()).toHaveStatus(303);
    const after = await pageFor('show-author', mia, at);
    expect(after).not.toContain('Allow a new review');
    expect(after).toContain('May be reviewed again: another reason');
    await eva.publishes({ entity_id });
    expect(await allow()).toHaveStatus(400);
  });

  test('block an account and end that', async () => {
    const { id } = await makeUser();
    for (const decision of ['block', 'unblock', 'block']) {
      const form = { decision, reason: 'abuse', note: '' };
      expect(await ask('decide-user', mia, { path: { user_id: id }, form })).toHaveStatus(303);
      expect((await readItem(userKey(id)))?.blocked_at !== undefined).toBe(decision === 'block');
    }
  });

  test('have a log of everything, newest first', async () => {
    const by = { reason: 'other', moderator_id: mia.id } as const;
    const notes: string[] = [];
    for (let i = 0; i < 21; i++) {
      stopClock(Date.now() + 1);
      notes.unshift(`note ${i}.`);
      await decideReview(await reported('spam'), 'dismiss', { ...by, note: `note ${i}.` });
    }
    const first = await ask('show-decisions', mia);
    const cursor = nextOn(first.html) ?? '';
    const second = await pageFor('show-decisions', mia, { query: { cursor } });
    expect((first.html + second).match(/note \d+\./g)).toEqual(notes);
    expect(first.html).toContain('<td data-name="By"><bdi>Mia</bdi></td>');
    expect(first.html).toContain('<td data-name="Reports">1</td>');
  });

  test('lead nowhere from a decision about somebody who has left', async () => {
    const leaver = await makeUser({ display_name: 'Leo' });
    const id = await leaver.publishes();
    await decideReview(id, 'hide', { reason: 'spam', note: '', moderator_id: mia.id });
    const before = await pageFor('show-decisions', mia);
    expect(before).toMatch(new RegExp(`users/${leaver.id}">.*<bdi>Leo</bdi></a>`));
    await deleteAccount(leaver.id);
    const html = await pageFor('show-decisions', mia);
    expect(html).toContain('>a review of <bdi>somebody who has left</bdi></td>');
    expect(html).not.toMatch(new RegExp(`${leaver.id}|${id}`));
    expect(await ask('show-case', mia, { path: { review_id: id } })).toHaveStatus(404);
  });
});

describe('the account page', () => {
  test('says what an author can do about a hidden review, and what has come of it', async () => {
    const cara = await makeUser();
    const id = await cara.publishes();
    const by = { reason: 'spam', note: '', moderator_id: mia.id } as const;
    const texts = {
      question: 'Appeal against this decision',
      asked: 'There is no answer yet.',
      answered: 'The decision is final.',
    };
    const said = async () => {
      const html = await pageFor('show-account', cara);
      return Object.entries(texts).flatMap(([name, text]) => (html.includes(text) ? [name] : []));
    };
    await decideReview(id, 'hide', by);
    expect(await said()).toEqual(['question']);
    await appeal(id, cara.id, '');
    expect(await said()).toEqual(['asked']);
    await decideReview(id, 'uphold', operator);
    expect(await said()).toEqual(['answered']);
    await decideReview(id, 'restore', by);
    expect(await said()).toEqual([]);
  });

  test('leads page by page to every hidden review that can be asked about', async () => {
    const dora = await makeUser();
    const ids: string[] = [];
    for (let i = 0; i < 21; i++) {
      stopClock(Date.now() + 1);
      ids.unshift(await dora.publishes());
      await decideReview(`${ids[0]}`, 'hide', operator);
    }
    const asked = (html: string) =>
      [...html.matchAll(/\/account\/reviews\/([^"]+)\/appeal"/g)].map(([, id]) => id);
    const first = await pageFor('show-account', dora);
    expect(asked(first)).toEqual(ids.slice(0, 20));
    const cursor = nextOn(first) ?? '';
    const second = await pageFor('show-account', dora, { query: { cursor } });
    expect(asked(second)).toEqual(ids.slice(20));
    expect(nextOn(second)).toBeUndefined();
    expect(await ask('show-account', author, { query: { cursor } })).toHaveStatus(400);
  });
});
