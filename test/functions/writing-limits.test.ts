import { handler as updateMe } from '../../functions/api/update-me.ts';
import { countsKey, dailyVotesKey, userKey } from '../../shared/core/keys.ts';
import { importRecords } from '../../shared/features/transfer/import.ts';
import { stopClock } from '../helpers/clock.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { correct, reviewNew } from '../helpers/names-by-people.ts';
import { filledForm, newEntity, publishForm } from '../helpers/review-form.ts';
import { reviewRecord, sourced } from '../helpers/transfer.ts';
import { ask } from '../helpers/visit.ts';
import { makeUser, makeUsers, type Person, reviewBody } from '../helpers/world.ts';

const noon = '2026-11-20T12:00:00.000Z';
const today = '2026-11-20';

beforeEach(() => stopClock(Date.parse(noon)));

async function counterOf({ id }: Person) {
  const counter = await readItem(dailyVotesKey(id, today));
  return { publications: counter?.publications ?? 0, edits: counter?.edits ?? 0 };
}

function refusal(
  what: 'publications' | 'edits' | 'names' | 'renames',
  limit: number,
  description: string,
) {
  return {
    status: 403,
    body: { error: 'limit_exceeded', description },
    headers: {
      'ratelimit-policy': `"${what}";q=${limit};w=86400`,
      ratelimit: `"${what}";r=0;t=43200`,
      'retry-after': '43200',
    },
  };
}

describe('POST /review', () => {
  test('takes 200 publications a day, drafts included, and then none until the next day', async () => {
    delete process.env.PUBLICATIONS_PER_DAY;
    const author = await makeUser();
    await setAttributes(dailyVotesKey(author.id, today), { publications: 198 });
    const draft = await author.triesToPublish(reviewBody({ is_draft: true }));
    expect(draft).toHaveStatus(200);
    expect(await author.triesToPublish(reviewBody())).toHaveStatus(200);
    const description = 'An account may publish 200 reviews a day (UTC), drafts included';
    const entity_id = crypto.randomUUID();
    expect(await author.triesToPublish(reviewBody({ entity_id }))).toMatchObject(
      refusal('publications', 200, description),
    );
    expect(await counterOf(author)).toEqual({ publications: 200, edits: 0 });
    // A deletion gives nothing back, and to publish the draft is an edit.
    expect(await author.edits(draft.body.id, { is_draft: false })).toHaveStatus(200);
    expect(await author.deletes(draft.body.id)).toHaveStatus(200);
    expect(await author.triesToPublish(reviewBody())).toHaveStatus(403);
    expect(await counterOf(author)).toEqual({ publications: 200, edits: 1 });
    stopClock(Date.parse(noon) + 43_200_000);
    expect(await author.triesToPublish(reviewBody({ entity_id }))).toHaveStatus(200);
  });

  test('counts neither a refused nor a repeated publication', async () => {
    const author = await makeUser();
    const body = reviewBody();
    const send = () =>
      author.triesToPublish(body, {
        'content-type': 'application/json',
        'idempotency-key': '"one"',
      });
    expect(await send()).toHaveStatus(200);
    expect(await send()).toHaveStatus(200);
    expect(await author.triesToPublish(reviewBody({ entity_id: body.entity_id }))).toHaveStatus(
      400,
    );
    expect(await counterOf(author)).toEqual({ publications: 1, edits: 0 });
  });
});

describe('POST /review/{review_id}', () => {
  test('takes 200 edits a day, of all reviews together', async () => {
    delete process.env.EDITS_PER_DAY;
    const author = await makeUser();
    const first = await author.publishes();
    const second = await author.publishes();
    await setAttributes(dailyVotesKey(author.id, today), { edits: 198 });
    expect(await author.edits(first, { rating: 1 })).toHaveStatus(200);
    expect(await author.edits(second, { rating: 1 })).toHaveStatus(200);
    const refused = refusal('edits', 200, 'An account may make 200 edits a day (UTC)');
    expect(await author.edits(first, { rating: 2 })).toMatchObject(refused);
    // A change of nothing costs nothing.
    expect(await author.edits(first, { rating: 1 })).toHaveStatus(200);
    expect(await counterOf(author)).toEqual({ publications: 2, edits: 200 });
    // Publications have a counter of their own.
    expect(await author.triesToPublish(reviewBody())).toHaveStatus(200);
  });
});

describe.each([
  ['publications', 'PUBLICATIONS_PER_DAY', (author: Person) => author.triesToPublish(reviewBody())],
  [
    'edits',
    'EDITS_PER_DAY',
    async (author: Person) => author.edits(await author.publishes(), { rating: 1 }),
  ],
])('the number of %s', (what, setting, act) => {
  test('is never more at once', async () => {
    process.env[setting] = '3';
    const author = await makeUser();
    const answers = await Promise.all(Array.from({ length: 12 }, () => act(author)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await counterOf(author)).toMatchObject({ [what]: 3 });
  });

  test('has no limit if the operator sets 0', async () => {
    process.env[setting] = '0';
    const author = await makeUser();
    await setAttributes(dailyVotesKey(author.id, today), { [what]: 1_000_000 });
    expect(await act(author)).toHaveStatus(200);
  });
});

describe('names of a new account', () => {
  const description = 'In its first 7 days an account may name 10 things a day (UTC)';

  test('are ten a day, given and proposed, on every page', async () => {
    const [ann, ben] = await makeUsers(2);
    const named = await reviewNew(ben, { name: 'Of Ben' });
    await setAttributes(dailyVotesKey(ann.id, today), { names: 7 });
    const entity = await reviewNew(ann, { name: 'Eighth' });
    expect(await correct(ann, entity, { name: 'Ninth' })).toHaveStatus(303);
    expect((await correct(ann, named, { name: 'Tenth' })).headers['set-cookie']).toContain(
      'name-proposed',
    );
    for (const answer of [
      await correct(ann, entity, { name: 'Eleventh' }),
      await correct(ann, named, { name: 'Eleventh' }),
      await publishForm(ann, newEntity(), filledForm({ name: 'Eleventh' })),
    ]) {
      const { headers } = refusal('names', 10, description);
      expect(answer).toMatchObject({ status: 403, headers });
      expect(answer.html).toContain(description);
    }
    // Something that has a name is still reviewed, and a change of nothing costs nothing.
    expect(await publishForm(ann, { ...named }, filledForm())).toHaveStatus(303);
    expect((await correct(ann, entity, { name: 'Ninth' })).headers['set-cookie']).toContain(
      'name-same',
    );
    stopClock(Date.parse(noon) + 43_200_000);
    expect(await correct(ann, entity, { name: 'Eleventh' })).toHaveStatus(303);
  });

  test('are never more at once', async () => {
    const ann = await makeUser();
    await setAttributes(dailyVotesKey(ann.id, today), { names: 8 });
    const forms = Array.from({ length: 6 }, () =>
      publishForm(ann, newEntity(), filledForm({ name: 'At once' })),
    );
    const statuses = (await Promise.all(forms)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([303, 303, 403, 403, 403, 403]);
  });

  test.each([
    ['after seven days', { created: '2026-11-13T12:00:00.000Z' }, 303],
    ['a second earlier', { created: '2026-11-13T12:00:01.000Z' }, 403],
    ['of a moderator', { is_moderator: true }, 303],
  ])('are as many as edits %s', async (_, account, status) => {
    const person = await makeUser();
    await setAttributes(userKey(person.id), account);
    await setAttributes(dailyVotesKey(person.id, today), { names: 10 });
    const entity = { entity_id: crypto.randomUUID(), entity_type: 'work' } as const;
    expect(await correct(person, entity, { name: 'Named' })).toHaveStatus(status);
  });

  test('have the limit of edits as well, which is told by its own name', async () => {
    process.env.EDITS_PER_DAY = '2';
    const ann = await makeUser();
    await setAttributes(dailyVotesKey(ann.id, today), { edits: 2 });
    const entity = { entity_id: crypto.randomUUID(), entity_type: 'work' } as const;
    const { headers } = refusal('edits', 2, '');
    expect(await correct(ann, entity, { name: 'Named' })).toMatchObject({ status: 403, headers });
  });
});

describe('changes of the public name', () => {
  const description = 'You may change your public name 20 times a day (UTC)';
  const rename = ({ caller }: Person, display_name: string) =>
    invoke(updateMe, { caller, method: 'POST', body: { display_name } });

  test('are twenty a day, by the API and the page, and none of them fails', async () => {
    const ann = await makeUser();
    for (let i = 1; i <= 19; i++) expect(await rename(ann, `Ann ${i}`)).toHaveStatus(200);
    expect(await ask('update-account', ann, { form: { display_name: 'Ann 20' } })).toHaveStatus(
      303,
    );
    const refused = refusal('renames', 20, description);
    expect(await rename(ann, 'Ann 21')).toMatchObject(refused);
    const page = await ask('update-account', ann, { form: { display_name: 'Ann 21' } });
    expect(page).toHaveStatus(403);
    expect(page.html).toContain(description);
    // The name that somebody has costs nothing, nor does another field.
    expect(await rename(ann, 'Ann 20')).toHaveStatus(200);
    const form = { display_name: 'Ann 20', email: 'ann@example.com' };
    expect(await ask('update-account', ann, { form })).toHaveStatus(303);
    stopClock(Date.parse(noon) + 43_200_000);
    expect(await rename(ann, 'Ann 21')).toHaveStatus(200);
  });

  test('are never more at once', async () => {
    const ann = await makeUser();
    await setAttributes(dailyVotesKey(ann.id, today), { renames: 18 });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const answers = await Promise.all(names.map((name) => rename(ann, name)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
  });
});

test('an import does not count', async () => {
  process.env.PUBLICATIONS_PER_DAY = '1';
  const author = await makeUser();
  const record = reviewRecord(author.id, { created: noon, published_on: noon });
  await importRecords(sourced([record]));
  expect(await readItem(countsKey(author.id))).toMatchObject({ work: 1, r4: 1 });
  expect(await counterOf(author)).toEqual({ publications: 0, edits: 0 });
});

test('the export of an account contains both counters', async () => {
  const author = await makeUser();
  await author.edits(await author.publishes(), { rating: 1 });
  const { body } = await author.exports();
  expect(body.votes_by_day).toEqual([
    {
      day: today,
      first_votes: 0,
      votes: 0,
      reports: 0,
      publications: 1,
      edits: 1,
      names: 0,
      renames: 0,
    },
  ]);
});
