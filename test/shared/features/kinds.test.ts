import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordRun } from '../../../shared/base/background/last-run.ts';
import { batchDelete } from '../../../shared/base/table/batch.ts';
import type { Item, Key } from '../../../shared/base/table/item.ts';
import { idIn } from '../../../shared/base/table/item.ts';
import type { Kind } from '../../../shared/base/table/kind.ts';
import { readRecord } from '../../../shared/core/entity/record.ts';
import { grantKey, revisionKey, webhookKey } from '../../../shared/core/keys.ts';
import { findApplication } from '../../../shared/core/oauth/application-repository.ts';
import { deleteReview } from '../../../shared/core/review/review-repository.ts';
import { setMails } from '../../../shared/core/user/mails.ts';
import { setModerator } from '../../../shared/core/user/name-repository.ts';
import type { User } from '../../../shared/core/user/user.ts';
import { findUser } from '../../../shared/core/user/user-repository.ts';
import { eraseLeftovers, findLeftovers } from '../../../shared/features/account/erase-leftovers.ts';
import { readOwnData } from '../../../shared/features/account/export.ts';
import { findOrCreateUser } from '../../../shared/features/account/identity-repository.ts';
import { moveIdentity } from '../../../shared/features/account/move-identity.ts';
import { check } from '../../../shared/features/audit/check.ts';
import { Snapshot } from '../../../shared/features/audit/snapshot.ts';
import { readTable } from '../../../shared/features/bring/read-table.ts';
import { takeFile } from '../../../shared/features/bring/take-file.ts';
import { changesKey } from '../../../shared/features/changes/kinds.ts';
import { beginEpoch } from '../../../shared/features/changes/log.ts';
import { searchEntities } from '../../../shared/features/databases/search.ts';
import { idsIn, type KindName, kindNames, kindOf, kinds } from '../../../shared/features/kinds.ts';
import { createInvitation } from '../../../shared/features/members/invitation.ts';
import { correctName } from '../../../shared/features/names/correction.ts';
import { updateNames } from '../../../shared/features/names/update.ts';
import { sendNotices } from '../../../shared/features/notices/run.ts';
import { beginBulk } from '../../../shared/features/transfer/bulk.ts';
import { importRecords } from '../../../shared/features/transfer/import.ts';
import { recordSending } from '../../../shared/features/webhooks/run.ts';
import { insertWebhook } from '../../../shared/features/webhooks/webhook-repository.ts';
import { silence } from '../../helpers/console.ts';
import { scanTable } from '../../helpers/items.ts';
import { type Client, makeCode } from '../../helpers/oauth-client.ts';
import { root } from '../../helpers/service.ts';
import { expectSmallItems } from '../../helpers/sizes.ts';
import { applyStream } from '../../helpers/stream.ts';
import { enterEmptyTable } from '../../helpers/table.ts';
import {
  exported,
  recordTime,
  reviewRecord,
  revisionRecord,
  sourced,
} from '../../helpers/transfer.ts';
import { makeGrant, makeUsers, newWork, signIn, text, whileHeld } from '../../helpers/world.ts';

/** Writes one of every kind of item. Returns all items. */
async function live() {
  Object.assign(process.env, { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'reviews@example.org' });
  const [author, voter] = await makeUsers(2);
  await setMails(author.id, { digest: true });
  const review_id = await author.publishes();
  await voter.votes(review_id);
  await author.edits(review_id, { rating: 1 });
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' };
  await voter.reports(review_id, {}, headers);
  await author.publishes({ is_draft: true });
  await author.publishesHidden();
  const revisions = [revisionRecord({ text: 'A long one. '.repeat(2_000) })];
  const contact = { email: 'bea@old.example', email_verified: true, musicdb_username: null };
  const bea = { kind: 'user', id: randomUUID(), display_name: 'Bea', created: recordTime } as const;
  await importRecords(sourced([{ ...bea, contact }, reviewRecord(voter.id, { revisions })]));
  await deleteReview(await author.publishesHidden(), author.id);
  await whileHeld(() => author.edits(review_id, { text: `${text} More.` }));
  const { grant } = await makeGrant(author, ['vote']);
  await insertWebhook(grant.client_id, author.id, {
    address: 'https://receiver.example/',
    types: ['review.published'],
  });
  await makeCode((await findApplication(grant.client_id)) as Client, author);
  const identity = { issuer: 'https://id.example', subject: 'ann', display_name: 'Ann' };
  await findOrCreateUser({ ...identity, email: null, musicdb_username: null });
  // Nothing answers, but the run has taken a turn.
  Object.assign(process.env, {
    MUSICDB_API: 'http://127.0.0.1:9/{type}/{id}',
    MUSICDB_PAGE: 'https://music.example/{type}/{id}',
    MUSICDB_INTERVAL: '1000',
    BOOKDB_SEARCH: 'data:application/json,{"found":[]}#{name}',
    BOOKDB_INTERVAL: '1000',
  });
  silence('warn');
  await applyStream();
  await updateNames();
  expect(await searchEntities('bk_author', 'Kafka')).toEqual([]);
  const mia = await signIn({ display_name: 'Mia', email: 'mia@example.org', email_verified: true });
  await setModerator(mia.id, true);
  await expect(sendNotices()).rejects.toThrow('ESOCKET');
  const home = { issuer: 'https://id.example', subject: 'mia at home', display_name: 'Mia' };
  const moved = { ...home, email: 'mia@home.example', email_verified: true };
  expect(await moveIdentity(mia.id, { ...moved, musicdb_username: null })).toBe('moved');
  jest.restoreAllMocks();
  const named = newWork();
  const words = { about: undefined, url: undefined };
  const correction = { naming: { ...words, name: 'Blue' }, note: '', seen: undefined };
  await correctName(named, correction, (await findUser(author.id)) as User);
  const proposal = { naming: { ...words, name: 'Green' }, note: '' };
  const { version: seen } = (await readRecord(named)) ?? {};
  await correctName(named, { ...proposal, seen }, (await findUser(voter.id)) as User);
  await voter.publishes({ ...named });
  const { rows } = await readTable(
    'Date,Name,Year,Letterboxd URI,Rating\n2024-03-02,Blue,1993,u,4',
  );
  await takeFile(author.id, { site: 'letterboxd', rows, empty: 0, entity_type: 'work' });
  await createInvitation({ people: 3, days: 7, note: 'Club night' });
  await beginBulk();
  await recordRun('backup');
  await applyStream();
  await recordSending(Date.now());
  await beginEpoch();
  return scanTable();
}

/** Ids of things in the journey, by the name that a form has for them. */
function idsOfThings(items: readonly Item[]) {
  const names: Record<string, string> = { USER: 'user_id', REVIEW: 'review_id', APP: 'client_id' };
  return new Map(items.flatMap(({ pk, sk }) => (names[sk] ? [[idIn({ pk }), names[sk]]] : [])));
}

/** Returns true if a value has the form. Trees of lists have any number of parts. */
function isLike(form: string, value: unknown): boolean {
  const pattern = form
    .replace('|', '\\|')
    .replaceAll(/<(.*?)>/g, (_, name) => (/^(list|path)$/.test(name) ? '.+' : '[^#|]+'));
  return new RegExp(`^${pattern}$`).test(`${value}`);
}

/** Says what an item has that the row of its kind does not. */
function faultsOf(item: Item, things: ReadonlyMap<string, string>): string[] {
  const name = kindOf(item);
  if (!name) return [`no kind for ${item.pk} ${item.sk}`];
  const kind: Kind = kinds[name];
  const faults: string[] = [];
  const { pk, sk } = kind.key.form;
  // Paces of searches and of names have an end.
  if (!isLike(pk, item.pk)) faults.push(`${name}: ${item.pk}`);
  if (!isLike(sk, item.sk) && name !== 'pace') faults.push(`${name}: ${item.sk}`);
  for (const scope of ['all', 'type', 'facet', 'entity', 'author'] as const) {
    const forms = [kind[scope] ?? []].flat();
    const value = item[scope];
    if (value !== undefined && !forms.some((form) => isLike(form, value))) {
      faults.push(`${name} is listed under ${scope} ${value}`);
    }
  }
  for (const id of `${item.pk}#${item.sk}#${item.author}`.split('#')) {
    const thing = things.get(id);
    const isNamed = thing === undefined || idsIn(name, item)[thing] === id;
    // Projections outlive what they are of.
    if (!isNamed && item.sk !== 'PROJECTION') faults.push(`${name} does not say ${thing}`);
  }
  return faults;
}

const items = await live();
const namesThing = (name: KindName, thing: string) =>
  [kinds[name].key.form.pk, kinds[name].key.form.sk, kinds[name].author ?? []]
    .flat()
    .some((form) => form.includes(`<${thing}>`));

test('every item that a journey writes is of a kind, and as its row says', async () => {
  const things = idsOfThings(items);
  expect([...new Set(items.flatMap((item) => faultsOf(item, things)))]).toEqual([]);
  const seen = new Set(items.map(kindOf));
  expect(kindNames.filter((name) => !seen.has(name))).toEqual(['deferred', 'rebuild']);
  await expectSmallItems();
});

test.each<[string, Key, string]>([
  ['a number has its digits', revisionKey('r', 7), 'REVIEW#r REVISION#000007'],
  ['a number may be missing', changesKey(1, ''), 'CHANGES#1 AT#'],
  ['a last id may be missing', grantKey('u', 'c', ''), 'USER#u GRANT#c#'],
  ['all ids may be missing', webhookKey('', ''), 'WEBHOOK HOOK#'],
])('in a key, %s', (_, { pk, sk }, expected) => {
  expect(`${pk} ${sk}`).toBe(expected);
});

test('only imported texts are larger than 64 KB', () => {
  const { text: longest, ...others } = kinds;
  expect(longest.kilobytes).toBeLessThan(400_000 / 1024);
  expect(Math.max(...Object.values(others).map(({ kilobytes = 1 }) => kilobytes))).toBe(64);
});

test('every kind is in an export, or says why not, and the guide lists it', async () => {
  const parts = ['contact', 'text', 'revision'];
  const expected = kindNames.filter((name) => !kinds[name].unexported && !parts.includes(name));
  expect([...new Set((await exported()).map(({ kind }) => kind))].toSorted()).toEqual(
    expected.toSorted(),
  );
  const guide = readFileSync(join(root, '.github/docs/operate.md'), 'utf8');
  const [, table = ''] = /### The export file\n([\s\S]*?)\n#/.exec(guide) ?? [];
  const rows = [...table.matchAll(/^\| (`[^|]*) \|/gm)];
  const listed = rows.flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(listed.toSorted()).toEqual(expected.toSorted());
});

test.each([
  ['user', 'user_id'],
  ['application', 'client_id'],
  ['review', 'review_id'],
] as const)('nothing is imported without the %s that it names', async (missing, id) => {
  const records = (await exported()).filter(({ kind }) => kind !== missing);
  const leave = await enterEmptyTable();
  const { written } = await importRecords(sourced(records));
  leave();
  const naming = kindNames.filter((name) => namesThing(name, id) && !kinds[name].isLasting);
  expect(naming.filter((name) => name in written)).toEqual([]);
  expect(written).toMatchObject({ entity: 1, decision: expect.any(Number) });
});

test('whatever names a person is in the own data of somebody, unless no export has it', async () => {
  const people = items.filter(({ sk, deleted_at }) => sk === 'USER' && !deleted_at);
  const data = await Promise.all(people.map(({ pk }) => readOwnData(idIn({ pk }))));
  const filled = data.flatMap((part) =>
    Object.entries(part).flatMap(([list, all]) => ([all].flat().length > 0 ? [list] : [])),
  );
  const personal = kindNames.filter((name) => namesThing(name, 'user_id'));
  const missing = personal.filter((name) => {
    const { own, unexported } = kinds[name];
    if (own === undefined) return !unexported;
    return ![own].flat().every((list) => filled.includes(list));
  });
  expect(missing).toEqual([]);
});

/** Returns what an audit finds in these items, as its scan keeps them. */
async function findingsIn(some: readonly Item[]) {
  const snapshot = new Snapshot();
  snapshot.add(some);
  const partitions = new Set(some.flatMap(({ pk, sk }) => [pk, `${pk}\n${sk}`]));
  const found = await Array.fromAsync(partitions, (pk) => check(pk, snapshot));
  snapshot.close();
  return found.flat();
}

test('an audit keeps of a scan what it needs: all items, and those of each kind alone', async () => {
  const scans = [items, ...Map.groupBy(items, kindOf).values()];
  const kept = await Promise.all(scans.map(findingsIn));
  const others = kindNames.filter((name) => !kinds[name].isCounted);
  for (const name of others) Object.assign(kinds[name], { isCounted: true });
  const whole = await Promise.all(scans.map(findingsIn));
  for (const name of others) Object.assign(kinds[name], { isCounted: undefined });
  expect(kept).toEqual(whole);
});

/** Returns the items that name an account. */
async function personalItems(): Promise<Item[]> {
  return (await scanTable()).filter((item) => idsIn(kindOf(item) as KindName, item).user_id);
}

test('accounts that are gone are found by all that names them, and nothing does in the end', async () => {
  const seen = new Set((await personalItems()).map(kindOf));
  const personal = kindNames.filter((name) => namesThing(name, 'user_id'));
  expect(personal.filter((name) => !seen.has(name))).toEqual([]);
  await batchDelete(items.filter(({ sk }) => sk === 'USER'));
  const found = await findLeftovers();
  expect((await eraseLeftovers(found)).users).toBeGreaterThan(1);
  expect(await personalItems()).toEqual([]);
  expect((await findLeftovers()).users).toEqual([]);
  // Names that people gave stay.
  const names = (await scanTable()).filter(({ sk, name }) => sk === 'METADATA' && name === 'Blue');
  expect(names).toEqual([expect.not.objectContaining({ user_id: expect.anything() })]);
});
