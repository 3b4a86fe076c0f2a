import '../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { measure } from '../../bin/bench/measure.ts';
import { batchWrite } from '../../shared/base/table/batch.ts';
import { tableName } from '../../shared/base/table/client.ts';
import type { Item } from '../../shared/base/table/item.ts';
import { bytesIn } from '../../shared/base/table/merge.ts';
import { reviewKey } from '../../shared/core/keys.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { eraseRemains } from '../../shared/core/review/erase.ts';
import { findPublicReviews, getWholeReview } from '../../shared/core/review/read-reviews.ts';
import { findLeftovers } from '../../shared/features/account/erase-leftovers.ts';
import { publicReviews, scanInto } from '../../shared/features/transfer/export.ts';
import { importRecords } from '../../shared/features/transfer/import.ts';
import { Spool } from '../../shared/features/transfer/spool.ts';
import { upgradeTable } from '../../shared/features/transfer/upgrade.ts';
import { reviewMessage } from '../../shared/features/webhooks/message.ts';
import { reviewData } from '../../shared/pages/entity/structured-data.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { follow, position } from '../helpers/list-changes.ts';
import { differences, expectExact } from '../helpers/recount.ts';
import { afterSend, beforeFirst } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import {
  exported,
  imports,
  reviewRecord,
  revisionRecord,
  sourced,
  textOf,
} from '../helpers/transfer.ts';
import { ask, pageFor, pageOf } from '../helpers/visit.ts';
import {
  idsOf,
  makeModerator,
  makeUser,
  makeUsers,
  type Person,
  visitor,
} from '../helpers/world.ts';

const long = textOf(100_000);
const edited = 'A short one that people may write.';

async function importsOne(author: Person, content: Parameters<typeof imports>[1] = long) {
  const [id = ''] = await imports([author], content);
  return id;
}

/** Stores a review as older code has: with its whole text in its own item. */
async function makeInline(author: Person, text = long) {
  const id = await importsOne(author, text);
  const { long_text: _, ...item } = (await readItem(reviewKey(id))) as Item;
  const key = { pk: item.pk, sk: 'LONGTEXT' };
  await batchWrite([{ put: { ...item, text } }, { delete: key }]);
  return id;
}

/** The table, but for the time of its upgrade. */
const upgraded = async () => (await scanTable()).filter(({ pk }) => pk !== 'HEALTH');

const partsOf = async (id: string) =>
  (await scanTable()).filter(({ pk }) => pk === reviewKey(id).pk).map(({ sk }) => sk);

describe('everybody who reads a review', () => {
  test('gets the whole text from the API', async () => {
    const author = await makeUser();
    const moderator = await makeModerator('Mia');
    const since = await position();
    const id = await importsOne(author);
    const { entity_id } = await visitor.sees(id);
    await applyStream();
    expect((await visitor.sees(id)).text).toBe(long);
    expect((await visitor.listsRevisions(id)).body.revisions).toMatchObject([
      { id: 1, text: long },
    ]);
    expect((await visitor.readsRevision(id, '1')).body.revision.text).toBe(long);
    const queries: Record<string, string>[] = [
      { entity_id },
      { user_id: author.id },
      { entity_id, user_id: author.id },
    ];
    for (const query of queries) {
      expect((await visitor.lists(query)).body.reviews).toMatchObject([{ id, text: long }]);
    }
    const entity = (await visitor.readsEntity(entity_id)).body;
    expect(entity).toMatchObject({ latest: [{ text: long }], popular: [{ text: long }] });
    expect((await author.listsOwnReviews()).body.reviews).toMatchObject([{ text: long }]);
    const feed = await measure('get-entity-feed', { path: { entity_id } });
    // A feed has what people may write, and links to the rest.
    expect(feed.body).toContain(`${[...long].slice(0, 5_000).join('')} …`);
    const { told } = await follow(since);
    expect(told).toMatchObject([{ id, review: { revisions: [{ text: long }] } }]);
    const own = await author.exports();
    expect(own.body.reviews).toMatchObject([{ id, revisions: [{ text: long }] }]);
    for (const [operation, person] of [
      ['show-review-editor', author],
      ['show-case', moderator],
    ] as const) {
      expect((await ask(operation, person, { path: { review_id: id } })).html).toContain(long);
    }
    await setHidden(id, true);
    expect((await author.listsOwnReviews()).body.reviews).toMatchObject([{ text: long }]);
    for (const [operation, person] of [
      ['show-review', author],
      ['show-case', moderator],
    ] as const) {
      expect((await ask(operation, person, { path: { review_id: id } })).html).toContain(long);
    }
  });

  test('gets it in two round trips, and a list too', async () => {
    const id = await importsOne(await makeUser());
    const { entity_id } = await visitor.sees(id);
    const path = { review_id: id };
    const single = await measure('get-review', { path });
    expect(single).toMatchObject({ status: 200, roundTrips: 2 });
    const list = await measure('list-reviews', { query: { entity_id } });
    expect(list).toMatchObject({ status: 200, roundTrips: 2 });
    // 25 half-units of text, the rest, and the author.
    expect(list.read).toBeLessThanOrEqual(20);
  });

  test('is told by a webhook to ask for it', async () => {
    const id = await importsOne(await makeUser());
    const [authored] = await findPublicReviews([id]);
    const newest = { id, version: 1, kind: 'published' as const };
    const { body } = reviewMessage('review.published', { newest, at: 1 }, authored);
    expect(JSON.parse(body).data).toMatchObject({ review: null, truncated: true });
  });

  test('sees an excerpt in lists of pages, and that there is more', async () => {
    const [author, reader] = await makeUsers(2);
    const id = await importsOne(author, `${textOf(200)}${' '.repeat(30_000)}End.`);
    await reader.votes(id);
    expect(await pageOf('show-home')).toContain(`/review/${id}">Read more`);
    const mine = await pageFor('show-my-reviews', author);
    expect(mine).toContain('Ünd lang lang');
  });
});

test('structured data leaves a long text to the page', async () => {
  const named = { id: '', type: 'work', name: 'Blue', url: '' } as never;
  const dataOf = async (review_id: string) => reviewData(await getWholeReview(review_id), named);
  const [short, other] = await makeUsers(2);
  expect(await dataOf(await importsOne(short, edited))).toMatchObject({ reviewBody: edited });
  expect(await dataOf(await importsOne(other))).toMatchObject({ reviewBody: undefined });
});

describe('a public page', () => {
  const show = async (id: string) => {
    const html = await pageOf('show-review', { path: { review_id: id } });
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(512 * 1024);
    return html;
  };

  test.each([
    ['200 KB', true, textOf(200_000)],
    ['300 KB', false, textOf(300_000)],
    // Six bytes each in HTML.
    ['60 KB of quotes', false, '"'.repeat(60_000)],
    ['300 KB of ampersands', false, '&'.repeat(300_000)],
  ])('shows a text of %s in whole, or leads to it: in whole is %s', async (_, isWhole, text) => {
    const author = await makeUser();
    const id = await importsOne(author, text);
    const html = await show(id);
    expect(html.includes(`/1/review/${id}">Read the whole text as JSON`)).toBe(!isWhole);
    if (isWhole) expect(html).toContain(text);
    await setHidden(id, true);
    const own = await pageFor('show-review', author, { path: { review_id: id } });
    expect(own.includes('Read the whole text where you edit it')).toBe(!isWhole);
    const editor = await pageFor('show-review-editor', author, { path: { review_id: id } });
    expect(editor.length).toBeGreaterThan(text.length);
  });
});

describe('an edit', () => {
  test('of the stars keeps a long text, which each revision shows', async () => {
    const author = await makeUser();
    const id = await importsOne(author);
    const before = await readItem({ pk: reviewKey(id).pk, sk: 'LONGTEXT' });
    expect(await author.edits(id, { rating: 1 })).toHaveStatus(200);
    expect(await readItem({ pk: reviewKey(id).pk, sk: 'LONGTEXT' })).toEqual(before);
    expect(await visitor.sees(id)).toMatchObject({ text: long, rating: 1 });
    expect((await visitor.listsRevisions(id)).body.revisions).toMatchObject([
      { id: 2, text: long, rating: 1 },
      { id: 1, text: long, rating: 4 },
    ]);
    await expectExact();
  });

  test('of the text ends the item of the long one, and keeps it as a revision', async () => {
    const author = await makeUser();
    const id = await importsOne(author);
    const { entity_id } = await visitor.sees(id);
    expect(await author.edits(id, { text: edited })).toHaveStatus(200);
    expect(await partsOf(id)).toEqual(expect.not.arrayContaining(['LONGTEXT']));
    const { body } = await visitor.lists({ entity_id });
    expect(body.reviews).toMatchObject([{ text: edited, rating: 4 }]);
    expect((await visitor.readsRevision(id, '1')).body.revision.text).toBe(long);
    expect(await readItem(reviewKey(id))).toEqual(expect.not.objectContaining({ long_text: 1 }));
    await expectExact();
  });

  test('that sends the long text again is refused, and the same beginning is a change', async () => {
    const author = await makeUser();
    const id = await importsOne(author);
    expect(await author.edits(id, { text: long })).toHaveStatus(400);
    const beginning = (await readItem(reviewKey(id)))?.text;
    expect(await author.edits(id, { text: beginning })).toHaveStatus(200);
    expect(await visitor.sees(id)).toMatchObject({ text: beginning, edits: 1 });
    expect((await visitor.readsRevision(id, '1')).body.revision.text).toBe(long);
  });

  test('moves a text that older code has stored in the review', async () => {
    const author = await makeUser();
    const id = await makeInline(author);
    expect((await visitor.sees(id)).text).toBe(long);
    await author.edits(id, { rating: 2 });
    expect(await partsOf(id)).toContain('LONGTEXT');
    expect(await visitor.sees(id)).toMatchObject({ text: long, rating: 2 });
  });

  test('beside a reader leaves the reader the text before or after', async () => {
    const author = await makeUser();
    const id = await importsOne(author);
    beforeText(() => author.edits(id, { text: edited }));
    expect(await visitor.sees(id)).toMatchObject({ text: edited, edits: 1 });
  });

  test('beside a reader shows nothing that was hidden in between', async () => {
    const author = await makeUser();
    const id = await importsOne(author);
    beforeText(async () => {
      await author.edits(id, { text: edited });
      await setHidden(id, true);
    });
    expect(await visitor.reads(id)).toHaveStatus(404);
  });

  test.each([
    ['list-revisions', { review_id: '' }],
    ['get-revision', { review_id: '', rev: '1' }],
  ])('beside %s leaves the revision that was current', async (operation, path) => {
    const author = await makeUser();
    const id = await importsOne(author);
    beforeText(() => author.edits(id, { text: edited }));
    const { status, body } = await measure(operation, { path: { ...path, review_id: id } });
    expect(status).toBe(200);
    expect(body.revision ?? body.revisions[0]).toMatchObject({ id: 1, text: long });
  });

  test('beside an edit is applied to what the other has left', async () => {
    const author = await makeUser();
    const id = await importsOne(author);
    beforeText(() => author.edits(id, { text: edited }));
    expect(await author.edits(id, { rating: 3 })).toHaveStatus(200);
    expect(await visitor.sees(id)).toMatchObject({
      text: edited,
      rating: 3,
      edits: 2,
    });
    await expectExact();
  });
});

interface BatchGet {
  Keys?: { sk: string }[];
  ConsistentRead?: boolean;
}

/** Returns the request of a BatchGetItem to the table, empty for any other command. */
function batchIn(command: object): BatchGet {
  const { input } = command as { input: { RequestItems?: Record<string, BatchGet> } };
  return input.RequestItems?.[tableName()] ?? {};
}

/** Lets something happen between the read of a review and that of its long text. */
function beforeText(act: () => Promise<unknown>): void {
  beforeFirst((command) => batchIn(command).Keys?.[0]?.sk === 'LONGTEXT', act);
}

describe('a replica', () => {
  test.each([
    ['lacks the text', []],
    ['has that of an earlier import', ['An earlier one.']],
  ])('that %s is not believed', async (_, texts) => {
    const id = await importsOne(await makeUser());
    const { pk } = reviewKey(id);
    const items = texts.map((text) => ({ pk, sk: 'LONGTEXT', text }));
    afterSend((command, answer) => {
      const { Keys = [], ConsistentRead } = batchIn(command);
      const isBehind = !ConsistentRead && Keys.some(({ sk }) => sk === 'LONGTEXT');
      return isBehind ? { ...answer, Responses: { [tableName()]: items } } : undefined;
    });
    expect((await visitor.sees(id)).text).toBe(long);
  });
});

describe('data of long texts', () => {
  test('is the same after an export and an import, with what follows', async () => {
    const [author, other] = await makeUsers(2);
    const id = await importsOne(author, {
      revisions: [
        revisionRecord({ text: textOf(390_000 - 200), rating: 1 }),
        revisionRecord({ text: long, rating: 2 }, 2),
      ],
    });
    await other.votes(id);
    const before = await exported();
    const record = before.find((each) => each.kind === 'review' && each.id === id);
    expect(record).toMatchObject({ revisions: [{ id: 1 }, { id: 2, text: long }] });
    expect(Object.keys(record ?? {})).not.toContain('long_text');
    const spool = new Spool('');
    await scanInto(spool, () => {});
    expect([...publicReviews(spool)].find((each) => each.id === id)).toMatchObject({
      revisions: [{ id: 1 }, { id: 2, text: long, votes_positive: 1 }],
    });
    spool.close();
    expect(bytesIn((await readItem(reviewKey(id))) ?? {})).toBeLessThan(24 * 1024);
    await author.deletes(id);
    await applyStream();
    expect(await partsOf(id)).toEqual(['PROJECTION']);
    await expectExact();
    const { written } = await importRecords(sourced(before));
    expect(written).toMatchObject({ review: 1, vote: 1 });
    expect(await exported()).toEqual(before);
    await expectExact();
  });

  test('is exported as it was or is, beside an edit that comes between the pages of the scan', async () => {
    const author = await makeUser();
    const id = await importsOne(author);
    const items = (await scanTable()).filter(({ pk }) => pk === reviewKey(id).pk);
    const [first] = items;
    expect(first?.sk).toBe('LONGTEXT');
    await author.edits(id, { text: edited });
    const later = (await scanTable()).filter(({ pk, sk }) => {
      return pk === reviewKey(id).pk && sk !== 'LONGTEXT';
    });
    const spool = new Spool('');
    spool.add([first as never], undefined);
    spool.add(later, undefined);
    spool.add(
      (await scanTable()).filter(({ pk }) => pk === `USER#${author.id}`),
      undefined,
    );
    spool.sort();
    expect([...publicReviews(spool)]).toMatchObject([
      { id, revisions: [{ text: long }, { text: edited }] },
    ]);
    spool.close();
  });

  test.each([
    ['a text that is too long', { revisions: [revisionRecord({ text: textOf(390_001) })] }],
    ['a text of too long JSON', { revisions: [revisionRecord({ text: '\u0001'.repeat(65_001) })] }],
    ['a source that is too long', { source_url: `https://old.example/${'x'.repeat(4_000)}` }],
  ])('is refused with %s, by a sentence that names it', async (_, content) => {
    const { id } = await makeUser();
    const { refused } = await importRecords(sourced([reviewRecord(id, content)]));
    const [[reason, count] = []] = Object.entries(refused);
    expect(count).toBe(1);
    expect(reason).toMatch(/^(the text of a revision|source, source_url and the other fields)/);
  });

  test('of older code is moved by an upgrade, once, and versions stay', async () => {
    const people = await makeUsers(3);
    const ids = await Promise.all(people.map((author) => makeInline(author)));
    const short = await (people[0] as Person).publishes();
    await applyStream();
    const stored = () => Promise.all([...ids, short].map((id) => readItem(reviewKey(id))));
    const before = await stored();
    await upgradeTable();
    const after = await stored();
    expect(after.map((item) => item?.version)).toEqual(before.map((item) => item?.version));
    expect(after.at(-1)).toEqual(before.at(-1));
    for (const id of ids) {
      expect(await partsOf(id)).toContain('LONGTEXT');
      expect((await visitor.sees(id)).text).toBe(long);
    }
    const all = await upgraded();
    await upgradeTable();
    expect(await upgraded()).toEqual(all);
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('of older code is found by an audit, and moved', async () => {
    const { audit } = await import('../../shared/features/audit/audit.ts');
    const id = await makeInline(await makeUser());
    await applyStream();
    const found: string[] = [];
    for await (const part of audit({ repair: true, settle: 0 })) {
      found.push(...part.differences.map(({ sk, attribute }) => `${sk} ${attribute}`));
    }
    expect(found).toEqual(['REVIEW text']);
    expect(await partsOf(id)).toContain('LONGTEXT');
    expect((await visitor.sees(id)).text).toBe(long);
    await expectExact();
  });

  test.each([
    ['is missing', async (pk: string) => batchWrite([{ delete: { pk, sk: 'LONGTEXT' } }])],
    ['is another', async (pk: string) => setAttributes({ pk, sk: 'LONGTEXT' }, { text: 'x' })],
  ])('is found by an audit if it %s', async (_, damage) => {
    const id = await importsOne(await makeUser());
    await applyStream();
    await damage(reviewKey(id).pk);
    expect(await differences()).toEqual([expect.stringContaining('LONGTEXT: bytes of text is')]);
    await batchWrite([{ put: { pk: reviewKey(id).pk, sk: 'LONGTEXT', text: long } }]);
    expect(await differences()).toEqual([]);
  });
});

test('a long text without its review is found by `admin erase`', async () => {
  const id = randomUUID();
  await batchWrite([{ put: { pk: reviewKey(id).pk, sk: 'LONGTEXT', text: long } }]);
  expect((await findLeftovers()).reviews).toContain(id);
  expect(await differences()).toEqual([expect.stringContaining('LONGTEXT: item is longtext')]);
  await eraseRemains(id);
  expect(await partsOf(id)).toEqual([]);
});

test('a page of own reviews with long texts ends early, and walking it misses none', async () => {
  const author = await makeUser();
  const ids: string[] = [];
  for (let i = 0; i < 12; i++) {
    ids.push(
      await importsOne(author, {
        entity_id: randomUUID(),
        revisions: [revisionRecord({ text: textOf(300_000) })],
      }),
    );
  }
  const seen: string[] = [];
  let pages = 0;
  for (let offset = 0; offset < ids.length; pages++) {
    const { status, body } = await author.listsOwnReviews({ offset: `${offset}` });
    expect(status).toBe(200);
    expect(body.limit).toBeGreaterThan(0);
    seen.push(...idsOf(body.reviews));
    offset += body.limit;
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect(pages).toBeGreaterThan(1);
});

test('a review is imported with more long revisions than a transaction holds', async () => {
  const revisions = Array.from({ length: 15 }, (_, i) =>
    revisionRecord({ text: textOf(300_000), rating: 1 + (i % 5) }, i + 1),
  );
  const id = await importsOne(await makeUser(), { revisions });
  expect((await visitor.readsRevision(id, '9')).body.revision.text).toBe(textOf(300_000));
  await expectExact();
});
