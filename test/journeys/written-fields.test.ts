import { handler as getUserFeed } from '../../functions/api/get-user-feed.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import type { Written, WrittenName } from '../../shared/core/review/written.ts';
import { parseRecord } from '../../shared/features/transfer/record.ts';
import { contentOf } from '../helpers/browser.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem } from '../helpers/items.ts';
import { follow, position } from '../helpers/list-changes.ts';
import {
  chosenIn,
  filledForm,
  newEntity,
  ownForm,
  publishForm,
  sendForm,
} from '../helpers/review-form.ts';
import { applyStream } from '../helpers/stream.ts';
import { enterEmptyTable } from '../helpers/table.ts';
import { exported, importWhole, recordsOf } from '../helpers/transfer.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import { makeUser, visitor } from '../helpers/world.ts';

// Each field that an author writes, on its whole way.

interface Sample<T> {
  first: T;
  second: T;
  /** Marks of the first value on pages and in feeds. */
  onPage: string;
  inFeed: string;
}

const samples: { [Name in WrittenName]: Sample<Written[Name]> } = {
  text: {
    first: 'The first text of this review, for everybody to read.',
    second: 'The second text of this review, for everybody to read.',
    onPage: 'The first text of this review, for everybody to read.',
    inFeed: 'The first text of this review, for everybody to read.',
  },
  rating: { first: 4, second: 2, onPage: 'aria-label="4 of 5 stars"', inFeed: '★★★★☆' },
};
const names = Object.keys(samples) as WrittenName[];

const all = (which: 'first' | 'second') =>
  Object.fromEntries(names.map((name) => [name, samples[name][which]])) as unknown as Written;
const first = all('first');
const typed = Object.fromEntries(names.map((name) => [name, `${first[name]}`]));

/** The content of each field of a form, whatever kind it is. */
const contentsOf = (html: string) =>
  Object.fromEntries(
    names.map((name) => [name, chosenIn(html, name) ?? contentOf({ html } as never, name)]),
  );

const written = (of: Record<string, unknown>) =>
  Object.fromEntries(names.map((name) => [name, of[name]]));

test('everything that shows a review shows each field', async () => {
  const ann = await makeUser();
  const entity = newEntity();
  const since = await position();
  const id = await ann.publishes({ ...entity, ...first });
  await applyStream();
  const { entity_id } = entity;
  const one = await visitor.sees(id);
  const [listed] = (await visitor.lists({ entity_id })).body.reviews;
  const [own] = (await ann.listsOwnReviews()).body.reviews;
  const [revision] = (await visitor.listsRevisions(id)).body.revisions;
  const { revision: single } = (await visitor.readsRevision(id, '1')).body;
  const [change] = (await follow(since)).told;
  const [taken] = (await ann.exports()).body.reviews;
  const inChange = change?.review?.revisions[0] as never;
  for (const each of [one, listed, own, revision, single, inChange, taken.revisions[0]]) {
    expect(written(each)).toEqual(first);
  }
  const feed = await invoke(getUserFeed, { path: { user_id: ann.id } });
  const path = { review_id: id, entity_id, user_id: ann.id };
  const operations = [
    'show-review',
    'show-revisions',
    'show-entity',
    'show-user',
    'show-my-reviews',
    'show-review-deletion',
    'show-reviews',
    'show-home',
  ];
  const pages = await Promise.all(operations.map((operation) => ask(operation, ann, { path })));
  for (const name of names) {
    const { onPage, inFeed } = samples[name];
    expect([name, feed.body.includes(inFeed)]).toEqual([name, true]);
    for (const [i, { html }] of pages.entries()) {
      expect([name, operations[i], html.includes(onPage)]).toEqual([name, operations[i], true]);
    }
  }
});

describe.each(names)('%s', (name) => {
  const { second, onPage } = samples[name];
  const changed = { ...first, [name]: second };
  const typedAnew = { ...typed, [name]: `${second}` };

  test('makes a revision if it alone is edited, and none if it stays', async () => {
    const ann = await makeUser();
    const id = await ann.publishes(first as never);
    for (let i = 0; i < 2; i++) expect(await ann.edits(id, { [name]: second })).toHaveStatus(200);
    expect(await visitor.sees(id)).toMatchObject({ ...changed, edits: 1 });
    const { revisions } = (await visitor.listsRevisions(id)).body;
    expect(revisions.map(written)).toEqual([changed, first]);
    const page = await pageFor('show-revisions', ann, { path: { review_id: id } });
    expect(page).toContain(onPage);
  });

  test('is in the form again after an error, and then published', async () => {
    const ann = await makeUser();
    const query = newEntity();
    const refused = await publishForm(ann, query, filledForm({ ...typed, language: '' }));
    expect([refused.status, contentsOf(refused.html)]).toEqual([400, typed]);
    const signedOut = await sendForm(query, filledForm({ ...typed, csrf: 'old' }), ownForm);
    expect(signedOut).toHaveStatus(401);
    const { [name]: carried } = Object.fromEntries(
      names.map((each) => [each, contentOf(signedOut.shown, each)]),
    );
    expect(carried).toBe(typed[name]);
    expect(await publishForm(ann, query, filledForm(typed))).toHaveStatus(303);
    const { reviews } = (await visitor.lists({ entity_id: query.entity_id })).body;
    expect(reviews.map(written)).toEqual([first]);
  });

  test('is shown twice if it differs from what was saved meanwhile', async () => {
    const ann = await makeUser();
    const query = newEntity();
    const id = await ann.publishes({ ...query, ...first });
    const path = { review_id: id };
    const { shown } = await ask('show-review-editor', ann, { path });
    const revision = contentOf(shown, 'revision') ?? '';
    await ann.edits(id, { text: 'A third text of this review, for everybody to read.' });
    await ann.edits(id, first);
    const edited = await ask('save-review', ann, { path, form: { ...typedAnew, revision } });
    const published = await publishForm(ann, query, filledForm(typedAnew));
    for (const { status, html } of [edited, published]) {
      expect([400, 412]).toContain(status);
      expect(contentsOf(html)).toEqual(typedAnew);
      const [, saved = ''] = html.split('<h2>The saved review</h2>');
      expect(saved).toContain(onPage);
    }
    expect(await visitor.sees(id)).toMatchObject(first);
    const same = await ask('save-review', ann, { path, form: { ...typed, revision } });
    expect(same).toHaveStatus(303);
  });
});

test('an export has each field of each revision, and an import restores them', async () => {
  const ann = await makeUser();
  const id = await ann.publishes(first as never);
  await ann.edits(id, all('second'));
  const lines = (await exported()).map((record) => JSON.stringify(record));
  const records = recordsOf(lines);
  const record = records.find((each) => 'id' in each && each.id === id) as never as {
    revisions: Record<string, unknown>[];
  };
  expect(record.revisions.map(written)).toEqual([first, all('second')]);
  await enterEmptyTable();
  await importWhole(records);
  expect(await readItem(reviewKey(id))).toMatchObject({ ...all('second'), edits: 1 });
  const { revisions } = (await visitor.listsRevisions(id)).body;
  expect(revisions.map(written)).toEqual([all('second'), first]);
});

test('a review and an export of older code have no value of a newer field', async () => {
  const optional = names.filter((name) => name !== 'text' && name !== 'rating');
  const revision = { id: 1, text: samples.text.first, timestamp: '2020-02-29T12:00:00.000Z' };
  const older = {
    kind: 'review',
    id: '2f6d1c1e-0a1b-4b5f-9c39-5f3b1d0a7e11',
    entity_id: '8e8a594f-2175-38c7-a871-abb68ec363e7',
    entity_type: 'work',
    user_id: '9b0c7e2a-55a4-4f0e-8a83-6a6fd0f6d1a2',
    language: 'en',
    license: 'CC0 1.0',
    created: revision.timestamp,
    published_on: revision.timestamp,
    is_hidden: false,
    source: null,
    source_url: null,
    revisions: [revision],
  };
  const record = parseRecord(JSON.stringify(older)) as typeof older;
  const none = Object.fromEntries([...optional, 'rating'].map((name) => [name, null]));
  expect(record.revisions).toEqual([{ ...revision, ...none }]);
});
