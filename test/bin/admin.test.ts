import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { program } from '../../bin/admin/program.ts';
import { handler as deleteMe } from '../../functions/delete-me.ts';
import { handler as deleteReview } from '../../functions/delete-review.ts';
import { handler as reportReview } from '../../functions/report-review.ts';
import { insertApplication } from '../../shared/oauth/application-repository.ts';
import { openToken } from '../../shared/oauth/credentials.ts';
import { tokenResponse } from '../../shared/oauth/grant.ts';
import { findGrant, rotateRefreshToken } from '../../shared/oauth/grant-repository.ts';
import { table, tableName } from '../../shared/table/client.ts';
import { applicationKey, contactKey, reviewKey, userKey } from '../../shared/table/keys.ts';
import { admin, dataDir, dataFolder, refuses, root, run, spawnAdmin } from '../helpers/admin.ts';
import {
  makeGrant,
  makeReview,
  makeUser,
  makeUsers,
  type TestUser,
  vote,
} from '../helpers/fixtures.ts';
import { invoke } from '../helpers/invoke.ts';
import { readItem, scanTable, setAttributes } from '../helpers/items.ts';
import { makeClient, makeCode, redeem, refresh } from '../helpers/oauth-client.ts';
import { differences } from '../helpers/recount.ts';
import { applyStream } from '../helpers/stream.ts';

describe('npm run admin', () => {
  test('makes a user, an application and tokens, and takes them back', async () => {
    const user = await run('user', 'create', '--name', 'Zoë 🎵', '--email', 'zoe@mail.example');
    expect(user).toEqual({
      id: expect.any(String),
      display_name: 'Zoë 🎵',
      created: expect.stringMatching(
        /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/,
      ),
      karma: 0,
      user_type: 'Noob',
    });
    expect(await readItem(contactKey(user.id))).toMatchObject({ email: 'zoe@mail.example' });

    const website = 'https://client.example/';
    const redirect = 'http://127.0.0.1:8080/callback';
    const app = await run(
      ...['app', 'create', '--owner', user.id.toUpperCase(), '--name', 'Demo', '--desc', ''],
      ...['--website', website, '--redirect-uri', redirect],
    );
    expect(app).toEqual({
      name: 'Demo',
      desc: '',
      website,
      redirect_uri: redirect,
      client_id: expect.stringMatching(/^[\da-f]{32}$/),
      client_secret: expect.stringMatching(/^rvs_/),
      user_id: user.id,
    });

    const access = ['--user', user.id, '--client', app.client_id];
    const personal = ['token', 'create', '--user', user.id, '--name', 'Script', '--days', '7'];
    const { access_token: own, expires } = await run(...personal, '--scope', 'vote');
    expect(await run('token', 'show', own)).toMatchObject({
      is_good: true,
      user_id: user.id,
      scopes: 'vote',
    });
    expect(Date.parse(expires) - Date.now()).toBeCloseTo(7 * 86_400_000, -5);
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
    const ids: string[] = users.map((one: { id: string }) => one.id);
    const stored = (await scanTable()).filter(({ sk, deleted_at }) => sk === 'USER' && !deleted_at);
    expect(ids).toHaveLength(stored.length);
    expect(new Set(ids)).toEqual(new Set(stored.map((item) => item.id)));
    expect(ids.at(-1)).toBe(id);
  });

  test('lists more accounts than a page of the index has', async () => {
    const before = (await run('user', 'list')).users.length;
    const made = await makeUsers(110);
    const { users } = await run('user', 'list');
    expect(users).toHaveLength(before + 110);
    expect(new Set(users.map((user: { id: string }) => user.id))).toEqual(
      new Set([...users.slice(0, before), ...made].map(({ id }) => id)),
    );
  });

  test('finds applications, and shows the secret of one', async () => {
    const [owner, other] = [await makeUser(), await makeUser()];
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
    const isGood = async (client_secret: string) => {
      const user = await makeUser();
      return (await redeem({ ...client, client_secret }, await makeCode(client, user))).status;
    };
    const rotated = await run('app', 'rotate', client.client_id);
    expect(rotated.client_secret).not.toBe(client.client_secret);
    const left = Date.parse(rotated.previous_secret_until) - Date.now();
    expect(left / 3_600_000).toBeCloseTo(24, 1);
    expect([await isGood(rotated.client_secret), await isGood(client.client_secret)]).toEqual([
      200, 200,
    ]);
    await refuses(1, [
      [['app', 'rotate', client.client_id], /^Error: .+ with --end-previous, .+\n$/],
    ]);
    const ended = await run('app', 'rotate', client.client_id, '--end-previous');
    expect(ended).toEqual({ ...rotated, previous_secret_until: null });
    expect([await isGood(rotated.client_secret), await isGood(client.client_secret)]).toEqual([
      200, 401,
    ]);
  });

  test('lists what was granted, and tells whose a token is', async () => {
    const [ann, ben] = [await makeUser({ display_name: 'Ann' }), await makeUser()];
    const { grant, ...tokens } = await makeGrant(ann, ['review', 'vote']);
    const { user_id, client_id, created, renewed } = grant;
    const record = {
      user_id,
      display_name: 'Ann',
      client_id,
      application: 'Demo',
      scopes: 'review vote',
      created,
      renewed,
    };
    expect(await run('token', 'list', '--user', ann.id)).toEqual({ tokens: [record] });
    expect(await run('token', 'list', '--client', client_id)).toEqual({ tokens: [record] });
    const both = ['--user', ann.id, '--client', client_id];
    expect(await run('token', 'list', ...both)).toEqual({ tokens: [record] });
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
    await refuses(1, [
      [
        ['token', 'show', `${tokens.access_token}x`],
        /^Error: this is not a token of this stack, .+\n$/,
      ],
      [['token', 'show', 'rvs_x'], /^Error: this is not a token of this stack, .+\n$/],
    ]);
  });

  test('ends the access of an application to everybody, once it is sure', async () => {
    const people = await makeUsers(2);
    const client = await makeClient(await makeUser());
    const codes = await Promise.all(people.map((person) => makeCode(client, person)));
    const tokens = [];
    for (const code of codes) tokens.push((await redeem(client, code)).body);
    const pending = await makeCode(client, await makeUser());
    const revoke = ['app', 'revoke', client.client_id];
    await refuses(2, [
      [
        revoke,
        /^error: option '--yes' is required .+: End the access of Demo to every account\?\n$/,
      ],
    ]);
    expect(await run(...revoke, '--yes')).toEqual({
      client_id: client.client_id,
      is_revoked: true,
    });
    for (const { access_token, refresh_token } of tokens) {
      expect(await run('token', 'show', access_token)).toMatchObject({ is_good: false });
      expect((await refresh(client, refresh_token)).body.error).toBe('invalid_grant');
    }
    expect((await redeem(client, pending)).body.error).toBe('invalid_grant');
  });

  test('deletes accounts and applications, once it is sure', async () => {
    const user = await makeUser({ display_name: 'Ann' });
    const { grant } = await makeGrant(user, []);
    const [app, account] = [
      ['app', 'delete', grant.client_id],
      ['user', 'delete', user.id],
    ];
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
    const [author, ...readers] = (await makeUsers(3)) as [TestUser, TestUser, TestUser];
    const [id, other] = [await makeReview(author), await makeReview(author)];
    const report = ({ caller }: TestUser, review_id: string) =>
      invoke(reportReview, { caller, path: { review_id }, body: {} });
    const listed = async () =>
      (await run('report', 'list')).reports.map((one: { review_id: string; user_id: string }) => [
        one.review_id,
        one.user_id,
      ]);
    const [ann, ben] = readers.map((reader) => reader.id);
    for (const reader of readers) {
      await report(reader, id);
      await report(reader, other);
    }
    expect(await listed()).toEqual([
      [id, ann],
      [id, ben],
      [other, ann],
      [other, ben],
    ]);
    expect(await run('report', 'dismiss', id, '--reason', 'spam', '--note', 'A quotation')).toEqual(
      { id, dismissed: 2 },
    );
    const left = [
      [other, ann],
      [other, ben],
    ];
    expect(await listed()).toEqual(left);
    for (const reader of readers) expect((await report(reader, id)).status).toBe(200);
    expect(await listed()).toEqual(left);
    const none = 'Error: There is nothing to decide on this review\n';
    await refuses(1, [[['report', 'dismiss', id], none]]);
    await run('report', 'dismiss', other);
    const { decisions } = await run('decision', 'list');
    expect(decisions.slice(0, 2)).toEqual(
      [
        { review_id: other, reason: 'other', note: '' },
        { review_id: id, reason: 'spam', note: 'A quotation' },
      ].map((decision) => ({
        ...decision,
        id: expect.any(String),
        user_id: author.id,
        decision: 'dismiss',
        moderator_id: null,
        decided_at: expect.any(String),
        reports: 2,
      })),
    );
    await refuses(2, [
      [
        ['report', 'dismiss', id, '--reason', 'x'],
        /^error: option '--reason <reason>' argument 'x' is invalid\. It must be one of spam, abuse, off_topic, copyright, other\.\n/,
      ],
    ]);
    await applyStream();
    expect(await differences()).toEqual([]);
  });

  test('makes moderators, and blocks accounts with a reason', async () => {
    const [user, reader] = (await makeUsers(2)) as [TestUser, TestUser];
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
    const { client_id } = await insertApplication(owner.id, {
      name: "Ann's",
      desc: `two\nlines\x1b[2J${'x'.repeat(100)}`,
      website: `https://client.example/${'y'.repeat(100)}`,
      redirect_uri: 'https://client.example/callback',
    });
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
    await refuses(1, [
      [
        ['report', 'list', '--only', 'report'],
        'Error: the answer has no field report; its fields are reports\n',
      ],
    ]);
  });

  test('hides and unhides a review, lists reports, and rebuilds the totals', async () => {
    const [author, reader] = [await makeUser(), await makeUser()];
    const id = await makeReview(author);
    await invoke(reportReview, {
      caller: reader.caller,
      path: { review_id: id },
      body: { reason: 'Ünïcode' },
    });
    expect(await run('report', 'list')).toEqual({
      reports: [
        { review_id: id, user_id: reader.id, reason: 'Ünïcode', reported_at: expect.any(String) },
      ],
    });
    for (const [verb, is_hidden] of [
      ['hide', true],
      ['hide', true],
      ['unhide', false],
    ] as const) {
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
    const review_id = await makeReview(author, { entity_id });
    await run('review', 'hide', review_id);
    await invoke(deleteReview, { method: 'DELETE', caller: author.caller, path: { review_id } });
    const marked = { entity_id, entity_type: 'release_group', review_id };
    expect((await run('user', 'show', author.id)).hidden_and_deleted).toEqual([
      { ...marked, marked_at: expect.any(String) },
    ]);
    expect(await run('review', 'allow', author.id, entity_id)).toEqual({
      user_id: author.id,
      entity_id,
      is_allowed: true,
    });
    expect((await run('user', 'show', author.id)).hidden_and_deleted).toEqual([]);
    await makeReview(author, { entity_id });
    await refuses(1, [[['review', 'allow', author.id, entity_id], /deleted no hidden review/]]);
  });

  test('erases what deleted accounts, reviews and applications have left behind', async () => {
    const nothing = { users: 0, reviews: 0, applications: 0, entities: 0 };
    await applyStream();
    const [friend, foe] = [await makeUser(), await makeUser()];
    const [kept] = [await makeReview(friend)];

    /** A deleted account, review and application, each with leftovers. */
    async function leave() {
      const leaver = await makeUser();
      await makeReview(leaver);
      await vote(leaver, kept);
      const { grant } = await makeGrant(friend, ['vote'], { owner: foe });
      await invoke(deleteMe, { caller: leaver.caller });
      const review_id = await makeReview(foe);
      await vote(friend, review_id);
      await invoke(deleteReview, { caller: foe.caller, path: { review_id } });
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
    expect(all).toEqual({ users: 1, reviews: 1, applications: 1, entities: 3 });
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
    const cloudFormation = createServer((_, response) => {
      const outputs = ['TableName', 'SigningKeysArn', 'SessionKeysArn', 'AuthUrl'].map(
        (name) => `<member><OutputKey>${name}</OutputKey><OutputValue>x</OutputValue></member>`,
      );
      const parameter = `<member><ParameterKey>Environment</ParameterKey><ParameterValue>${environment}</ParameterValue></member>`;
      response.setHeader('Content-Type', 'text/xml');
      response.end(`<DescribeStacksResponse><DescribeStacksResult><Stacks><member>
        <StackName>x</StackName><CreationTime>2026-11-20T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
        <Outputs>${outputs.join('')}</Outputs><Parameters>${environment && parameter}</Parameters>
      </member></Stacks></DescribeStacksResult></DescribeStacksResponse>`);
    });
    await once(cloudFormation.listen(0, '127.0.0.1'), 'listening');
    const { port } = cloudFormation.address() as AddressInfo;
    const aws = {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}`,
      // A request that passes the check ends here.
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    };
    const refused = /^Error: the stack reviews was not deployed with environment=development; /;
    try {
      for (const [kind, said] of [
        ['', refused],
        ['production', refused],
        ['development', /^Error: (?!the stack)/],
      ] as const) {
        environment = kind;
        const { code, stdout, stderr } = await spawnAdmin(
          ['--stack', 'reviews', 'seed', '--reviews', '1', '--users', '2'],
          dataDir,
          aws,
        );
        expect({ kind, code, stdout, stderr }).toEqual({
          kind,
          code: 1,
          stdout: '',
          stderr: expect.stringMatching(said),
        });
      }
    } finally {
      cloudFormation.close();
    }
  });

  test('fails with status 1, a sentence on stderr and nothing on stdout', async () => {
    const nobody = randomUUID();
    const someone = await makeUser();
    const review_id = await makeReview(someone);
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
    const [noUser, noApplication] = ['Error: User not found\n', 'Error: Application not found\n'];
    await refuses(1, [
      [
        ['app', 'create', '--owner', developer.id, ...app, 'https://x.example/'],
        'Error: An account can have at most 25 applications: delete one first\n',
      ],
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
    const cloudFormation = createServer((_, response) => {
      response.writeHead(400, { 'Content-Type': 'text/xml' });
      response.end(`<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code>
        <Message>Stack with id nope does not exist</Message></Error><RequestId>x</RequestId></ErrorResponse>`);
    });
    await once(cloudFormation.listen(0, '127.0.0.1'), 'listening');
    const { port } = cloudFormation.address() as AddressInfo;
    const nowhere = { AWS_CONFIG_FILE: '/dev/null', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' };
    const region = { ...nowhere, AWS_REGION: 'us-east-1', AWS_EC2_METADATA_DISABLED: 'true' };
    const account = {
      ...region,
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_ENDPOINT_URL_CLOUDFORMATION: `http://127.0.0.1:${port}`,
    };
    const away = dataFolder({ dynamodb_endpoint: 'http://127.0.0.1:9' });
    const stack = ['--stack', 'nope', 'report', 'list'];
    try {
      for (const [args, env, said, status] of [
        [stack, nowhere, /^Error: no region is configured: set AWS_REGION, such as .+\n$/, 1],
        [stack, region, /^Error: there are no credentials for AWS .+\n$/, 1],
        [stack, account, /^Error: Stack with id nope does not exist in us-east-1: .+\n$/, 1],
        [
          ['report', 'list'],
          {},
          /^Error: the database of the stack on .+ does not answer: .+\n$/,
          1,
        ],
        [
          [...stack, '--data-dir', 'x'],
          account,
          /^error: option '--stack <name>' cannot be used with option '--data-dir <folder>'\n$/,
          2,
        ],
      ] as const) {
        const { code, stdout, stderr } = await spawnAdmin([...args], away, env);
        expect({ stdout, stderr, code }).toEqual({
          stdout: '',
          stderr: expect.stringMatching(said),
          code: status,
        });
      }
    } finally {
      cloudFormation.close();
    }
  });

  test('answers what it does not understand with status 2, and a line that names the mistake', async () => {
    const id = randomUUID();
    const client = '0'.repeat(32);
    const app = ['app', 'create', '--owner', id, '--desc', 'x', '--website', 'https://x.example'];
    const issue = ['token', 'issue', '--user', id, '--client'];
    const count = 'It must be a whole number from 1 to 999999999.';
    const invalid = (option: string, value: string, why: string) =>
      `error: option '${option}' argument '${value}' is invalid. ${why}\n`;
    const name = (value: string, why: string) => invalid('--name <name>', value, why);
    await refuses(2, [
      [[], /^Usage: npm run admin -- \[options\] \[command\]\n/],
      [['user'], /^Usage: npm run admin -- user \[options\] \[command\]\n/],
      [['nonsense'], "error: unknown command 'nonsense'\n"],
      [['usr', 'list'], "error: unknown command 'usr'\n(Did you mean user?)\n"],
      [
        ['user', 'crate', '--name', 'x'],
        "error: unknown command 'crate'\n(Did you mean create?)\n",
      ],
      [
        ['user', 'create', '--nmae', 'x'],
        "error: unknown option '--nmae'\n(Did you mean --name?)\n",
      ],
      [['user', 'list', '--colour', 'red'], "error: unknown option '--colour'\n"],
      [['user', 'create'], "error: required option '--name <name>' not specified\n"],
      [
        [...issue.slice(0, 2)],
        "error: required options '--user <user id>', '--client <client id>' not specified\n",
      ],
      [['user', 'create', '--name'], "error: option '--name <name>' argument missing\n"],
      [['user', 'create', '--name', ''], name('', 'It must have 1 to 64 characters.')],
      [
        ['user', 'create', '--name', 'x'.repeat(65)],
        name('x'.repeat(65), 'It must have 1 to 64 characters.'),
      ],
      [
        ['user', 'create', '--name', 'Ann', '--email', 'ann'],
        invalid('--email <address>', 'ann', 'It must be one email address.'),
      ],
      [
        ['user', 'create', '--name', 'Ann', 'Lee'],
        /^error: too many arguments for 'create'\..+\n$/,
      ],
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
      expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
        new RegExp(`--${option} <[^-]+\\(required\\)`),
      );
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
    expect([stdout, stderr]).toEqual(['{\n0\n', '']);
  });
});
