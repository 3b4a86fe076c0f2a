import { createHash, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals';
import { handler as reportReview } from '../../functions/report-review.ts';
import { handler as updateReview } from '../../functions/update-review.ts';
import { createTable } from '../../infra/local/table.ts';
import { findOrCreateUser } from '../../shared/account/identity-repository.ts';
import { readChanges } from '../../shared/changes/change-feed.ts';
import { decideReview, decideUser } from '../../shared/moderation/decision-repository.ts';
import { allowReview } from '../../shared/moderation/hidden-claims.ts';
import { openToken } from '../../shared/oauth/credentials.ts';
import { findGrant } from '../../shared/oauth/grant-repository.ts';
import { createPersonalToken } from '../../shared/oauth/personal-token-repository.ts';
import { deleteReview } from '../../shared/review/review-repository.ts';
import { batchWrite } from '../../shared/table/batch.ts';
import { table } from '../../shared/table/client.ts';
import { claimKey, rebuildKeys, reportKey, reviewKey, userKey } from '../../shared/table/keys.ts';
import { beginBulk } from '../../shared/transfer/bulk.ts';
import { allRecords } from '../../shared/transfer/export.ts';
import { Spool } from '../../shared/transfer/spool.ts';
import { admin, dataFolder, refuses, spawnAdmin } from '../helpers/admin.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { differences } from '../helpers/recount.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeGrant, makeUser, makeUsers, Person, text, visitor } from '../helpers/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'transfer-'));
afterAll(() => rmSync(folder, { recursive: true }));
const first = process.env.TABLE_NAME ?? '';
let files = 0;

/** A path in the folder of this test that nothing has. */
function path(end = '.jsonl'): string {
  return join(folder, `${files++}${end}`);
}

/** A data folder on an empty table. */
async function emptyTable(): Promise<{ name: string; dataDir: string }> {
  const name = `reviews-${randomUUID()}`;
  await createTable(`${process.env.AWS_ENDPOINT_URL_DYNAMODB}`, name);
  return { name, dataDir: dataFolder({ table_name: name }) };
}

async function ask(args: string[], dataDir?: string) {
  const { code, stdout, stderr } = await admin(args, dataDir);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** The bytes of an export. */
async function exported(dataDir?: string): Promise<string> {
  const out = path();
  await ask(['export', '--out', out], dataDir);
  return readFileSync(out, 'utf8');
}

/** The files of a public dump, by name. */
async function publicDump() {
  const out = path('');
  const answer = await ask(['export', '--public', '--out', out]);
  const names = readdirSync(out).filter((name) => name.endsWith('.gz'));
  const files = new Map(names.map((name) => [name, readFileSync(join(out, name))]));
  const everything = [...files.values()].map((bytes) => `${gunzipSync(bytes)}`).join('');
  return { out, answer, files, everything };
}

/** The output of an import that refuses some lines, and its answer. */
async function importBroken(content: string | Buffer, dataDir?: string) {
  const said = listen();
  const { code, stdout } = await admin(['import', file(content)], dataDir);
  quiet?.mockRestore();
  const { exitCode } = process;
  process.exitCode = undefined;
  return { said, code, exitCode, answer: JSON.parse(stdout) };
}

/** Tests the numbers of a table. */
async function expectRight(name = first): Promise<void> {
  process.env.TABLE_NAME = name;
  expect(await differences()).toEqual([]);
}

/** Fields of a line that a test reads before it has proved its shape. */
interface Line {
  [name: string]: unknown;
  kind: string;
  id: string;
  created: string;
  counts: Record<string, number>;
  revisions: object[];
  item: Record<string, unknown>;
}

function records(content: string): [Line, ...Line[]] {
  const lines = content.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line)) as [Line, ...Line[]];
}

function file(content: string | Buffer): string {
  const name = path();
  writeFileSync(name, content);
  return name;
}

const why = { reason: 'spam', note: '', moderator_id: null } as const;

let quiet: ReturnType<typeof jest.spyOn> | undefined;
/** Output on stderr meanwhile. */
function listen() {
  const said: string[] = [];
  quiet = jest.spyOn(console, 'error').mockImplementation((line) => {
    said.push(`${line}`);
  });
  return said;
}
afterEach(() => {
  quiet?.mockRestore();
  process.env.TABLE_NAME = first;
  process.exitCode = undefined;
});

function rate({ caller }: Person, review_id: string, rating: number) {
  return invoke(updateReview, { caller, path: { review_id }, body: { rating } });
}

function report({ caller }: Person, review_id: string) {
  return invoke(reportReview, { caller, path: { review_id }, body: {} });
}

/** Something of every kind. */
async function live() {
  const [ann, bob, eve] = await makeUsers(3);
  const gone = await makeUser();
  const identity = { issuer: 'https://id.example', subject: randomUUID(), display_name: 'Zoë' };
  const email = `${randomUUID()}@mail.example`;
  const zoe = await findOrCreateUser({ ...identity, email, musicdb_username: 'zoe' });
  const review = await ann.publishes({ language: 'de', license_choice: 'CC0 1.0' });
  await bob.votes(review);
  await rate(ann, review, 2);
  await eve.votes(review, 'down');
  await setAttributes(reviewKey(review), { source: 'BBC', source_url: 'https://bbc.example/' });
  const draft = await bob.publishes({ is_draft: true, text: `${text} A draft.` });
  const hidden = await eve.publishes({ text: `${text} A hidden one.` });
  await bob.votes(hidden);
  await report(ann, hidden);
  await decideReview(hidden, 'hide', { ...why, note: 'A shop.' });
  await report(eve, review);
  await report(gone, review);
  const { grant, access_token } = await makeGrant(ann, ['vote'], { owner: bob });
  const own = { user_id: ann.id, name: 'Script', scopes: [], days: 30 as const };
  const token = await createPersonalToken(own);
  const left = await gone.publishes();
  await gone.votes(review);
  await gone.leaves();
  const tokens = [access_token, token.access_token];
  return { ann, bob, eve, zoe, email, review, draft, hidden, grant, tokens, gone, left };
}

/** The record of the edited review in `live`, without its revisions. */
const recordOf = (id: string, author: Person) => ({
  kind: 'review',
  id,
  entity_id: expect.any(String),
  entity_type: 'release_group',
  user_id: author.id,
  language: 'de',
  license: 'CC0 1.0',
  created: expect.any(String),
  published_on: expect.any(String),
  source: 'BBC',
  source_url: 'https://bbc.example/',
});
const revision = { text, timestamp: expect.any(String) };

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
    const answer = await ask(['import', file(gzipSync(content))], dataDir);
    expect(answer).toMatchObject({ written: header.counts, present: {}, refused: {} });
    expect(answer.totals).toMatchObject({ users: counts.get('user')?.length });
    expect(await exported(dataDir)).toBe(content);
    const items = await scanTable();
    await expectRight(name);
    const { body } = await visitor.reads(review);
    const numbers = { popularity: 0, votes: { positive: 1, negative: 1 }, edits: 1 };
    expect(body.review).toMatchObject(numbers);
    for (const made of rest.tokens) {
      const opened = await openToken('access', made);
      expect(opened && (await findGrant(opened))).toMatchObject({ user_id: ann.id });
    }
    expect(rest.grant.user_id).toBe(ann.id);

    // The limit of votes a day is held against those that were cast today.
    const day = items.find(({ pk, sk }) => pk === `USER#${bob.id}` && sk.startsWith('VOTES#'));
    const moved = (await scanTable()).find(({ pk, sk }) => pk === day?.pk && sk === day?.sk);
    expect(moved).toEqual(day);

    const before = await scanTable();
    const again = await ask(['import', file(content)], dataDir);
    expect(again).toMatchObject({ written: {}, present: header.counts, refused: {} });
    process.env.TABLE_NAME = name;
    expect(await scanTable()).toEqual(before);
  });

  test('gives back what was lost, from a table that was restored', async () => {
    const [ann, bob] = await makeUsers(2);
    const lost = await ann.publishes();
    const edited = await bob.publishes();
    await bob.votes(lost);
    await applyStream();
    // As DynamoDB restores it: the items, and no stream.
    const { name } = await emptyTable();
    const then = await scanTable();
    process.env.TABLE_NAME = name;
    await batchWrite(then.map((put) => ({ put })));
    process.env.TABLE_NAME = first;

    await rate(bob, edited, 1);
    await deleteReview(lost, ann.id);
    await applyStream();

    const restored = path('.jsonl.gz');
    await ask(['export', '--table', name, '--out', restored]);
    const { written, refused } = await ask(['import', restored]);
    expect(written).toEqual({ review: 1, vote: 1 });
    expect(refused).toEqual({});
    await applyStream();
    const { body } = await visitor.reads(lost);
    expect(body.review.votes).toEqual({ positive: 1, negative: 0 });
    const kept = await visitor.reads(edited);
    expect(kept.body.review.rating).toBe(1);
    await expectRight();

    // The same where no stack runs.
    const endpoint = { DYNAMODB_ENDPOINT: `${process.env.AWS_ENDPOINT_URL_DYNAMODB}` };
    const nowhere = join(folder, 'no-stack');
    const again = path('.jsonl.gz');
    const args = ['export', '--table', name, '--out', again];
    expect(await spawnAdmin(args, nowhere, endpoint)).toMatchObject({ code: 0 });
    expect(readFileSync(again)).toEqual(readFileSync(restored));
    const missing = ['export', '--table', 'missing', '--out', path()];
    await refuses(1, [[missing, /there is no table missing: check/]]);
  });

  test('tells what an import would do, and does nothing', async () => {
    await live();
    const content = await exported();
    const { name, dataDir } = await emptyTable();
    const answer = await ask(['import', '--dry-run', file(content)], dataDir);
    const [{ counts }] = records(content);
    expect(answer).toEqual({ is_dry_run: true, written: counts, present: {}, refused: {} });
    process.env.TABLE_NAME = name;
    expect(await scanTable()).toEqual([]);
  });

  test('publishes what everybody may see, by licence and with checksums', async () => {
    const { ann, review, draft, hidden, email, zoe } = await live();
    await new Person(zoe.id).publishes({ license_choice: 'CC BY-SA 3.0' });
    // The vote of the deleted account is shown until the eraser has come by.
    await applyStream();
    const { out, answer, files, everything } = await publicDump();
    const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8');
    const names = [...files.keys()].sort();
    const reviewFiles = ['reviews-cc-by-sa-3.0.jsonl.gz', 'reviews-cc0-1.0.jsonl.gz'];
    expect(names).toEqual(expect.arrayContaining(reviewFiles));
    expect(names).toEqual(Object.keys(answer.files).sort());
    for (const [name, bytes] of files) {
      const sum = createHash('sha256').update(bytes).digest('hex');
      expect(sums).toContain(`${sum}  ${name}\n`);
    }
    const recordsIn = (name: string) => records(`${gunzipSync(files.get(name) ?? '')}`);
    const [header, ...reviews] = recordsIn('reviews-cc0-1.0.jsonl.gz');
    const info_url = 'https://creativecommons.org/publicdomain/zero/1.0/';
    expect(header).toMatchObject({
      format: 'review-service-public',
      version: 1,
      license: { id: 'CC0 1.0', full_name: 'Creative Commons Zero 1.0 Universal', info_url },
      counts: { review: reviews.length },
    });
    const revisions = [
      { ...revision, id: 1, rating: 4, votes_positive: 1, votes_negative: 0 },
      { ...revision, id: 2, rating: 2, votes_positive: 0, votes_negative: 1 },
    ];
    expect(reviews).toContainEqual({ ...recordOf(review, ann), revisions });
    const [, ...users] = recordsIn('users.jsonl.gz');
    const profile = { display_name: 'Zoë', created: zoe.created, karma: 0 };
    expect(users).toContainEqual({ kind: 'user', id: zoe.id, ...profile });
    expect(users.map(({ id }) => id)).toEqual(users.map(({ id }) => id).toSorted());
    const since = readFileSync(join(out, 'POSITION'), 'utf8').trim();
    expect(await readChanges(since, 10)).toMatchObject({ changes: [], has_more: false });
    const texts = ['A draft', 'A hidden', '"report"', '"vote"', 'IDENTITY'];
    for (const secret of [email, draft, hidden, ...texts]) {
      expect(everything).not.toContain(secret);
    }

    await refuses(1, [
      [['import', join(out, 'reviews-cc0-1.0.jsonl.gz')], /^Error: this is a public dump/],
      [['export', '--public', '--out', out], /already exists/],
    ]);
    await refuses(2, [[['export', '--public'], /several files/]]);
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
    await expectRight(name);
    const next = await findOrCreateUser(identity);
    expect(next.blocked_at).toBe(decided_at);
    expect(await readItem(claimKey(next.id, gone))).toHaveProperty('marked_at');
    await expect(ann.publishes({ entity_id })).rejects.toThrow('A moderator has hidden your');
    process.env.TABLE_NAME = first;

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
      await deleteReview(id, ann.id);
      const mark = await readItem(claimKey(ann.id, entity_id));
      await allowReview(ann.id, entity_id, why);
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

  test('tells bad lines by number and reason, and the rest goes on', async () => {
    const { ann, bob, review } = await live();
    const content = await exported();
    const lines = content.trimEnd().split('\n');
    const given = records(content).find((record) => record.id === review) as Line;
    const user = records(content).find(({ kind }) => kind === 'user');
    const id = randomUUID();
    const entity_id = randomUUID();
    const cast = { kind: 'vote', user_id: ann.id, vote: true, voted_at: given.created };
    const item = { ...reportKey(review, bob.id), review_id: review, user_id: bob.id };
    const bad: [object | string, string][] = [
      ['{"kind": "user"', 'is not a JSON object'],
      ['[]', 'has no kind'],
      [{ kind: 'pet' }, 'has an unknown kind'],
      [{ ...given, id, language: 'xx' }, 'language: must be an ISO 639-1 code, in lower case'],
      [{ ...given, id, license: 'MIT' }, 'license: must be one of'],
      [{ ...given, id, revisions: [{ ...given.revisions[0], rating: 6 }] }, 'revisions.0.rating: '],
      [{ ...given, id, entity_id, user_id: randomUUID() }, 'user_id names no account'],
      [{ ...given, id }, 'the author has another review of this entity'],
      [{ ...cast, review_id: id, revision: 1 }, 'its review does not exist'],
      [{ ...cast, review_id: review, revision: 1 }, 'the voter is the author of the review'],
      [
        { kind: 'grant', item: { pk: 'TOTALS', sk: 'TOTAL#work' } },
        'grant: pk and sk do not match the item',
      ],
      [
        { kind: 'identity', item: { pk: `IDENTITY#${'-'.repeat(40)}`, sk: 'IDENTITY' } },
        'identity: pk and sk do not match the item',
      ],
      // What would be answered 500 for ever after.
      [{ ...user, id, signed_out: 'yesterday' }, 'signed_out: '],
      [{ ...user, id, display_name: '\u200b' }, 'display_name: must have some visible character'],
      [{ ...given, id, moderation: { decision: 'eat' } }, 'moderation.decision: '],
      [{ kind: 'report', item: { ...item, reason: 5 } }, 'report: item.reason: '],
      [
        { kind: 'report', item: { ...item, user_id: ann.id } },
        'report: pk and sk do not match the item',
      ],
    ];
    const broken = bad.map(([line]) => (typeof line === 'string' ? line : JSON.stringify(line)));
    const { name, dataDir } = await emptyTable();
    const all = [...lines, ...broken, ''].join('\n');
    const { said, code, exitCode, answer } = await importBroken(all, dataDir);
    expect(code).toBe(0);
    expect(exitCode).toBe(1);
    expect(answer.written).toEqual(records(content)[0].counts);
    expect(Object.values(answer.refused)).toEqual(bad.map(() => 1));
    const inOrder = said.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    const reasons = bad.map(([, reason], i) => `line ${lines.length + i + 1}: ${reason}`);
    expect(inOrder).toEqual(reasons.map((reason) => expect.stringContaining(reason)));
    await expectRight(name);
  });

  test('says what is wrong with a file as a whole', async () => {
    await live();
    const content = await exported();
    const lines = content.trimEnd().split('\n');
    const { name, dataDir } = await emptyTable();
    const newer = JSON.stringify({ kind: 'header', format: 'review-service', version: 2 });
    await refuses(1, [
      [['import', join(folder, 'none')], /no such file/, dataDir],
      [['import', file('')], /is empty/, dataDir],
      [['import', file('{"id": 1}\n')], /this is not an export/, dataDir],
      [['import', file(`${newer}\n`)], /version 2 .* version 1/, dataDir],
    ]);
    process.env.TABLE_NAME = name;
    expect(await scanTable()).toEqual([]);
    process.env.TABLE_NAME = first;
    for (const [broken, fault] of [
      [content.slice(0, -20), `ends in the middle of line ${lines.length}`],
      [
        `${lines.slice(0, -2).join('\n')}\n`,
        `ends after line ${lines.length - 2}; 2 of the records`,
      ],
      [gzipSync(content).subarray(0, -200), 'is damaged after line'],
    ] as const) {
      const { said, exitCode, answer } = await importBroken(broken, (await emptyTable()).dataDir);
      expect([...said, answer.fault]).toEqual(Array(2).fill(expect.stringContaining(fault)));
      expect(exitCode).toBe(1);
    }
  });

  test('goes on with an export where it was interrupted', async () => {
    await live();
    const whole = await exported();
    const out = path();
    const spool = new Spool(`${out}.part`);
    const items = await scanTable();
    const half = items.slice(0, items.length / 2);
    const { pk = '', sk = '' } = half.at(-1) ?? {};
    spool.add(half, { pk, sk });
    spool.close();
    const said = listen();
    const { code } = await admin(['export', '--out', out]);
    expect({ code, said }).toEqual({ code: 0, said: [expect.stringContaining('Continuing')] });
    expect(readFileSync(out, 'utf8')).toBe(whole);
    expect(existsSync(`${out}.part`)).toBe(false);

    appendFileSync(`${out}.other.part`, '');
    const other = new Spool(`${out}.other.part`);
    other.note('source', 'elsewhere');
    other.close();
    await refuses(1, [[['export', '--out', `${out}.other`], /an unfinished export of elsewhere/]]);
  });

  test('a stream that a killed import has left off is turned on by whoever starts', async () => {
    const { name } = await emptyTable();
    const StreamSpecification = { StreamEnabled: false };
    await table.send(new UpdateTableCommand({ TableName: name, StreamSpecification }));
    const arn = await createTable(`${process.env.AWS_ENDPOINT_URL_DYNAMODB}`, name);
    const { Table } = await table.send(new DescribeTableCommand({ TableName: name }));
    expect(Table).toMatchObject({
      LatestStreamArn: arn,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    });
  });

  test('waits for the lock of a rebuild with which a killed import has ended', async () => {
    await live();
    const content = await exported();
    const { name, dataDir } = await emptyTable();
    process.env.TABLE_NAME = name;
    await beginBulk();
    /** Sets the time, in epoch seconds, at which the lock of the killed import expires. */
    const lockUntil = (until: number) =>
      Promise.all(rebuildKeys.map((key) => setAttributes(key, { id: 'killed', until })));
    const now = Math.floor(Date.now() / 1000);
    await lockUntil(now + 3_600);
    const said: string[] = [];
    let expiry: Promise<unknown> | undefined;
    // The lock expires once the import waits for it, however long the machine takes until then.
    quiet = jest.spyOn(console, 'error').mockImplementation((line) => {
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
    await expectRight(name);
  });

  test('writes to stdout, and reads what a program gives', async () => {
    await live();
    const { code, stdout, stderr } = await spawnAdmin(['export']);
    expect(code).toBe(0);
    expect(JSON.parse(stderr.replace(/^.*?\{/s, '{'))).toMatchObject({ out: '-' });
    expect(stdout).toBe(await exported());
    const { stdout: help } = await admin(['import', '--help']);
    expect(help).toContain('--dry-run');
  });
});
