import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { program } from '../../bin/admin/program.ts';
import { handler as reportReview } from '../../functions/report-review.ts';
import { insertApplication } from '../../shared/oauth/application-repository.ts';
import { openToken } from '../../shared/oauth/credentials.ts';
import { tokenResponse } from '../../shared/oauth/grant.ts';
import { findGrant, rotateRefreshToken } from '../../shared/oauth/grant-repository.ts';
import { table, tableName } from '../../shared/table/client.ts';
import { applicationKey, contactKey, reviewKey, userKey } from '../../shared/table/keys.ts';
import { admin, dataDir, dataFolder, refuses, root, run, spawnAdmin } from '../helpers/admin.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { listen } from '../helpers/listen.ts';
import { makeClient, makeCode, redeem, refresh } from '../helpers/oauth-client.ts';
import { differences } from '../helpers/recount.ts';
import { applyStream } from '../helpers/stream.ts';
import { makeGrant, makeUser, makeUsers, type Person } from '../helpers/world.ts';

/** Returns the environment of an account at AWS whose CloudFormation answers so. */
async function accountWith(status: number, answer: () => string): Promise<Record<string, string>> {
  const server = createServer((_, response) =>
    response.writeHead(status, { 'Content-Type': 'text/xml' }).end(answer()),
  );
  const AWS_ENDPOINT_URL_CLOUDFORMATION = await listen(server.unref());
  const credentials = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
  return { AWS_REGION: 'us-east-1', ...credentials, AWS_ENDPOINT_URL_CLOUDFORMATION };
}

/** Runs a command in a process of its own, which must fail. */
async function fails(
  args: string[],
  said: RegExp,
  { env = {}, code = 1, folder = dataDir } = {},
): Promise<void> {
  const stderr = expect.stringMatching(said);
  expect(await spawnAdmin(args, folder, env)).toEqual({ code, stdout: '', stderr });
}

/** The ids of records that a command lists. */
function idsOf(records: { id: string }[]): string[] {
  return records.map(({ id }) => id);
}

describe('npm run admin', () => {
  test('makes a user, an application and tokens, and takes them back', async () => {
    const user = await run('user', 'create', '--name', 'Zoë 🎵', '--email', 'zoe@mail.example');
    const date = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;
    const made = { id: expect.any(String), created: expect.stringMatching(date) };
    expect(user).toEqual({ ...made, display_name: 'Zoë 🎵', karma: 0, user_type: 'Noob' });
    expect(await readItem(contactKey(user.id))).toMatchObject({ email: 'zoe@mail.example' });

    const website = 'https://client.example/';
    const redirect_uri = 'http://127.0.0.1:8080/callback';
    const app = await run(
      'app',
      'create',
      '--owner',
      user.id.toUpperCase(),
      '--name',
      'Demo',
      '--desc',
      '',
      '--website',
      website,
      '--redirect-uri',
      redirect_uri,
    );
    const fields = { name: 'Demo', desc: '', website, redirect_uri };
    expect(app).toEqual({
      ...fields,
      client_id: expect.stringMatching(/^[\da-f]{32}$/),
      client_secret: expect.stringMatching(/^rvs_/),
      user_id: user.id,
    });

    const access = ['--user', user.id, '--client', app.client_id];
    const personal = ['token', 'create', '--user', user.id, '--name', 'Script', '--days', '7'];
    const { access_token: own, expires } = await run(...personal, '--scope', 'vote');
    const isGood = { is_good: true, user_id: user.id, scopes: 'vote' };
    expect(await run('token', 'show', own)).toMatchObject(isGood);
    expect(Date.parse(expires) - Date.now()).toBeCloseTo(7 * 86_400_000, -5);
    const repeated = ['--scope', 'vote', '--scope', 'review,vote'];
    const { access_token: both } = await run(...personal, ...repeated);
    expect(await run('token', 'show', both)).toMatchObject({ scopes: 'vote review' });
    const tokens = await run('token', 'issue', ...access, '--scope', 'review,vote');
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^rva_/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^rvr_/),
    });
    const short = await run('token', 'issue', ...access, '--expires-in', '60');
    expect(short.expires_in).toBe(60);
    const opened = await Promise.all(
      [tokens, short].map(({ access_token }) => openToken('access', access_token)),
    );
    const grants = await Promise.all(opened.map((token) => token && findGrant(token)));
    expect(grants.map((grant) => grant?.scopes)).toEqual([['review', 'vote'], []]);

    expect(await run('token', 'revoke', ...access)).toEqual({ revoked: 2 });
    expect(await run('token', 'revoke', ...access)).toEqual({ revoked: 0 });
    expect(opened[0] && (await findGrant(opened[0]))).toBeUndefined();
  });

  test('finds accounts by name, e-mail address and id', async () => {
    const name = `Ünö ${randomUUID()}`;
    const email = `${randomUUID()}@Mail.example`;
    const { id, ...made } = await run('user', 'create', '--name', name, '--email', email);
    const state = { is_moderator: false, blocked_at: null };
    const user = { id, ...made, email, musicdb_username: null, ...state };
    for (const text of [name.toUpperCase(), email.toLowerCase(), id.toUpperCase()]) {
      expect(await run('user', 'list', '--find', text)).toEqual({ users: [user] });
    }
    expect(await run('user', 'list', '--find', randomUUID())).toEqual({ users: [] });
    const { users } = await run('user', 'list');
    const ids = idsOf(users);
    const stored = (await scanTable()).filter(({ sk, deleted_at }) => sk === 'USER' && !deleted_at);
    expect(ids.toSorted()).toEqual(stored.map(({ id }) => id).toSorted());
    expect(ids.at(-1)).toBe(id);
  });

  test('lists more accounts than a page of the index has', async () => {
    const before = (await run('user', 'list')).users.length;
    const made = await makeUsers(110);
    const { users } = await run('user', 'list');
    const all = [...users.slice(0, before), ...made];
    expect(idsOf(users).toSorted()).toEqual(idsOf(all).toSorted());
  });

  test('finds applications, and shows the secret of one', async () => {
    const owner = await makeUser();
    const other = await makeUser();
    const mine = await makeClient(owner, 'https://client.example/callback', 'Änother');
    const theirs = await makeClient(other);
    const { client_id, name, website, redirect_uri, user_id, created } = mine;
    const listed = { client_id, name, website, redirect_uri, user_id, created };
    expect(await run('app', 'list', '--owner', owner.id)).toEqual({ applications: [listed] });
    for (const text of ['änOTHER', client_id, owner.id]) {
      expect(await run('app', 'list', '--find', text)).toEqual({ applications: [listed] });
    }
    const nothing = await run('app', 'list', '--owner', other.id, '--find', 'änother');
    expect(nothing).toEqual({ applications: [] });
    const { applications } = await run('app', 'list');
    const ids = applications.map((one: { client_id: string }) => one.client_id);
    expect(ids).toEqual(expect.arrayContaining([client_id, theirs.client_id]));
    const stored = (await scanTable()).filter(({ sk }) => sk === 'APP');
    expect(ids).toHaveLength(stored.length);

    expect(await run('app', 'show', client_id)).toEqual({
      ...listed,
      desc: '',
      client_secret: mine.client_secret,
      previous_secret_until: null,
    });
  });

  test('makes a new secret, and ends the old one', async () => {
    const client = await makeClient(await makeUser());
    const tryOut = async ({ client_secret }: { client_secret: string }) =>
      (await redeem({ ...client, client_secret }, await makeCode(client, await makeUser()))).status;
    const rotate = ['app', 'rotate', client.client_id];
    const rotated = await run(...rotate);
    expect(rotated.client_secret).not.toBe(client.client_secret);
    const left = Date.parse(rotated.previous_secret_until) - Date.now();
    expect(left / 3_600_000).toBeCloseTo(24, 1);
    expect(await tryOut(rotated)).toBe(200);
    expect(await tryOut(client)).toBe(200);
    await refuses(1, [[rotate, /^Error: .+ with --end-previous, .+\n$/]]);
    const ended = await run(...rotate, '--end-previous');
    expect(ended).toEqual({ ...rotated, previous_secret_until: null });
    expect(await tryOut(rotated)).toBe(200);
    expect(await tryOut(client)).toBe(401);
  });

  test('lists what was granted, and tells whose a token is', async () => {
    const ann = await makeUser({ display_name: 'Ann' });
    const ben = await makeUser();
    const { grant, ...tokens } = await makeGrant(ann, ['review', 'vote']);
    const { user_id, client_id, created, renewed } = grant;
    const of = { user_id, display_name: 'Ann', client_id, application: 'Demo' };
    const record = { ...of, scopes: 'review vote', created, renewed };
    const ofUser = ['--user', ann.id];
    const ofClient = ['--client', client_id];
    for (const options of [ofUser, ofClient, [...ofUser, ...ofClient]]) {
      expect(await run('token', 'list', ...options)).toEqual({ tokens: [record] });
    }
    expect(await run('token', 'list', '--user', ben.id)).toEqual({ tokens: [] });
    expect(JSON.stringify(await run('user', 'show', ann.id))).not.toContain(grant.grant_id);
    expect(await run('user', 'show', ann.id)).toMatchObject({
      id: ann.id,
      applications: [{ client_id, name: 'Demo', created: expect.any(String) }],
      tokens: [record],
    });

    const whose = { user_id, client_id, is_good: true };
    const expires = new Date(1000 * Math.ceil(Date.parse(renewed) / 1000 + 3600)).toISOString();
    const access = { kind: 'access', ...whose, scopes: 'review vote', expires };
    const refresh = { kind: 'refresh', ...whose, scopes: 'review vote', expires: null };
    expect(await run('token', 'show', tokens.access_token)).toEqual(access);
    expect(await run('token', 'show', tokens.refresh_token)).toEqual(refresh);
    const narrow = await tokenResponse(grant, 60, ['vote']);
    expect(await run('token', 'show', narrow.access_token)).toMatchObject({ scopes: 'vote' });
    const old = await tokenResponse(grant, -60);
    expect(await run('token', 'show', old.access_token)).toMatchObject({ is_good: false });
    await rotateRefreshToken(tokens.refresh_token, { client_id });
    expect((await run('token', 'show', tokens.refresh_token)).is_good).toBe(false);
    expect((await run('token', 'show', tokens.access_token)).is_good).toBe(true);
    expect(await run('token', 'revoke', '--user', ann.id)).toEqual({ revoked: 1 });
    const gone = { is_good: false, scopes: null };
    expect(await run('token', 'show', tokens.access_token)).toMatchObject(gone);
    for (const other of [`${tokens.access_token}x`, 'rvs_x']) {
      const fault = /^Error: this is not a token of this stack, .+\n$/;
      await refuses(1, [[['token', 'show', other], fault]]);
    }
  });

  test('ends the access of an application to everybody, once it is sure', async () => {
    const client = await makeClient(await makeUser());
    const tokens = [];
    for (const person of await makeUsers(2)) {
      tokens.push((await redeem(client, await makeCode(client, person))).body);
    }
    const pending = await makeCode(client, await makeUser());
    const revoke = ['app', 'revoke', client.client_id];
    const question =
      /^error: option '--yes' is required .+: End the access of Demo to every account\?\n$/;
    await refuses(2, [[revoke, question]]);
    const { client_id } = client;
    expect(await run(...revoke, '--yes')).toEqual({ client_id, is_revoked: true });
    for (const { access_token, refresh_token } of tokens) {
      expect(await run('token', 'show', access_token)).toMatchObject({ is_good: false });
      expect((await refresh(client, refresh_token)).body.error).toBe('invalid_grant');
    }
    expect((await redeem(client, pending)).body.error).toBe('invalid_grant');
  });

  test('deletes accounts and applications, once it is sure', async () => {
    const user = await makeUser({ display_name: 'Ann' });
    const { grant } = await makeGrant(user, []);
    const app = ['app', 'delete', grant.client_id];
    const account = ['user', 'delete', user.id];
    await refuses(2, [
      [app, /^error: option '--yes' is required .+: Delete the application Demo\?\n$/],
      [account, /^error: option '--yes' is required .+: Delete the account of Ann, .+\?\n$/],
    ]);
    const { client_id } = grant;
    expect(await run(...app, '--yes')).toEqual({ client_id, is_deleted: true });
    expect(await readItem(applicationKey(client_id))).toBeUndefined();
    expect(await findGrant(grant)).toBeUndefined();
    expect(await run(...account, '--yes')).toEqual({ id: user.id, is_deleted: true });
    await applyStream();
    expect(await readItem(userKey(user.id))).toBeUndefined();
    await refuses(1, [
      [[...app, '--yes'], 'Error: Application not found\n'],
      [[...account, '--yes'], 'Error: User not found\n'],
    ]);
  });

  test('dismisses the reports of a review, so that nobody files them again', async () => {
    const [author, ...readers] = await makeUsers(3);
    const id = await author.publishes();
    const other = await author.publishes();
    const report = ({ caller }: Person, review_id: string) =>
      invoke(reportReview, { caller, path: { review_id }, body: {} });
    const listed = async () =>
      (await run('report', 'list')).reports.map(
        (one: { review_id: string; user_id: string }) => `${one.review_id} ${one.user_id}`,
      );
    const of = (review_id: string) => readers.map((reader) => `${review_id} ${reader.id}`);
    for (const reader of readers) {
      await report(reader, id);
      await report(reader, other);
    }
    expect(await listed()).toEqual([...of(id), ...of(other)]);
    const why = ['--reason', 'spam', '--note', 'A quotation'];
    expect(await run('report', 'dismiss', id, ...why)).toEqual({ id, dismissed: 2 });
    expect(await listed()).toEqual(of(other));
    for (const reader of readers) expect((await report(reader, id)).status).toBe(200);
    expect(await listed()).toEqual(of(other));
    const none = 'Error: There is nothing to decide on this review\n';
    await refuses(1, [[['report', 'dismiss', id], none]]);
    await run('report', 'dismiss', other);
    const { decisions } = await run('decision', 'list');
    const made = { id: expect.any(String), decided_at: expect.any(String), moderator_id: null };
    const dismissed = { ...made, user_id: author.id, decision: 'dismiss', reports: 2 };
    expect(decisions.slice(0, 2)).toEqual([
      { ...dismissed, review_id: other, reason: 'other', note: '' },
      { ...dismissed, review_id: id, reason: 'spam', note: 'A quotation' },
    ]);
    const invalid =
      /^error: option '--reason <reason>' argument 'x' is invalid\. It must be one of spam, abuse, off_topic, copyright, other\.\n/;
    await refuses(2, [[['report', 'dismiss', id, '--reason', 'x'], invalid]]);
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('makes moderators, and blocks accounts with a reason', async () => {
    const [user, reader] = await makeUsers(2);
    const state = async () => {
      const { is_moderator, blocked_at, user_type } = await run('user', 'show', user.id);
      return [is_moderator, blocked_at, user_type];
    };
    expect(await run('user', 'promote', user.id)).toEqual({ id: user.id, is_moderator: true });
    expect(await state()).toEqual([true, null, 'Noob']);
    expect(await run('user', 'demote', user.id)).toEqual({ id: user.id, is_moderator: false });
    const block = ['user', 'block', user.id, '--reason', 'abuse', '--note', 'Again.'];
    expect(await run(...block)).toEqual({ id: user.id, is_blocked: true });
    expect(await state()).toEqual([false, expect.stringMatching(/^\d{4}-.*Z$/), 'Blocked']);
    // The same again, as after a lost answer, is done already.
    expect(await run(...block)).toEqual({ id: user.id, is_blocked: true });
    await refuses(1, [
      [['user', 'block', user.id, '--reason', 'spam'], 'Error: This account is blocked already\n'],
      [['user', 'promote', user.id], /^Error: A moderator has blocked this account: .+\n$/],
      [['user', 'unblock', reader.id], 'Error: This account is not blocked\n'],
      [['user', 'promote', randomUUID()], 'Error: User not found\n'],
    ]);
    await run('user', 'unblock', user.id);
    expect(await state()).toEqual([false, null, 'Noob']);
    const { decisions } = await run('decision', 'list');
    expect(decisions.slice(0, 2)).toMatchObject([
      { decision: 'unblock', user_id: user.id, reason: 'other', review_id: null },
      { decision: 'block', user_id: user.id, reason: 'abuse', note: 'Again.' },
    ]);
  });

  test('prints tables for people, in which nothing moves their cursor', async () => {
    const owner = await makeUser({ display_name: 'Zoë 🎵' });
    const desc = `two\nlines\x1b[2J${'x'.repeat(100)}`;
    const website = `https://client.example/${'y'.repeat(100)}`;
    const app = { name: "Ann's", desc, website, redirect_uri: 'https://client.example/callback' };
    const { client_id } = await insertApplication(owner.id, app);
    const table = async (...args: string[]) => (await admin([...args, '--tables'])).stdout;
    const shown = await table('app', 'show', client_id);
    expect(shown).toMatch(/^name +Ann's$/m);
    expect(shown).toMatch(/^desc +two\\nlines\\x1B\[2Jx{100}$/m);
    expect(await table('app', 'list', '--owner', owner.id)).toMatch(/ https:\/\/[^ y]+y{17}… /);
    const users = await table('user', 'list', '--find', owner.id);
    expect(users).toMatch(/^users\nid +display_name +created +karma +user_type\n/);
    expect(users).toContain(`\n${owner.id}  Zoë 🎵 `);
    const account = await table('user', 'show', owner.id);
    expect(account).toContain('\napplications\nclient_id ');
    expect(account).toMatch(/\nno tokens\n$/);
    expect(await table('user', 'list', '--find', randomUUID())).toBe('no users\n');
  });

  test('prints one field, for a shell to keep', async () => {
    const { id } = await makeUser({ display_name: 'Zoë 🎵' });
    const { client_id } = await makeClient({ id });
    const field = async (...args: string[]) => (await admin(args)).stdout;
    expect(await field('user', 'show', id, '--only', 'display_name')).toBe('Zoë 🎵\n');
    expect(await field('user', 'show', id, '--only', 'karma')).toBe('0\n');
    expect(await field('user', 'show', id, '--only', 'email')).toBe('null\n');
    const list = JSON.parse(await field('app', 'list', '--owner', id, '--only', 'applications'));
    expect(list).toMatchObject([{ client_id }]);
    const fault = 'Error: the answer has no field report; its fields are reports\n';
    await refuses(1, [[['report', 'list', '--only', 'report'], fault]]);
  });

  test('hides and unhides a review, lists reports, and rebuilds the totals', async () => {
    const author = await makeUser();
    const reader = await makeUser();
    const id = await author.publishes();
    const reason = 'Ünïcode';
    const { caller } = reader;
    await invoke(reportReview, { caller, path: { review_id: id }, body: { reason } });
    const reported = { review_id: id, user_id: reader.id, reason, reported_at: expect.any(String) };
    expect(await run('report', 'list')).toEqual({ reports: [reported] });
    for (const verb of ['hide', 'hide', 'unhide']) {
      const is_hidden = verb === 'hide';
      expect(await run('review', verb, id)).toEqual({ id, is_hidden });
      expect(await readItem(reviewKey(id))).toMatchObject({ is_hidden });
    }
    const items = await scanTable();
    const { users, reviews } = await run('aggregates', 'rebuild');
    expect(users).toBe(items.filter(({ sk, all }) => sk === 'USER' && all).length);
    expect(reviews).toBe(items.filter(({ sk, all }) => sk === 'REVIEW' && all).length);
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('allows a review in place of a hidden one that its author has deleted', async () => {
    const author = await makeUser();
    const entity_id = randomUUID();
    const review_id = await author.publishes({ entity_id });
    await run('review', 'hide', review_id);
    await author.deletes(review_id);
    const marked = { entity_id, entity_type: 'release_group', marked_at: expect.any(String) };
    const hidden = async () => (await run('user', 'show', author.id)).hidden_and_deleted;
    expect(await hidden()).toEqual([{ ...marked, review_id }]);
    const allow = ['review', 'allow', author.id, entity_id];
    expect(await run(...allow)).toEqual({ user_id: author.id, entity_id, is_allowed: true });
    expect(await hidden()).toEqual([]);
    await author.publishes({ entity_id });
    await refuses(1, [[allow, /deleted no hidden review/]]);
  });

  test('erases what deleted accounts, reviews and applications have left behind', async () => {
    const nothing = { users: 0, reviews: 0, applications: 0, entities: 0, hiding: 0 };
    await applyStream();
    const friend = await makeUser();
    const foe = await makeUser();
    const kept = await friend.publishes();

    /** A deleted account, review and application, each with leftovers. */
    async function leave() {
      const leaver = await makeUser();
      await leaver.publishes();
      await leaver.votes(kept);
      const { grant } = await makeGrant(friend, ['vote'], { owner: foe });
      await leaver.leaves();
      const review_id = await foe.publishes();
      await friend.votes(review_id);
      await foe.deletes(review_id);
      const Key = applicationKey(grant.client_id);
      await table.send(new DeleteCommand({ TableName: tableName(), Key }));
      const owner = await readItem(userKey(foe.id));
      await setAttributes(userKey(foe.id), { applications: Number(owner?.applications) - 1 });
      return { user: leaver.id, review: review_id, application: grant.client_id };
    }
    const one = await leave();
    const first = ['erase', '--user', one.user];
    expect(await run(...first)).toEqual({ ...nothing, users: 1 });
    expect(await run(...first)).toEqual({ ...nothing, users: 1 });
    expect(await run('erase', '--review', one.review)).toEqual({ ...nothing, reviews: 1 });
    const last = await run('erase', '--application', one.application);
    expect(last).toEqual({ ...nothing, applications: 1 });
    const two = await leave();
    const all = await run('erase');
    expect(all).toEqual({ users: 1, reviews: 1, applications: 1, entities: 3, hiding: 0 });
    await applyStream();
    expect(await run('erase')).toEqual(nothing);

    const ids = [one, two].flatMap((deleted) => Object.values(deleted));
    const left = (await scanTable()).filter(
      ({ pk, sk }) => sk !== 'PROJECTION' && ids.some((id) => pk.includes(id) || sk.includes(id)),
    );
    expect(left).toEqual([]);
    expect(await readItem(reviewKey(kept))).toMatchObject({ votes_positive: 0 });
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('seeds a stack on AWS only if that is for development', async () => {
    let environment = '';
    const env = await accountWith(200, () => {
      const outputs = [
        'TableName',
        'SigningKeysArn',
        'SessionKeysArn',
        'WebhookKeysArn',
        'AuthUrl',
      ].map(
        (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>x</OutputValue></member>`,
      );
      const parameter = `<member><ParameterKey>Environment</ParameterKey><ParameterValue>${environment}</ParameterValue></member>`;
      return `<DescribeStacksResponse><DescribeStacksResult><Stacks><member>
        <StackName>x</StackName><CreationTime>2026-11-20T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
        <Outputs>${outputs.join('')}</Outputs><Parameters>${environment && parameter}</Parameters>
      </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
    });
    // A request that passes the check ends here.
    env.AWS_ENDPOINT_URL = 'http://127.0.0.1:9';
    const seed = ['--stack', 'reviews', 'seed', '--reviews', '1', '--users', '2'];
    const refused = /^Error: the stack reviews was not deployed with environment=development; /;
    for (const kind of ['', 'production', 'development']) {
      environment = kind;
      await fails(seed, kind === 'development' ? /^Error: (?!the stack)/ : refused, { env });
    }
  });

  test('fails with status 1, a sentence on stderr and nothing on stdout', async () => {
    const nobody = randomUUID();
    const someone = await makeUser();
    const review_id = await someone.publishes();
    const { grant } = await makeGrant(someone, []);
    const { user_id, client_id } = grant;
    const unknown = '0'.repeat(32);
    const app = ['--name', 'x', '--desc', 'x', '--website', 'https://x.example', '--redirect-uri'];
    const dead = dataFolder({ pid: 2 ** 22 + 1 });
    const broken = dataFolder();
    writeFileSync(join(broken, 'stack.json'), '{');
    const none = join(dataDir, 'none');
    const absent = (folder: string) =>
      `Error: no local stack runs on the data folder ${folder}; start one with: npm start -- --data-dir ${folder}\n`;
    const developer = await makeUser();
    for (let i = 0; i < 25; i++) await makeClient(developer);
    const noUser = 'Error: User not found\n';
    const noApplication = 'Error: Application not found\n';
    const tooMany = 'Error: An account can have at most 25 applications: delete one first\n';
    await refuses(1, [
      [['app', 'create', '--owner', developer.id, ...app, 'https://x.example/'], tooMany],
      [['review', 'hide', nobody], 'Error: Review not found\n'],
      [['user', 'show', nobody], noUser],
      [['app', 'create', '--owner', nobody, ...app, 'https://x.example/'], noUser],
      [['app', 'list', '--owner', nobody], noUser],
      [['app', 'show', unknown], noApplication],
      [['app', 'rotate', unknown], noApplication],
      [['token', 'list', '--user', nobody], noUser],
      [['token', 'list', '--client', unknown], noApplication],
      [['token', 'issue', '--user', nobody, '--client', client_id], noUser],
      [['token', 'issue', '--user', user_id, '--client', unknown], noApplication],
      [['token', 'revoke', '--user', nobody, '--client', client_id], noUser],
      [['token', 'revoke', '--user', user_id, '--client', unknown], noApplication],
      [['seed', '--reviews', '100', '--users', '1'], /^Error: .*users.*\n$/],
      [['erase', '--user', user_id], /^Error: .* has not been deleted, .*\n$/],
      [['erase', '--review', review_id], /^Error: .* has not been deleted, .*\n$/],
      [['erase', '--application', client_id], /^Error: .* has not been deleted, .*\n$/],
      [['audit', '--from', 'x'], /^Error: --from must be a position .*\n$/],
      [['key', 'rotate'], /^Error: a local stack keeps its keys .*\n$/],
      [['report', 'list'], absent(none), none],
      [['report', 'list'], absent(dead), dead],
      [['report', 'list'], absent(broken), broken],
    ]);
  });

  test('says what is wrong with the stack that it was told', async () => {
    const nowhere = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
    const region = { ...nowhere, AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true' };
    const away = dataFolder({ dynamodb_endpoint: 'http://127.0.0.1:9' });
    const stack = ['--stack', 'nope', 'report', 'list'];
    const cloudFormation = await accountWith(
      400,
      () => `<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>
        <Message>Stack with id nope does not exist</Message></Error><RequestId>x</RequestId></ErrorResponse>`,
    );
    const account = { ...region, ...cloudFormation };
    for (const [args, env, said, code] of [
      [stack, nowhere, /^Error: no region is configured: set AWS_REGION, such as .+\n$/, 1],
      [stack, region, /^Error: there are no credentials for AWS .+\n$/, 1],
      [stack, account, /^Error: Stack with id nope does not exist in us-east-1: .+\n$/, 1],
      [['report', 'list'], {}, /^Error: the database of the stack on .+ does not answer: .+\n$/, 1],
      [
        [...stack, '--data-dir', 'x'],
        account,
        /^error: option '--stack <name>' cannot be used with option '--data-dir <folder>'\n$/,
        2,
      ],
    ] as const) {
      await fails([...args], said, { env, code, folder: away });
    }
  });

  test('answers what it does not understand with status 2, and a line that names the mistake', async () => {
    const id = randomUUID();
    const client = '0'.repeat(32);
    const app = ['app', 'create', '--owner', id, '--desc', 'x', '--website', 'https://x.example'];
    const create = ['user', 'create', '--name'];
    const issue = ['token', 'issue', '--user', id, '--client'];
    const count = 'It must be a whole number from 1 to 999999999.';
    const suggestion = (kind: string, typed: string, meant: string) =>
      `error: unknown ${kind} '${typed}'\n(Did you mean ${meant}?)\n`;
    const invalid = (option: string, value: string, why: string) =>
      `error: option '${option}' argument '${value}' is invalid. ${why}\n`;
    const name = (value: string, why: string) => invalid('--name <name>', value, why);
    await refuses(2, [
      [[], /^Usage: npm run admin -- \[options\] \[command\]\n/],
      [['user'], /^Usage: npm run admin -- user \[options\] \[command\]\n/],
      [['nonsense'], "error: unknown command 'nonsense'\n"],
      [['usr', 'list'], suggestion('command', 'usr', 'user')],
      [['user', 'crate', '--name', 'x'], suggestion('command', 'crate', 'create')],
      [['user', 'create', '--nmae', 'x'], suggestion('option', '--nmae', '--name')],
      [['user', 'list', '--colour', 'red'], "error: unknown option '--colour'\n"],
      [['user', 'create'], "error: required option '--name <name>' not specified\n"],
      [
        ['token', 'issue'],
        "error: required options '--user <user id>', '--client <client id>' not specified\n",
      ],
      [create, "error: option '--name <name>' argument missing\n"],
      ...['', 'x'.repeat(65)].map((value): [string[], string] => [
        [...create, value],
        name(value, 'It must have 1 to 64 characters.'),
      ]),
      [
        [...create, 'Ann', '--email', 'ann'],
        invalid('--email <address>', 'ann', 'It must be one email address.'),
      ],
      [[...create, 'Ann', 'Lee'], /^error: too many arguments for 'create'\..+\n$/],
      [
        [...app, '--name', 'x', '--redirect-uri', 'http://x.example/'],
        /^error: option '--redirect-uri <url>' argument '.+' is invalid\. It must be an https URL, .+\n$/,
      ],
      [
        [...app, '--name', '\t', '--redirect-uri', 'https://x.example/'],
        name('\t', 'It must not contain control characters.'),
      ],
      [['app', 'create', '--website', 'x'], /^error: option '--website <url>' argument 'x' .+\n$/],
      [
        ['token', 'issue', '--user', 'ann', '--client', client],
        invalid('--user <user id>', 'ann', 'It must be a UUID.'),
      ],
      [
        [...issue, 'x'],
        invalid('--client <client id>', 'x', 'It must be a client id, 32 hexadecimal digits.'),
      ],
      [
        [...issue, client, '--scope', 'admin'],
        invalid(
          '--scope <scopes>',
          'admin',
          'It may hold review, vote, user, separated by commas or spaces.',
        ),
      ],
      ...['-1', '0', '1.5', '99999999999999', '1e3', ''].map((value): [string[], string] => [
        [...issue, client, '--expires-in', value],
        invalid('--expires-in <seconds>', value, count),
      ]),
      [['token', 'list'], /^error: option '--user <user id>' or '--client <client id>' .+\n$/],
      [['review', 'hide'], "error: missing required argument 'review id'\n"],
      [['review', 'hide', 'x'], /^error: .*'x' is invalid for argument 'review id'\. .+UUID\.\n$/],
      [['review', 'hide', id, id], /^error: too many arguments for 'hide'\..+\n$/],
      [['erase', '--user', 'x'], invalid('--user <user id>', 'x', 'It must be a UUID.')],
      [
        ['erase', '--user', id, '--review', id],
        "error: option '--review <review id>' cannot be used with option '--user <user id>'\n",
      ],
      [['seed', '--reviews', '0'], invalid('--reviews <number>', '0', count)],
      [
        ['key', 'rotate', '--secret', 'x'],
        /^error: option '--secret <name>' .+ SIGNING_KEYS, .+\n$/,
      ],
    ]);
  });

  test('helps on stdout, and describes all that it takes', async () => {
    for (const args of [['--help'], ['token', 'issue', '--help'], ['help', 'user']]) {
      const { code, stdout, stderr } = await admin(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: npm run admin -- /);
    }
    const { stdout } = await admin(['app', 'create', '--help']);
    for (const option of ['owner', 'name', 'desc', 'website', 'redirect-uri']) {
      const described = new RegExp(`--${option} <[^-]+\\(required\\)`);
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(described);
    }
    expect(stdout).toMatch(/Global Options:\n +--data-dir .*\n[\s\S]* --stack [\s\S]* --tables /);

    const undescribed: string[] = [];
    const walk = (command: Command, path: string) => {
      if (!command.description()) undescribed.push(path);
      for (const { flags, description } of command.options) {
        if (!description) undescribed.push(`${path} ${flags}`);
      }
      for (const argument of command.registeredArguments) {
        if (!argument.description) undescribed.push(`${path} ${argument.name()}`);
      }
      for (const each of command.commands) walk(each, `${path} ${each.name()}`);
    };
    walk(program(), 'admin');
    expect(undescribed).toEqual([]);
  });

  test('ends as a process does: its status, and whoever reads it may stop', async () => {
    expect(await spawnAdmin(['nonsense'])).toMatchObject({ code: 2, stdout: '' });
    expect(await spawnAdmin(['--help'])).toMatchObject({ code: 0, stderr: '' });
    await makeUsers(200);
    const pipe = `"$0" bin/admin.ts user list | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', pipe, process.execPath], {
      cwd: root,
      env: { ...process.env, DATA_DIR: dataDir },
      encoding: 'utf8',
    });
    expect(stdout).toBe('{\n0\n');
    expect(stderr).toBe('');
  });
});
