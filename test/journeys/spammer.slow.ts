import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { type Entity, readRecord } from '../../shared/core/entity/record.ts';
import { reviewKey, userKey } from '../../shared/core/keys.ts';
import { listDecisions } from '../../shared/core/report/decision-log.ts';
import { Review } from '../../shared/core/review/review.ts';
import { audit } from '../../shared/features/audit/audit.ts';
import { undoAll } from '../../shared/features/moderation/undo-all.ts';
import { proposalKey } from '../../shared/features/names/kinds.ts';
import { findThings } from '../../shared/features/things/find-things.ts';
import { readItem, setAttributes } from '../helpers/items.ts';
import { correct, reviewNew } from '../helpers/names-by-people.ts';
import { beforeSend } from '../helpers/sends.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, pagesOf } from '../helpers/visit.ts';
import { makeModerator, makeUsers, visitor } from '../helpers/world.ts';

// An evening of a spammer, by the forms of the pages, and what moderators do about it.

afterAll(() => {
  delete process.env.HELD_REVIEWS;
});

const newEntity = () => ({ entity_id: randomUUID(), entity_type: 'work' }) as const;

test('a spammer’s evening is undone in one go, and so is undoing it', async () => {
  const [spammer, honest] = await makeUsers(2);
  const mia = await makeModerator('Mia');
  const ben = await makeModerator('Ben');
  // Over a week old: a new account names ten things a day.
  await setAttributes(userKey(spammer.id), { created: '2020-01-01T00:00:00.000Z' });
  const at = { path: { user_id: spammer.id } };
  const figure = async () => {
    const { html } = await ask('show-home', mia);
    return Number(/class="figure">(\d+)<span class="unseen"> to decide/.exec(html)?.[1] ?? 0);
  };

  // Thirty names and two reviews wait, because the account is new to moderators.
  process.env.HELD_REVIEWS = '9';
  const names: Entity[] = [];
  for (let i = 0; i < 30; i++) {
    const entity = newEntity();
    const form = { name: `Cheap watches ${i}`, about: 'Call now' };
    expect(await correct(spammer, entity, form)).toHaveStatus(303);
    names.push(entity);
  }
  const held = [await spammer.publishes(), await spammer.publishes()];
  process.env.HELD_REVIEWS = '0';
  // Thirty more names are public at once, five of them with a review.
  for (let i = 30; i < 55; i++) {
    const entity = newEntity();
    await correct(spammer, entity, { name: `Cheap watches ${i}` });
    names.push(entity);
  }
  for (let i = 55; i < 60; i++) {
    names.push(await reviewNew(spammer, { name: `Cheap watches ${i}` }));
  }
  const ofHonest = await reviewNew(honest, { name: 'Metropolis', about: 'Fritz Lang · 1927' });
  const note = 'Cheaper here';
  await correct(spammer, ofHonest, { name: 'Cheap watches', note });
  const liked = await honest.publishes();
  await spammer.votes(liked, 'down');
  // One of the names is no spam: somebody else reviews under it.
  const used = names[40];
  await honest.publishes({ ...used });
  await applyStream();

  // The desk has all that waits, by kind, with one number.
  expect(await figure()).toBe(30 + 2 + 1);
  const listed = async (kind: string) => {
    let rows = 0;
    for await (const { html } of pagesOf('show-cases', mia, { kind })) {
      rows += html.match(/<div class="cell">/g)?.length ?? 0;
    }
    return rows;
  };
  const kinds = ['report', 'held', 'appeal', 'proposal', 'name'];
  expect(await Promise.all(kinds.map(listed))).toEqual([0, 2, 0, 1, 30]);
  for (const show of ['reviews', 'names', 'proposals']) {
    const { html } = await ask('show-author', mia, { ...at, query: { show } });
    expect(html.match(/<div class="cell">/g)?.length).toBe(
      { reviews: 7, names: 20, proposals: 1 }[show],
    );
  }
  // Each first name stands in the log with its author.
  const given = await listDecisions(100, { userId: spammer.id, about: 'NAMING' });
  expect(given.decisions.map(({ after }) => after?.name).toSorted()).toEqual(
    names.map((_, i) => `Cheap watches ${i}`).toSorted(),
  );
  const log = (await ask('show-decisions', mia)).html;
  expect(log).toContain('<strong>Named</strong>');
  expect((await findThings('cheap watches')).things.length).toBeGreaterThan(0);

  const state = async () => ({
    records: (await Promise.all(names.map(readRecord))).map((record) => {
      const { name, about, user_id, state } = record ?? {};
      return { name, about, user_id, state };
    }),
    held: await Promise.all(
      held.map(async (id) => {
        const review = v.parse(Review, await readItem(reviewKey(id)));
        return [review.is_hidden, review.moderation?.decision];
      }),
    ),
    publicReviews: (await visitor.lists({ user_id: spammer.id })).body.count,
    proposal: await readItem(proposalKey(ofHonest.entity_type, ofHonest.entity_id, spammer.id)),
    waiting: await figure(),
  });
  const before = await state();
  expect(before.publicReviews).toBe(5);

  // Undone, although the background stops again and again.
  const undo = { decision: 'hide_all', reason: 'spam', note: 'One shop.' };
  expect(await ask('decide-user', mia, { ...at, form: undo })).toHaveStatus(303);
  await untilDone(() => undoAll(spammer.id));
  await applyStream();
  const undone = await state();
  const kept = undone.records.filter((record) => record.state !== 'removed');
  expect(kept).toEqual([expect.objectContaining({ name: 'Cheap watches 40' })]);
  expect(undone).toMatchObject({
    held: Array(2).fill([true, 'hide']),
    publicReviews: 0,
    proposal: undefined,
    waiting: 0,
  });
  const { things } = await findThings('cheap watches');
  expect(things.map(({ record }) => record.name)).toEqual(['Cheap watches 40']);
  expect((await readItem(userKey(honest.id)))?.karma).toBe(0);
  const page = (await ask('show-author', mia, at)).html;
  expect(page).toContain('Account blocked, all taken back, 1 vote withdrawn: spam');
  expect(page).toContain('Decisions on names');
  expect(await findings()).toEqual([]);

  // It was a mistake: another moderator brings everything back at once.
  expect(page).toContain('Unblock and bring everything back');
  const back = { decision: 'restore_all', reason: 'other', note: 'A real shop club.' };
  expect(await ask('decide-user', ben, { ...at, form: back })).toHaveStatus(303);
  await untilDone(() => undoAll(spammer.id));
  await applyStream();
  expect(await state()).toEqual(before);
  expect((await findThings('cheap watches')).things.length).toBeGreaterThan(1);
  // The vote is gone for good.
  expect(await spammer.readsVote(liked)).toHaveStatus(404);
  expect(await correct(spammer, newEntity(), { name: 'One more' })).toHaveStatus(303);
  await applyStream();
  expect(await findings()).toEqual([]);
  const again = (await ask('show-author', mia, at)).html;
  expect(again).toContain('<strong>Brought back</strong>');
  expect(again).not.toContain('bring everything back<');
});

/** Runs something that is stopped after every fourth transaction, until it is done. */
async function untilDone(run: () => Promise<void>) {
  for (;;) {
    let sent = 0;
    const spy = beforeSend(({ input }) => {
      if (input.TransactItems && ++sent > 4) throw new Error('stopped');
    });
    const stopped = await run().catch((error: Error) => error);
    spy.mockRestore();
    if (!(stopped instanceof Error)) return;
    expect(stopped.message).toBe('stopped');
  }
}

async function findings() {
  const found = [];
  for await (const { differences } of audit({ settle: 0 })) found.push(...differences);
  return found;
}
