import { randomUUID } from 'node:crypto';
import { applicationKey, contactKey, userKey } from '../../shared/core/keys.ts';
import { openToken } from '../../shared/core/oauth/credentials.ts';
import { tokenResponse } from '../../shared/core/oauth/grant.ts';
import { findGrant, rotateRefreshToken } from '../../shared/core/oauth/grant-repository.ts';
import { refuses, run } from '../helpers/admin.ts';
import { readItem, scanTable } from '../helpers/items.ts';
import { makeClient, makeCode, redeem, refresh } from '../helpers/oauth-client.ts';
import { applyStream } from '../helpers/stream.ts';
import { idsOf, makeGrant, makeUser, makeUsers } from '../helpers/world.ts';

/** The ids of records that a command lists. */
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
      scope: 'review vote',
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
    const email = `${randomUUID()}@mail.example`;
    const sent = email.replace('mail', 'Mail');
    const { id, ...made } = await run('user', 'create', '--name', name, '--email', sent);
    const state = { is_moderator: false, blocked_at: null };
    const address = { email, email_verified: false, sign_in_email: null };
    const user = { id, ...made, ...address, musicdb_username: null, ...state };
    for (const text of [name.toUpperCase(), email.toUpperCase(), id.toUpperCase()]) {
      expect(await run('user', 'list', '--find', text)).toEqual({ users: [user] });
    }
    expect(await run('user', 'list', '--find', randomUUID())).toEqual({ users: [] });
    const { users } = await run('user', 'list');
    const ids = idsOf(users);
    const stored = (await scanTable()).filter(({ sk, deleted_at }) => sk === 'USER' && !deleted_at);
    expect(ids.toSorted()).toEqual(stored.map(({ id }) => id).toSorted());
    expect(ids.at(-1)).toBe(id);
  });

  test('moves no account where people sign in at a provider, and says what to do', async () => {
    const { id } = await run('user', 'create', '--name', `Ann ${randomUUID()}`);
    const move = ['user', 'move', id, '--to', 'ann@new.example'];
    await refuses(1, [[move, /change the address there, and the account follows/]]);
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
    const client_type = 'confidential';
    const listed = { client_id, client_type, name, website, redirect_uri, user_id, created };
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

  test('registers a public application, and changes the type of one', async () => {
    const { id } = await makeUser();
    const urls = ['--website', 'https://a.example', '--redirect-uri', 'https://a.example/cb'];
    const create = ['app', 'create', '--owner', id, '--name', 'Page', '--desc', '', ...urls];
    const { client_id, client_secret } = await run(...create, '--public');
    expect(client_secret).toBeNull();
    const open = { client_id, client_type: 'public' };
    const shown = { ...open, client_secret: null };
    expect(await run('app', 'show', client_id)).toMatchObject(shown);
    expect(await run('app', 'list', '--owner', id)).toMatchObject({ applications: [open] });
    await refuses(1, [
      [['app', 'rotate', client_id], /^Error: A public application has no secret/],
    ]);

    const closed = await run('app', 'type', client_id, 'confidential');
    expect(closed).toMatchObject({ client_type: 'confidential' });
    expect(closed.client_secret).toMatch(/^rvs_/);
    const type = ['app', 'type', client_id];
    await refuses(2, [
      [[...type, 'public'], /^error: option '--yes' is required .+end its access to every account/],
      [[...type, 'secret'], /It must be one of confidential, public\.\n$/],
    ]);
    expect(await run('app', 'show', client_id)).toEqual(closed);
    expect(await run(...type, 'public', '--yes')).toMatchObject(shown);
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

  test('invites people by a link, lists who came, and revokes it', async () => {
    const command = ['invitation', 'create', '--people', '40', '--days', '30'];
    const { link, ...invitation } = await run(...command, '--note', 'Club night');
    expect(link).toMatch(/^https?:\/\/.*\/ws\/join\/[\w-]{22}$/);
    expect(invitation).toMatchObject({ people: 40, joined: 0, note: 'Club night', is_open: true });
    expect(Date.parse(invitation.ends_at) - Date.now()).toBeCloseTo(30 * 86_400_000, -5);
    expect(await run('invitation', 'list')).toEqual({ invitations: [invitation] });
    expect(await run('invitation', 'revoke', invitation.id)).toMatchObject({ is_revoked: true });
    expect(await run('invitation', 'list')).toMatchObject({ invitations: [{ is_open: false }] });
    const unknown = ['invitation', 'revoke', 'f'.repeat(32)];
    await refuses(1, [[unknown, 'Error: Invitation not found\n']]);
    await refuses(2, [[['invitation', 'create', '--people', '1001'], /from 1 to 1000/]]);
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
});
