import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { startGateway } from '../../../infra/local/gateway.ts';
import { identityProvider } from '../../../infra/local/identity-provider.ts';
import { type Handler, invoke, type Load } from '../../../infra/local/invoke.ts';
import { followStream } from '../../../infra/local/stream.ts';
import { createTable } from '../../../infra/local/table.ts';
import { consumers } from '../../../shared/background/consumers.ts';
import { schedules } from '../../../shared/background/schedules.ts';
import { resourceOf } from '../../../shared/http/match-route.ts';
import { routes } from '../../../shared/routes.ts';
import {
  type Deed,
  findRight,
  isLike,
  rightsIn,
  sessionToken,
  signingFault,
  startProxy,
} from '../../helpers/aws/roles.ts';
import { synthesized } from '../../helpers/aws/synthesized.ts';
import { type Browser, openBrowser, type Shown } from '../../helpers/browser.ts';
import { stopClock } from '../../helpers/clock.ts';
import type { TestResponse } from '../../helpers/invoke.ts';
import { listen } from '../../helpers/listen.ts';
import '../../helpers/table.ts';

const folder = mkdtempSync(join(tmpdir(), 'review-service-roles-'));
const { service, code, outdir } = (await synthesized()).plain;
const rights = rightsIn(service);

const database = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
const secrets: Record<string, string> = {
  SIGNING_KEYS: 'aB3'.repeat(22).slice(0, 64),
  SESSION_KEYS: 'x7Y'.repeat(22).slice(0, 64),
};
const proxy = await startProxy({ database, rights, secrets });
delete process.env.SIGNING_KEYS;
Object.assign(process.env, {
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: proxy.url,
  AWS_SESSION_TOKEN: sessionToken,
  ...Object.fromEntries(
    ['SIGNING_KEYS', 'SESSION_KEYS', 'OIDC_CLIENT_SECRET'].map((name) => [`${name}_ARN`, name]),
  ),
});

/** The operations that have done what they are for. */
const succeeded = new Set<string>();
const loaded = new Map<string, Promise<Handler>>();

/** The code that is deployed, but that signs its requests as the operation. */
const load: Load = (operation) => {
  const handler = loaded.get(operation) ?? importHandler(operation);
  loaded.set(operation, handler);
  return handler;
};

async function importHandler(operation: string): Promise<Handler> {
  const directory = join(folder, operation);
  cpSync(join(outdir, 'functions', operation), directory, { recursive: true });
  const file = join(directory, 'index.cjs');
  const caller = JSON.stringify(operation);
  const given = code(operation);
  const changed = given.replace(/[\w$.]+\.AWS_ACCESS_KEY_ID\?\?""/, caller);
  if (changed === given && given.includes('AWS_ACCESS_KEY_ID'))
    throw new Error(`${operation} is as it was`);
  writeFileSync(file, changed);
  const { handler } = await import(pathToFileURL(file).href);
  return async (event, context) => {
    const result = await handler(event, context);
    const { statusCode = 200 } = result ?? {};
    if (statusCode < 400 || operation === 'no-route') succeeded.add(operation);
    return result;
  };
}

const streamArn = await createTable(database, process.env.TABLE_NAME ?? '');
const stream = await followStream({ endpoint: database, streamArn, consumers, load });
const gateway = await startGateway({ port: 0, load });
const authUrl = gateway.url.replace(/\/1$/, '');
const provider = await identityProvider(new URL(gateway.url).origin, `${authUrl}/account/callback`);
gateway.mount(provider);
const { OIDC_CLIENT_SECRET, ...settings } = provider.environment;
secrets.OIDC_CLIENT_SECRET = OIDC_CLIENT_SECRET;
const musicDatabase = createServer((_, response) => response.end('{"name":"Blue"}'));
Object.assign(process.env, {
  AUTH_URL: authUrl,
  ...settings,
  MUSICDB_API: `${await listen(musicDatabase)}/{type}/{id}`,
  MUSICDB_PAGE: 'https://music.example/{type}/{id}',
  MUSICDB_INTERVAL: '1',
});

const { makeGrant, makeLongLists, makeUser, makeUsers, reviewBody } = await import(
  '../../helpers/world.ts'
);
const { readItem, scanTable, setAttributes } = await import('../../helpers/items.ts');
const { startSession } = await import('../../../shared/pages/session.ts');
const { claimKey, contactKey, identityKey, reviewKey } = await import(
  '../../../shared/table/keys.ts'
);
const { setModerator } = await import('../../../shared/user/user-repository.ts');
const { setHidden } = await import('../../../shared/moderation/decision-repository.ts');

jest.spyOn(console, 'info').mockImplementation(() => {});
const failures = jest.spyOn(console, 'error').mockImplementation(() => {});

// Who waits for what AWS refuses to everybody waits for long.
beforeEach(() => {
  expect([...proxy.unsigned]).toEqual([]);
});

interface Sent {
  token?: string;
  body?: unknown;
  form?: Record<string, string>;
}

/** Calls the API, and expects one of its answers, which is 200 unless it is said. */
async function call(
  method: string,
  path: string,
  { token, body, form }: Sent = {},
  status = 200,
): Promise<TestResponse['body']> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    body: form ? new URLSearchParams(form) : body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  expect([method, path, response.status, text]).toEqual([method, path, status, text]);
  return JSON.parse(text);
}

/** A person who has signed in, and the page of the account. */
async function signedIn(name: string) {
  const browser = openBrowser(authUrl);
  return { browser, account: await browser.signIn(name) };
}

/** A moderator, signed in. */
async function moderator(name: string): Promise<Browser> {
  const { browser, account } = await signedIn(name);
  const [, id = ''] = /<dt>User id<\/dt><dd><code>([^<]+)</.exec(account.html) ?? [];
  await setModerator(id, true);
  return browser;
}

interface Application {
  client_id: string;
  client_secret: string;
}

const redirect_uri = 'https://client.example/callback';
const registration = { name: 'Demo', desc: '', website: 'https://client.example/', redirect_uri };

/** Submits the form with this text on a page. */
async function fillIn(browser: Browser, page: string, text: string, fields = {}): Promise<Shown> {
  return browser.submit(await browser.visit(page), text, fields);
}

async function register(owner: Browser): Promise<Application> {
  const page = 'account/applications';
  return readApplication(await fillIn(owner, page, 'name="redirect_uri"', registration));
}

function readApplication({ url, html }: Shown): Application {
  const [client_secret = ''] = /rvs_[\w-]+/.exec(html) ?? [];
  return { client_id: url.split('/').at(-1) ?? '', client_secret };
}

function authorizeUrl({ client_id }: Application, scope = 'review,vote,user'): string {
  const query = { response_type: 'code', client_id, redirect_uri, scope };
  return `${authUrl}/oauth/authorize?${new URLSearchParams(query)}`;
}

async function askForCode(user: Browser, client: Application): Promise<string> {
  const approval = { decision: 'approve' };
  const { url } = await fillIn(user, authorizeUrl(client), 'name="decision"', approval);
  return new URL(url).searchParams.get('code') ?? '';
}

function requestToken(client: Application, form: Record<string, string>, status = 200) {
  return call('POST', '/oauth/token', { form: { ...client, redirect_uri, ...form } }, status);
}

function redeem(client: Application, code: string, status = 200) {
  return requestToken(client, { grant_type: 'authorization_code', code }, status);
}

function refresh(client: Application, refresh_token: string, status = 200) {
  return requestToken(client, { grant_type: 'refresh_token', refresh_token }, status);
}

async function askForToken(user: Browser, client: Application): Promise<string> {
  return (await redeem(client, await askForCode(user, client))).access_token;
}

type Ids = Record<'review' | 'entity_id' | 'user_id', string>;

/** Calls each public GET with these ids, whether they exist or not. */
async function readAll({ review, entity_id, user_id }: Ids, isThere: boolean): Promise<void> {
  // First, because the next request finds the metadata in the table.
  await call('GET', `/entity/${entity_id}?include_metadata=true`);
  const values: Record<string, string> = { review_id: review, entity_id, user_id, rev: '1' };
  for (const { method, access, base, path } of routes) {
    if (method !== 'GET' || access !== 'public' || base === '') continue;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
    const response = await fetch(gateway.url + filled);
    await response.text();
    const expected = path.startsWith('/review/{') ? [isThere ? 200 : 404] : [200, 400, 404];
    expect([filled, expected]).toEqual([filled, expect.arrayContaining([response.status])]);
  }
  await call('GET', `/review/${review}/revisions/99`, {}, 404);
  await call('GET', `/reviews/?review_ids=${review},${randomUUID()}`);
  await call('GET', `/entities/?entity_ids=${entity_id},${randomUUID()}`);
  for (const query of [
    'limit=0',
    'include_metadata=true',
    'sort=popularity',
    'sort=popularity&sort_order=asc&offset=3',
    'limit=2&offset=401',
    'limit=2&offset=401&sort=popularity',
    'limit=2&offset=401&entity_type=musicdb',
    'limit=2&offset=401&entity_type=release_group&language=en&sort=popularity',
    'limit=2&offset=401&review_type=review',
    'entity_type=release_group&language=en',
    'language=en&review_type=rating',
    `entity_id=${entity_id}`,
    `limit=2&offset=401&entity_id=${entity_id}`,
    `limit=2&offset=401&entity_id=${entity_id}&sort=popularity&review_type=review`,
    `user_id=${user_id}`,
    `limit=2&offset=401&user_id=${user_id}&entity_type=release_group`,
    `user_id=${user_id}&sort=popularity&language=en`,
    `user_id=${user_id}&entity_id=${entity_id}`,
    `limit=2&offset=401&entity_id=${entity_id}&rating=3,4`,
  ]) {
    await call('GET', `/review/?${query}`);
  }
  for (const list of ['/review/?limit=2', '/user/?limit=2']) {
    for (const offset of [0, 25]) {
      const { next } = await call('GET', `${list}&offset=${offset}`);
      if (next !== undefined) await call('GET', `${list}&cursor=${next}`);
    }
  }
}

/** Asks for every page, and sends every form, with this cookie. */
async function visitPages(session: string, client: Application): Promise<void> {
  for (const route of routes.filter(({ base }) => base === '')) {
    const path = resourceOf(route)
      .replace('{client_id}', client.client_id)
      .replace('{guide}', 'quickstart');
    const answers = ['', '?request=x&state=x&code=x'];
    const queries: Record<string, string[]> = {
      '/oauth/authorize': [...answers, new URL(authorizeUrl(client)).search],
      '/account/callback': answers,
    };
    for (const query of queries[path] ?? ['']) {
      const response = await fetch(authUrl + path + query, {
        method: route.method,
        redirect: 'manual',
        headers: { Cookie: `session=${session}` },
        body: route.method === 'GET' ? undefined : new URLSearchParams({ confirm: 'yes' }),
      });
      await response.arrayBuffer();
      expect(`${response.status} ${path}`).toMatch(/^[234]/);
    }
  }
}

function sessionOf({ jar }: Browser): string {
  return jar.get('session /')?.value ?? '';
}

const twoUsers = async () => await makeUsers(2);
const unknown = { client_id: 'f'.repeat(32), client_secret: 'rvs_x' };

describe('each function does with its role', () => {
  // Within the suite, so that the database outlives it.
  afterAll(async () => {
    await gateway.stop();
    await stream.idle();
    await stream.stop();
    proxy.stop();
    musicDatabase.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('what is asked of it when there is nothing', async () => {
    const ids = { review: randomUUID(), entity_id: randomUUID(), user_id: randomUUID() };
    await readAll(ids, false);
    await call('GET', '/nowhere', {}, 404);
    await visitPages('', unknown);
    await visitPages('not-a-session', unknown);
  });

  test('what makes a review', async () => {
    const [author, voter] = await twoUsers();
    const { access_token: token } = await makeGrant(author, ['review']);
    const { access_token: other } = await makeGrant(voter, ['vote']);
    const { next: position } = await call('GET', '/changes');
    const { id } = await call('POST', '/review/', { token, body: reviewBody() });
    const path = `/review/${id}`;
    await call('PUT', `${path}/vote`, { token: other, body: { vote: true } });
    const { review } = await call('GET', path);
    expect(review).toMatchObject({ popularity: 1, votes: { positive: 1, negative: 0 } });
    await stream.idle();
    const { changes } = await call('GET', `/changes?since=${position}`);
    expect(changes).toEqual([expect.objectContaining({ id })]);
    expect((await call('GET', '/review/')).count).toBe(1);
    await call('DELETE', path, { token });
    await stream.idle();
    expect((await call('GET', '/review/')).count).toBe(0);
    expect((await call('GET', '/user/me', { token })).user.id).toBe(author.id);
    await call('POST', '/review/', { token: other, body: reviewBody() }, 403);
    await call('GET', '/user/me', { token: `${token.slice(0, -1)}~` }, 401);
    // Names are asked for and kept where reviews are of something new.
    for (const [address, shown] of [
      [`${gateway.url}/entity/ENTITY/reviews.atom`, '<entry>'],
      [`${gateway.url}/user/${author.id}/reviews.atom`, '<entry>'],
      [`${gateway.url}/review/?include_metadata=true`, '"Blue"'],
      [`${authUrl}/`, 'class="by"'],
      [`${authUrl}/review/REVIEW`, 'Blue'],
      [`${authUrl}/entity/ENTITY`, 'Blue'],
      [`${authUrl}/entity/ENTITY/embed`, 'Blue'],
      [`${authUrl}/oembed?url=${authUrl}/entity/ENTITY`, 'Blue'],
      [`${authUrl}/user/${author.id}`, 'Blue'],
    ] as const) {
      const entity_id = randomUUID();
      const review = await author.publishes({ entity_id });
      const response = await fetch(address.replace('ENTITY', entity_id).replace('REVIEW', review));
      expect([address, response.status]).toEqual([address, 200]);
      expect(await response.text()).toContain(shown);
    }
  });

  test('the journey of an application', async () => {
    const { browser: ann } = await signedIn('Ann');
    await ann.visit('account/applications');
    await ann.visit('account/connections');
    let client = await register(ann);
    const at = `account/applications/${client.client_id}`;
    client = readApplication(await fillIn(ann, at, '/secret"'));
    await fillIn(ann, at, 'name="redirect_uri"', registration);
    await visitPages(sessionOf(ann), client);
    await visitPages(sessionOf(ann), unknown);
    for (const page of ['account/applications', at, 'account']) {
      const refused = await fillIn(ann, page, `${page}"`, { name: ' ', display_name: ' ' });
      expect(refused.status).toBe(400);
    }

    const ben = openBrowser(authUrl);
    const consent = await fillIn(ben, authorizeUrl(client), 'Sign in', { name: 'Ben' });
    const refused = await ben.submit(consent, 'name="decision"', { decision: 'refuse' });
    expect(refused.url).toContain('error=access_denied');
    await ben.submit(consent, 'name="decision"', { decision: 'approve' });

    await redeem(client, 'rvc_x', 400);
    const code = await askForCode(ben, client);
    await redeem(client, code);
    await redeem(client, code, 400);
    const first = await redeem(client, await askForCode(ben, client));
    const second = await refresh(client, first.refresh_token);
    await refresh(client, first.refresh_token);
    const third = await refresh(client, second.refresh_token);
    await refresh(client, first.refresh_token, 400);
    await refresh(client, third.refresh_token, 400);
    await call('GET', '/user/me', { token: third.access_token }, 401);
    await redeem({ ...client, client_secret: 'rvs_x' }, 'rvc_x', 401);
    await redeem(unknown, 'rvc_x', 401);

    const token = await askForToken(ben, client);
    for (const status of [200, 200]) {
      await call('POST', '/oauth/revoke', { form: { ...client, token } }, status);
    }
    const next = await askForToken(ben, client);
    await call('GET', '/user/me/tokens', { token: next });
    await fillIn(ben, 'account/connections', '/revoke"');
    await call('GET', '/user/me', { token: next }, 401);

    const personal = { name: 'Script', days: '7', user: 'yes' };
    // The last is one too many, and is taken back.
    for (let i = 0; i <= 20; i++) {
      await fillIn(ben, 'account/tokens', 'Create token', personal);
    }
    await fillIn(ben, 'account/tokens', '/revoke"');

    const lost = await askForToken(ben, client);
    await fillIn(ann, at, '/revoke"', { everybody: 'yes' });
    await call('GET', '/user/me', { token: lost }, 401);
    // What is approved within the same second counts as from before.
    stopClock(Date.now() + 1_000);
    const last = await askForToken(ben, client);
    jest.useRealTimers();
    const waiting = await ben.visit(authorizeUrl(client));
    await fillIn(ann, at, '/delete"', { confirm: 'yes' });
    await ben.submit(waiting, 'name="decision"', { decision: 'approve' });
    await ben.visit('account/connections');
    await stream.idle();
    await call('GET', '/user/me', { token: last }, 401);
    await visitPages(sessionOf(ben), client);
  });

  test('the journey of a review', async () => {
    const { browser: cora, account } = await signedIn('Cora');
    const { browser: dan } = await signedIn('Dan');
    const profile = { display_name: 'Cora C.', email: '' };
    const saved = await cora.submit(account, 'name="display_name"', profile);
    const csrf = /name="csrf" value="([^"]+)"/.exec(saved.html)?.[1] ?? '';
    await cora.post('account', { csrf, email: 'cora@example.org' });
    const client = await register(cora);
    const token = await askForToken(cora, client);
    const voter = { token: await askForToken(dan, client) };
    const user_id = (await call('GET', '/user/me', { token })).user.id;

    for (const path of ['applications', 'reviews', 'tokens']) {
      await call('GET', `/user/me/${path}`, { token });
    }
    const body = reviewBody();
    const { id: review } = await call('POST', '/review/', { token, body });
    await call('POST', '/review/', { token, body }, 400);
    const entity_id = String(body.entity_id);
    const ids = { review, entity_id, user_id };
    await stream.idle();
    await readAll(ids, true);

    const path = `/review/${review}`;
    await call('POST', path, { token, body: { rating: 2 } });
    await call('POST', path, { token, body: { rating: 2 } });
    await call('GET', `${path}/revisions`);
    await call('GET', `${path}/revisions/1`);
    await call('POST', path, { ...voter, body: { rating: 2 } }, 403);
    await call('GET', `${path}/vote`, voter, 404);
    for (const vote of [true, true, false]) {
      await call('PUT', `${path}/vote`, { ...voter, body: { vote } });
    }
    await call('PUT', `${path}/vote`, { token, body: { vote: true } }, 400);
    await call('GET', `${path}/vote`, voter);
    await call('DELETE', `${path}/vote`, voter);
    await call('DELETE', `${path}/vote`, voter, 404);
    await call('PUT', `${path}/vote`, { ...voter, body: { vote: true } });
    for (const each of [1, 2]) await call('POST', `${path}/report`, { ...voter, body: { each } });
    await call('POST', `${path}/report`, { token, body: {} }, 400);
    const { access_token: another } = await makeGrant(await makeUser(), ['vote']);
    await call('POST', `${path}/report`, { token: another, body: {} });
    const { browser: gil } = await signedIn('Gil');
    const form = `review/${review}/report`;
    const reported = await fillIn(gil, form, 'name="reason"', { reason: 'spam' });
    expect(reported.html).toContain('Thank you.');
    for (const inc of ['', 'user_type,stats']) {
      await call('GET', `/user/me?inc=${inc}`, { token });
      await call('GET', `/user/me?inc=${inc}`, voter);
    }
    const both = { display_name: 'Cora', email: 'c@example.org' };
    for (const body of [both, { email: 'c@c.example' }]) {
      await call('POST', '/user/me', { token, body });
    }

    const draft = await call('POST', '/review/', { token, body: reviewBody({ is_draft: true }) });
    await readAll({ ...ids, review: draft.id }, false);
    await call('PUT', `/review/${draft.id}/vote`, { ...voter, body: { vote: true } }, 404);
    await call('POST', `/review/${draft.id}`, { token, body: { text: null } });
    await call('GET', '/user/me/reviews?limit=1&offset=1', { token });
    for (const each of [token, voter.token]) await call('GET', '/user/me/export', { token: each });
    const other = await call('POST', '/review/', { token, body: reviewBody({ is_draft: true }) });
    await call('DELETE', `/review/${other.id}`, { token });
    await call('POST', `/review/${draft.id}`, { token, body: { is_draft: false } });
    await call('PUT', `/review/${draft.id}/vote`, { ...voter, body: { vote: true } }, 400);
    await call('DELETE', `/review/${draft.id}`, voter, 403);

    const [eve, fay] = [await moderator('Eve'), await moderator('Fay')];
    for (const sort of ['date', 'popularity']) {
      await eve.visit(`account/moderation?sort=${sort}&reason=spam`);
    }
    await visitPages(sessionOf(eve), client);
    // Else it gives no page but a file.
    await eve.visit('account/data?cursor=x');
    await dan.visit('account/votes');
    const page = await eve.visit(`account/moderation/reviews/${review}`);
    const why = { reason: 'spam', note: '' };
    const nothing = await eve.submit(page, 'name="version"', { decision: 'hide' });
    expect(nothing.status).toBe(400);
    const late = await fay.visit(`account/moderation/reviews/${review}`);
    await eve.submit(page, 'name="version"', { decision: 'hide', ...why });
    const second = await fay.submit(late, 'name="version"', { decision: 'hide', ...why });
    expect(second.status).toBe(400);
    await call('GET', '/user/me/reviews', { token });
    await cora.visit('account/reviews');
    await fillIn(cora, 'account', '/appeal"', { statement: 'It is none.' });
    const restored = { decision: 'restore', ...why };
    await fillIn(fay, `account/moderation/reviews/${review}`, 'name="version"', restored);
    await eve.visit('account/moderation/log');
    const about = `account/moderation/users/${user_id}`;
    expect((await fillIn(eve, about, 'block"')).status).toBe(400);
    for (const status of [403, 200]) {
      await fillIn(eve, about, 'block"', why);
      await call('POST', path, { token, body: { rating: 3 } }, status);
      await call('POST', '/user/me', { token, body: { display_name: 'Cora' } }, status);
    }

    const shop = reviewBody();
    const { id: advertisement } = await call('POST', '/review/', { token, body: shop });
    await setHidden(advertisement, true);
    await call('DELETE', `/review/${advertisement}`, { token });
    await call('POST', '/review/', { token, body: shop }, 403);
    await fillIn(eve, about, 'value="allow"', { entity_id: `${shop.entity_id}`, ...why });
    await call('POST', '/review/', { token, body: shop });
    const hidden = await fillIn(eve, about, 'value="hide"', why);
    expect(hidden.html).toContain('of this author');

    await setHidden(review, true);
    await stream.idle();
    await readAll(ids, false);
    await call('PUT', `${path}/vote`, { ...voter, body: { vote: true } }, 404);
    await setHidden(review, false);
    await call('DELETE', path, { token });
    await call('DELETE', path, { token }, 404);
    await stream.idle();
    await readAll(ids, false);

    stopClock(Date.now() + 40 * 86_400_000);
    for (const { operation } of schedules) await invoke(await load(operation), operation, {});
    jest.useRealTimers();
  });

  test('a deletion that stopped after its first step', async () => {
    const review = await (await makeUser()).publishes();
    await setHidden(review, true);
    await setAttributes(reviewKey(review), { deleted_at: new Date().toISOString() });
    await stream.idle();
    expect(await readItem(reviewKey(review))).toBeUndefined();
  });

  test('lists too long to be skipped through', async () => {
    const [author, other] = await twoUsers();
    const entity_id = await makeLongLists(author);
    const review = await other.publishes({ entity_id, entity_type: 'work' });
    await author.votes(review);
    await stream.idle();
    await readAll({ review, entity_id, user_id: author.id }, true);
    const { access_token: token } = await makeGrant(author, []);
    await call('GET', '/user/me/reviews?limit=2&offset=401', { token });
    await call('GET', '/user/me?inc=stats', { token });
    const { count } = await call('GET', `/review/?entity_id=${entity_id}`);
    expect(count).toBe(402);
    const lists = [...proxy.used].filter(([right]) =>
      /^list-(reviews|users)$/.test(right.operation),
    );
    const read = lists.flatMap(([, partitions]) => [...partitions]);
    const trees = ['TREE#all', 'TREE#users', `TREE#ENTITY#${entity_id}`];
    expect(read).toEqual(expect.arrayContaining(trees));
  });

  test('the ends of sessions and accounts', async () => {
    const { browser: eve, account } = await signedIn('Eve');
    const { browser: another } = await signedIn('Eve');
    const client = await register(eve);
    const token = await askForToken(eve, client);
    const user_id = (await call('GET', '/user/me', { token })).user.id;
    const { id: review } = await call('POST', '/review/', { token, body: reviewBody() });
    const other = await (await makeUser()).publishes();
    await call('PUT', `/review/${other}/vote`, { token, body: { vote: true } });
    await call('POST', `/review/${other}/report`, { token, body: {} });
    await call('POST', '/review/', { token, body: reviewBody({ is_draft: true }) });
    await askForCode(eve, client);
    await stream.idle();

    stopClock(Date.now() - 13 * 3_600_000);
    const expired = (await startSession(user_id)).replace(/^[^=]*=|;.*$/g, '');
    jest.useRealTimers();
    await visitPages(expired, client);

    await eve.submit(account, '/sign-out"');
    await visitPages(sessionOf(another), client);

    const back = await another.signIn('Eve');
    await call('DELETE', '/user/me', { token });
    await call('DELETE', '/user/me', { token }, 401);
    await visitPages(sessionOf(another), client);
    await another.submit(back, '/account"', { display_name: 'Eve', email: '' });
    await stream.idle();
    await readAll({ review, entity_id: randomUUID(), user_id }, false);
    await visitPages(sessionOf(another), client);

    const again = await eve.signIn('Eve');
    const eves = await register(eve);
    await askForToken(eve, eves);
    expect(again.html).toContain('/account/delete"');
    await fillIn(eve, 'account/delete', '/account/delete"', { name: 'Eve' });
    await stream.idle();
    await another.signIn('Eve');

    // A deletion that stopped before it parted the account from its identity.
    await signedIn('Gus');
    const gus = (await scanTable()).find(({ display_name }) => display_name === 'Gus')?.id;
    const sha256 = `${(await readItem(contactKey(`${gus}`)))?.identity}`;
    const gone = randomUUID();
    await setAttributes(identityKey(sha256), { user_id: gone });
    await setAttributes(contactKey(gone), { identity: sha256 });
    await setAttributes(claimKey(gone, randomUUID()), { review_id: review });
    await signedIn('Gus');
    expect(await readItem(identityKey(sha256))).toEqual({
      ...identityKey(sha256),
      user_id: expect.not.stringMatching(`${gone}|${gus}`),
    });
  });

  test('and nothing is denied or fails', () => {
    expect([...proxy.denied]).toEqual([]);
    expect(failures.mock.calls).toEqual([]);
  });

  test('and all have had something to do', () => {
    const named = [...routes, ...consumers, ...schedules].map(({ operation }) => operation);
    const operations = [...named, 'authorizer', 'no-route'];
    expect(operations.filter((operation) => !succeeded.has(operation))).toEqual([]);
  });

  test('and no right is one that nobody needs', () => {
    const all = [...rights.values()].flat();
    const unused = all.filter((right) => !proxy.used.has(right));
    expect(unused.map((of) => `${of.operation}: ${of.action} of ${of.resources}`)).toEqual([]);
    const patterns = new Set(all.flatMap(({ partitions = [] }) => partitions));
    const used = [...proxy.used].flatMap(([right, keys]) => (right.partitions ? [...keys] : []));
    const matchless = [...patterns].filter((pattern) => !used.some((key) => isLike(key, pattern)));
    expect(matchless).toEqual([]);
  });

  test('and whoever needs another is named', async () => {
    const kept = rights.get('get-user') ?? [];
    rights.set('get-user', []);
    const id = randomUUID();
    await call('GET', `/user/${id}`, {}, 500);
    rights.set('get-user', kept);
    expect([...proxy.denied]).toContain(`get-user: dynamodb:GetItem of table [USER#${id}]`);
  });
});

describe('a request to AWS is refused', () => {
  const time = (ago: number) => new Date(Date.now() - ago).toISOString();
  const sent = ({ date = time(0), scope = 'eu-central-1/dynamodb', token = sessionToken }) => {
    const stamp = date.replaceAll(/[-:]|\.\d{3}/g, '');
    const signed = 'content-type;host;x-amz-date;x-amz-security-token;x-amz-target';
    return {
      authorization: `AWS4-HMAC-SHA256 Credential=get-user/${stamp.slice(0, 8)}/${scope}/aws4_request, SignedHeaders=${signed}, Signature=${'0'.repeat(64)}`,
      'x-amz-date': stamp,
      'x-amz-security-token': token,
    };
  };
  test.each([
    ['without session token', () => ({ ...sent({}), 'x-amz-security-token': undefined })],
    ['with the session token of another', () => sent({ token: 'x' })],
    ['six minutes late', () => sent({ date: time(360_000) })],
    ['six minutes early', () => sent({ date: time(-360_000) })],
    ['without date', () => ({ ...sent({}), 'x-amz-date': undefined })],
    ['without region', () => sent({ scope: '/dynamodb' })],
    [
      'with an unsigned date',
      () => ({ ...sent({}), authorization: sent({}).authorization.replace('x-amz-date;', '') }),
    ],
  ])('%s', (_, headers) => {
    expect(signingFault(sent({}))).toBeUndefined();
    expect(signingFault(headers())).toEqual(expect.any(String));
  });
});

describe('who reads for everybody', () => {
  const readers = routes
    .filter(({ table }) => table === 'public' || table === 'metadata')
    .map(({ operation }) => operation);

  const on =
    (action: string, resource: string) =>
    (...partitions: string[]): Deed => ({ action: `dynamodb:${action}`, resource, partitions });
  const get = on('GetItem', 'table');
  const batchGet = on('BatchGetItem', 'table');
  const query = on('Query', 'table');
  const byAuthor = on('Query', 'author-by-date');
  const all = on('Query', 'all-by-date');
  const id = randomUUID();
  test.each<[string, Deed]>([
    ['the grants of a user', query(`USER#${id}`)],
    ['the grants of an application', byAuthor(`CLIENT#${'f'.repeat(32)}`)],
    ['an application', get(`APP#${'f'.repeat(32)}`)],
    ['the applications of a user', byAuthor(`OWNER#${id}`)],
    ['an identity', get(`IDENTITY#${'f'.repeat(64)}`)],
    ['an e-mail address', get(`CONTACT#${id}`)],
    ['an e-mail address among users', batchGet(`USER#${id}`, `CONTACT#${id}`)],
    ['an identity among reviews', batchGet(`REVIEW#${id}`, `IDENTITY#${'f'.repeat(64)}`)],
    ['a code', get(`CODE#${'f'.repeat(64)}`)],
    ['a code among users', batchGet(`CODE#${'f'.repeat(64)}`, `USER#${id}`)],
    ['the codes of a user', byAuthor(`APPROVER#${id}`)],
    ['an authorization request', get(`REQUEST#${'f'.repeat(32)}`)],
    ['the votes of a user', byAuthor(`VOTER#${id}`)],
    ['the reports of a user', byAuthor(`REPORTER#${id}`)],
    ['the queue of moderators', all('CASE')],
    ['the log of moderation', all('DECISION')],
    ['a decision', get(`DECISION#${id}`)],
    ['what was decided about a user', byAuthor(`SUBJECT#${id}`)],
    ['the hidden reviews that a user has deleted', byAuthor(`HIDDEN#${id}`)],
    ['who has voted on a day', all('VOTES')],
    ['what is left to add up', query('DEFERRED')],
    ['the drafts of a user', byAuthor(`UNLISTED#${id}`)],
    ['the whole table', on('Scan', 'table')()],
    ['in order to change the numbers of an entity', on('UpdateItem', 'table')(`ENTITY#${id}`)],
    ['in order to replace a review', on('PutItem', 'table')(`REVIEW#${id}`)],
  ])('must not read %s', (_, deed) => {
    const able = readers.filter((operation) => findRight(rights.get(operation) ?? [], deed));
    expect(able).toEqual([]);
  });

  test.each<[string, Deed]>([
    ['list-reviews', all('REVIEW')],
    ['list-reviews', byAuthor(id)],
    ['list-reviews', on('Query', 'facet-by-popularity')('release_group|en')],
    ['list-users', all('USER')],
    ['batch-get-reviews', batchGet(`REVIEW#${id}`, `USER#${id}`)],
    ['batch-get-entities', batchGet(`ENTITY#${id}`)],
    ['get-entity', on('Query', 'entity-by-popularity')(id)],
    ['get-entity', on('UpdateItem', 'table')(`METADATA#work#${id}`)],
  ])('%s may read what it is for', (operation, deed) => {
    expect(findRight(rights.get(operation) ?? [], deed)).toBeDefined();
  });
});
