/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film"}} */
import { randomUUID } from 'node:crypto';
import { transact } from '../../shared/base/table/transact.ts';
import type { EntityType } from '../../shared/core/entity/entity-type.ts';
import { type Entity, readRecord, recordWrites } from '../../shared/core/entity/record.ts';
import { setHidden } from '../../shared/core/report/decision-repository.ts';
import { audit } from '../../shared/features/audit/audit.ts';
import { accountVerdicts, decideUser } from '../../shared/features/moderation/account-decisions.ts';
import {
  confirmName,
  leadThing,
  removeThing,
  returnThing,
} from '../../shared/features/names/record-decisions.ts';
import { findThings } from '../../shared/features/things/find-things.ts';
import { choices } from '../helpers/choices.ts';
import { correct } from '../helpers/names-by-people.ts';
import { expectExact } from '../helpers/recount.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeModerator, makeUser, makeUsers, type Person, visitor } from '../helpers/world.ts';

// All that can happen to things, at once and at random. Print the seed to repeat a history.

const seed = Number(process.env.SEED ?? 54);
const { below, pick: one } = choices(seed);
const words = ['amber', 'bridge', 'cedar', 'delta'].map((word) => `${word}${seed}`);
const someWords = () => Array.from({ length: 1 + below(3) }, () => one(words)).join(' ');
const film = 'film' as EntityType;
const newThing = (): Entity => ({ entity_id: randomUUID(), entity_type: film });
const spam = { reason: 'spam', note: 'A shop.' } as const;

beforeAll(() => {
  process.env.HELD_REVIEWS = '1';
});
afterAll(() => {
  delete process.env.HELD_REVIEWS;
});

/** Returns true for what was done, and false for what was refused, also because many are busy. */
async function isDone(deed: Promise<unknown>): Promise<boolean> {
  const status = await deed.then(
    (answer) => (answer as { status?: number } | undefined)?.status ?? 200,
    (error) => error.status ?? 500,
  );
  if (status >= 500 && status !== 503) throw await deed;
  return status < 400;
}

test('states, chains, removals, approvals and undone accounts at once leave every count right', async () => {
  const moderators = [await makeModerator('Mia'), await makeModerator('Ben')];
  const honest = await makeUsers(3);
  const kept = new Set<string>();
  for (const author of honest) {
    for (let n = 0; n < 3; n++) {
      const thing = newThing();
      await transact(recordWrites(undefined, { ...thing, name: someWords(), origin: 'operator' }));
      await setHidden(await author.publishes({ ...thing }), false);
      kept.add(thing.entity_id);
    }
  }
  await applyStream();
  const firstEight = async () => {
    const pages = await Promise.all(words.map((word) => findThings(word)));
    return pages.map(({ things }) =>
      things.map(({ record }) => record.entity_id).filter((id) => kept.has(id)),
    );
  };
  const before = await firstEight();
  expect(before.flat().length).toBeGreaterThan(8);

  const things = Array.from({ length: 6 }, newThing);
  const people: Person[] = await makeUsers(6);
  const reviews: { id: string; author: Person }[] = [];
  const decider = () => ({ by: { ...spam, moderator_id: one(moderators).id } });
  const deeds: (() => Promise<unknown>)[] = [
    () => correct(one(people), one(things), { name: someWords(), about: someWords() }),
    async () => {
      const author = one(people);
      const answer = await author.triesToPublish({
        ...one(things),
        text: 'It grew on me, and then it stayed.',
        rating: 1 + below(5),
        license_choice: 'CC0 1.0',
      });
      if (answer.status === 200) reviews.push({ id: answer.body.id, author });
      return answer;
    },
    async () => {
      const { id } = reviews.at(-1 - below(4)) ?? { id: '' };
      await one(moderators).decides(id, one(['approve', 'hide', 'restore'] as const));
    },
    async () => {
      const { id, author } = reviews.at(-1 - below(4)) ?? { id: '', author: one(people) };
      return author.edits(id, {
        text: `It grew on me, and stayed ${below(9)} times over.`,
      });
    },
    () => removeThing(one(things), decider(), { hidesReviews: below(2) === 0 }),
    () => returnThing(one(things), decider()),
    () => confirmName(one(things), decider()),
    () => leadThing(one(things), one(things).entity_id, decider()),
    () =>
      decideUser(one(people).id, one(accountVerdicts), {
        ...spam,
        moderator_id: one(moderators).id,
      }),
    async () => {
      const i = below(people.length);
      const [gone] = people.splice(i, 1, await makeUser());
      return gone?.triesToLeave();
    },
  ];
  const done = new Set<unknown>();
  for (let round = 0; round < 40; round++) {
    // Six at once, so that any two may meet. The stream is sometimes late.
    const all = Array.from({ length: 6 }, () => one([...deeds.slice(0, 3), ...deeds]));
    await Promise.all(
      all.map(async (deed) => {
        if (await isDone(deed())) done.add(deed);
      }),
    );
    if (below(2) === 0) await applyStream();
  }
  expect(deeds.filter((deed) => !done.has(deed)).map(String)).toEqual([]);
  const spammer = await makeUser();
  for (let n = 0; n < 80; n++) {
    const record = { ...newThing(), name: someWords(), about: someWords(), user_id: spammer.id };
    await transact(recordWrites(undefined, { ...record, origin: 'member' }));
  }
  await applyStream();
  expect(await firstEight()).toEqual(before);

  const found: unknown[] = [];
  for await (const { differences } of audit({ settle: 0, patience: 0 })) found.push(...differences);
  expect({ seed, found }).toEqual({ seed, found: [] });
  await expectExact();
  // No chain is longer than one step, and none ends at something that is removed.
  const records = await Promise.all(things.map(readRecord));
  for (const record of records) {
    if (record?.state === 'removed') {
      const { body } = await visitor.lists({ entity_id: record.entity_id });
      expect([record.name, body.count]).toEqual([record.name, 0]);
    }
    if (record?.leads_to === undefined) continue;
    const end = await readRecord({ entity_type: film, entity_id: record.leads_to });
    expect([end?.leads_to, end?.state]).toEqual([undefined, undefined]);
  }
}, 300_000);
