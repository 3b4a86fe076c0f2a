import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { claimKey, rebuildKeys, reviewKey, userKey } from '../../shared/core/keys.ts';
import { openToken } from '../../shared/core/oauth/credentials.ts';
import { findGrant } from '../../shared/core/oauth/grant-repository.ts';
import { decideReview } from '../../shared/core/report/decision-repository.ts';
import { deleteReview } from '../../shared/core/review/review-repository.ts';
import { findOrCreateUser } from '../../shared/features/account/identity-repository.ts';
import { decideUser } from '../../shared/features/moderation/account-decisions.ts';
import { allowReview } from '../../shared/features/moderation/hidden-claims.ts';
import { beginBulk } from '../../shared/features/transfer/bulk.ts';
import { allRecords } from '../../shared/features/transfer/export.ts';
import { Spool } from '../../shared/features/transfer/spool.ts';
import { admin } from '../helpers/admin.ts';
import { stopClock } from '../helpers/clock.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { applyStream } from '../helpers/stream.ts';
import { enterTable } from '../helpers/table.ts';
import {
  ask,
  emptyTable,
  expectRight,
  exported,
  file,
  importBroken,
  live,
  path,
  publicDump,
  recordOf,
  records,
  revision,
  why,
} from '../helpers/transfer-commands.ts';
import { makeUser, Person, visitor } from '../helpers/world.ts';

describe('npm run admin -- export, import', () => {
  test('moves all that there is to another table, which then exports the same bytes', async () => {
    const { ann, bob, eve, zoe, email, review, draft, hidden, ...rest } = await live();
    const content = await exported();
    const [header, ...all] = records(content);
    const counts = Map.groupBy(all, ({ kind }) => kind);
    expect(header).toEqual({
      kind: 'header',
      format: 'review-service',
      version: 1,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      counts: Object.fromEntries([...counts].map(([kind, { length }]) => [kind, length])),
    });
    const kinds = 'application case decision grant identity report review user vote';
    expect([...counts.keys()].sort()).toEqual(kinds.split(' '));
    const one = (id: string) => all.find((record) => record.id === id);
    expect(one(zoe.id)).toMatchObject({
      kind: 'user',
      display_name: 'Zoë',
      has_proposed_name: true,
      contact: { email, musicdb_username: 'zoe', identity: expect.any(String) },
    });
    const revisions = [
      { ...revision, id: 1, rating: 4 },
      { ...revision, id: 2, rating: 2 },
    ];
    expect(one(review)).toEqual({ ...recordOf(review, ann), is_hidden: false, revisions });
    const open = all.find(({ kind, item }) => kind === 'case' && item.review_id === review);
    // The account of the other who has reported it is being deleted.
    expect(open?.item).toMatchObject({ state: 'open', reports: 1 });
    expect(one(draft)).toMatchObject({ published_on: null });
    expect(one(hidden)).toMatchObject({
      is_hidden: true,
      moderation: { decision: 'hide', reason: 'spam', note: 'A shop.' },
    });
    const votes = all.filter(({ kind, review_id }) => kind === 'vote' && review_id === review);
    expect(votes).toHaveLength(2);
    for (const cast of [
      { user_id: bob.id, vote: true, revision: 1 },
      { user_id: eve.id, vote: false, revision: 2 },
    ]) {
      expect(votes).toContainEqual(expect.objectContaining(cast));
    }
    // What is being deleted is gone.
    expect(content).not.toContain(rest.gone.id);
    expect(content).not.toContain(rest.left);

    const { name, dataDir } = await emptyTable();
    const old = await scanTable();
    const answer = await ask(['import', file(gzipSync(content))], dataDir);
    expect(answer).toMatchObject({ written: header.counts, present: {}, refused: {} });
    expect(answer.totals).toMatchObject({ users: counts.get('user')?.length });
    expect(await exported(dataDir)).toBe(content);
    enterTable(name);
    await expectRight();
    const { body } = await visitor.reads(review);
    const numbers = { popularity: 0, votes: { positive: 1, negative: 1 }, edits: 1 };
    expect(body.review).toMatchObject(numbers);
    for (const made of rest.tokens) {
      const opened = await openToken('access', made);
      expect(opened && (await findGrant(opened))).toMatchObject({ user_id: ann.id });
    }
    expect(rest.grant.user_id).toBe(ann.id);

    // The limit of votes a day is held against those that were cast today. Of publications it is
    // not, because an import is the work of an operator.
    const day = old.find(({ pk, sk }) => pk === `USER#${bob.id}` && sk.startsWith('VOTES#'));
    const moved = (await scanTable()).find(({ pk, sk }) => pk === day?.pk && sk === day?.sk);
    expect(moved).toEqual({ ...day, publications: 0 });

    const before = await scanTable();
    const again = await ask(['import', file(content)], dataDir);
    expect(again).toMatchObject({ written: {}, present: header.counts, refused: {} });
    expect(await scanTable()).toEqual(before);
  });

  test('takes along what outlives what it was decided on, and a public dump does not', async () => {
    const named = { display_name: 'Zoë', email: null, musicdb_username: null };
    const identity = { issuer: 'https://id.example', subject: randomUUID(), ...named };
    const ann = await makeUser();
    const entity_id = randomUUID();
    const hidden = await ann.publishes({ entity_id });
    const old = await findOrCreateUser(identity);
    const before = await exported();
    const leaver = new Person(old.id);
    const gone = randomUUID();
    await decideReview(await leaver.publishes({ entity_id: gone }), 'hide', why);
    const { decided_at } = await decideUser(old.id, 'block', why);
    await leaver.leaves();
    await decideReview(hidden, 'hide', why);
    await deleteReview(hidden, ann.id);
    await applyStream();
    const content = await exported();
    const kept = records(content).filter(({ item }) => item?.blocked_at ?? item?.marked_at);
    expect(kept.map(({ kind }) => kind)).toEqual(['identity', 'claim']);

    const { name, dataDir } = await emptyTable();
    const { refused } = await ask(['import', file(content)], dataDir);
    expect(refused).toEqual({});
    expect(await exported(dataDir)).toBe(content);
    const leave = enterTable(name);
    await expectRight();
    const next = await findOrCreateUser(identity);
    expect(next.blocked_at).toBe(decided_at);
    expect(await readItem(claimKey(next.id, gone))).toHaveProperty('marked_at');
    await expect(ann.publishes({ entity_id })).rejects.toThrow('A moderator has hidden your');
    leave();

    // What was exported before that ends neither.
    const { said, answer } = await importBroken(before);
    expect(answer.refused).toEqual({
      // The account and the identity.
      'its account was deleted while it was blocked or had hidden or reported reviews': 2,
      'a moderator has hidden a review of this entity by the author, who has deleted it': 1,
    });
    expect(said).toHaveLength(3);
    expect(await readItem(userKey(old.id))).toBeUndefined();
    await expect(ann.publishes({ entity_id })).rejects.toThrow('A moderator has hidden your');
    expect((await findOrCreateUser(identity)).blocked_at).toBe(decided_at);
    const later = await importBroken(before);
    expect(later.answer.refused).toMatchObject({
      'its account was deleted, and its person now has another account': 1,
    });
    expect(await readItem(userKey(old.id))).toBeUndefined();

    const { everything } = await publicDump();
    for (const secret of [entity_id, gone, 'blocked_at', 'marked_at', 'IDENTITY', 'CLAIM']) {
      expect(everything).not.toContain(secret);
    }
  });

  test('loses neither a review nor a mark that takes the place of the other while it is read', async () => {
    const ann = await makeUser();
    const both = async (isAllowed: boolean) => {
      const entity_id = randomUUID();
      const id = await ann.publishes({ entity_id });
      await decideReview(id, 'hide', why);
      const review = await readItem(reviewKey(id));
      // The later one stays, and of one millisecond either.
      stopClock(Date.now() + 1);
      await deleteReview(id, ann.id);
      const mark = await readItem(claimKey(ann.id, entity_id));
      await allowReview(ann.id, entity_id, why);
      stopClock(Date.now() + 1);
      const next = await readItem(reviewKey(await ann.publishes({ entity_id })));
      return [mark, isAllowed ? next : review].flatMap((item) => item ?? []);
    };
    for (const isAllowed of [false, true]) {
      const kind = isAllowed ? 'review' : 'claim';
      const spool = new Spool(path('.part'));
      const account = await readItem(userKey(ann.id));
      spool.add([...(account ? [account] : []), ...(await both(isAllowed))], undefined);
      spool.sort();
      expect([...allRecords(spool)].map((record) => record.kind)).toEqual(['user', kind]);
      spool.close();
    }
  });

  test('waits for the lock of a rebuild with which a killed import has ended', async () => {
    await live();
    const content = await exported();
    const { name, dataDir } = await emptyTable();
    enterTable(name);
    await beginBulk();
    /** Sets the time, in epoch seconds, at which the lock of the killed import expires. */
    const lockUntil = (until: number) =>
      Promise.all(rebuildKeys.map((key) => setAttributes(key, { id: 'killed', until })));
    const now = Math.floor(Date.now() / 1000);
    await lockUntil(now + 3_600);
    const said: string[] = [];
    let expiry: Promise<unknown> | undefined;
    // The lock expires once the import waits for it, however long the machine takes until then.
    jest.spyOn(console, 'error').mockImplementation((line) => {
      said.push(`${line}`);
      if (`${line}`.startsWith('Another rebuild is running')) expiry = lockUntil(now - 1);
    });
    const { code, stdout } = await admin(['import', file(content)], dataDir);
    await expiry;
    expect(said).toEqual([
      expect.stringContaining('An earlier import was interrupted'),
      expect.stringMatching(/^Another rebuild is running.*waiting up to 90 s/),
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).written).toEqual(records(content)[0].counts);
    await expectRight();
  });
});
