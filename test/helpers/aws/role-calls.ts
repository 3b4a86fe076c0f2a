import { randomUUID } from 'node:crypto';
import { routes, version } from '../../../shared/base/routes.ts';
import { resourceOf } from '../../../shared/core/http/match-route.ts';
import { type Browser, openBrowser, type Shown } from '../browser.ts';
import type { TestResponse } from '../invoke.ts';
import { ownReads } from '../routes.ts';
import type { Scene } from '../samples.ts';
import type { RoleWorld } from './role-world.ts';

interface CallOptions {
  /** The key of a request that may be repeated. */
  key?: string;
  token?: string;
  body?: unknown;
  form?: Record<string, string>;
}

/** An application and its secret. */
export interface Application {
  client_id: string;
  client_secret: string;
}

type Ids = Record<'review' | 'entity_id' | 'user_id', string>;

const redirect_uri = 'https://client.example/callback';

/** The fields that an owner registers of an application. */
export const registration = {
  name: 'Demo',
  desc: '',
  website: 'https://client.example/',
  redirect_uri,
};

/** A review that is not there. */
const unknown = {
  id: randomUUID(),
  user_id: randomUUID(),
  entity_id: randomUUID(),
  entity_type: 'work' as const,
};

/** Returns the calls, forms and rounds of both that people and applications make. */
export async function callsOf({ url, authUrl }: Pick<RoleWorld, 'url' | 'authUrl'>) {
  const { setModerator } = await import('../../../shared/core/user/name-repository.ts');
  const { pathsOf, sceneOf } = await import('../samples.ts');

  /** Calls the API, and expects one of its answers, which is 200 unless it is said. */
  async function call(
    method: string,
    path: string,
    { token, body, form, key }: CallOptions = {},
    status = 200,
  ): Promise<TestResponse['body']> {
    const headers: Record<string, string> = {};
    if (token !== undefined) headers.Authorization = `Bearer ${token}`;
    if (key !== undefined) headers['Idempotency-Key'] = key;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    // A key for each request, so that the answer is stored.
    if (method === 'POST' && body !== undefined) headers['Idempotency-Key'] = crypto.randomUUID();
    const content = form ? new URLSearchParams(form) : JSON.stringify(body);
    const response = await fetch(url + path, { method, headers, body: content });
    const text = await response.text();
    if (response.status !== status) {
      throw new Error(`${method} ${path} answers ${response.status}, not ${status}: ${text}`);
    }
    return JSON.parse(text);
  }

  /** Signs in on the way to a page. Somebody new saves the name that the provider proposes. */
  async function signInAt(browser: Browser, name: string, address = 'account'): Promise<Shown> {
    const shown = await browser.signIn(name, address);
    if (!shown.html.includes('Save and continue')) return shown;
    const saved = await browser.submit(shown, 'Save and continue', { display_name: name });
    return address === 'account' ? browser.visit(address) : saved;
  }

  /** A person who has signed in, and the page of the account. */
  async function signedIn(name: string) {
    const browser = openBrowser(authUrl);
    return { browser, account: await signInAt(browser, name) };
  }

  /** A moderator, signed in. */
  async function moderator(name: string): Promise<Browser> {
    const { browser, account } = await signedIn(name);
    const [, id = ''] = /<dt>Your id<\/dt><dd><code>([^<]+)</.exec(account.html) ?? [];
    await setModerator(id, true);
    return browser;
  }

  /** Submits the form with this text on a page. */
  async function fillIn(browser: Browser, page: string, text: string, fields = {}): Promise<Shown> {
    return browser.submit(await browser.visit(page), text, fields);
  }

  async function register(owner: Browser): Promise<Application> {
    const page = 'account/applications';
    return readApplication(await fillIn(owner, page, 'name="redirect_uri"', registration));
  }

  function readApplication(page: Shown): Application {
    const [client_secret = ''] = /rvs_[\w-]+/.exec(page.html) ?? [];
    return { client_id: page.url.split('/').at(-1) ?? '', client_secret };
  }

  function authorizeUrl({ client_id }: Application, scope = 'review,vote,user'): string {
    const query = { response_type: 'code', client_id, redirect_uri, scope };
    return `${authUrl}/oauth/authorize?${new URLSearchParams(query)}`;
  }

  async function askForCode(user: Browser, client: Application): Promise<string> {
    const approval = { decision: 'approve' };
    const page = await fillIn(user, authorizeUrl(client), 'name="decision"', approval);
    return new URL(page.url).searchParams.get('code') ?? '';
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

  /** Calls each public GET with these ids, whether they exist or not. */
  async function readAll({ review, entity_id, user_id }: Ids, isThere: boolean): Promise<void> {
    // First, because the next request finds the metadata in the table.
    await call('GET', `/entity/${entity_id}?include_metadata=true`);
    const values: Record<string, string> = { review_id: review, entity_id, user_id, rev: '1' };
    for (const { method, access, base, path } of routes) {
      if (method !== 'GET' || access !== 'public' || base === '') continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
      const response = await fetch(url + filled);
      await response.text();
      const expected = path.startsWith('/review/{') ? [isThere ? 200 : 404] : [200, 400, 404];
      expect([filled, expected]).toEqual([filled, expect.arrayContaining([response.status])]);
    }
    await call('GET', `/review/${review}/revisions/99`, {}, 404);
    await call('GET', `/reviews/?review_ids=${review},${randomUUID()}`);
    await call('GET', `/entities/?entity_ids=${entity_id},${randomUUID()}`);
    for (const query of [
      'include_metadata=true',
      'limit=2&offset=401',
      'limit=2&offset=401&entity_type=release_group&language=en&sort=popularity',
      `limit=2&offset=401&entity_id=${entity_id}`,
      `limit=2&offset=401&user_id=${user_id}&entity_type=release_group`,
    ]) {
      await call('GET', `/review/?${query}`);
    }
  }

  /** Calls each GET of what somebody with a token owns. */
  async function readOwn(token: string, about: Partial<Scene>): Promise<void> {
    for (const route of ownReads.filter(({ isPage }) => !isPage)) {
      for (const path of pathsOf(route, sceneOf(unknown, about))) {
        await call('GET', path.slice(version.length), { token });
      }
    }
  }

  /** Asks for every page, and sends every form, with this cookie. */
  async function visitPages(session: string, client: Application, about?: Partial<Scene>) {
    const scene = sceneOf(unknown, { client_id: client.client_id, ...about });
    const answers = ['', '?request=x&state=x&code=x'];
    const more: Record<string, string[]> = {
      'request-authorization': [...answers, new URL(authorizeUrl(client)).search],
      'finish-sign-in': answers,
    };
    for (const route of routes.filter(({ base }) => base === '')) {
      const { operation, method } = route;
      const steps = more[operation]?.map((query) => resourceOf(route) + query);
      for (const path of steps ?? pathsOf(route, scene)) {
        const response = await fetch(authUrl + path, {
          method,
          redirect: 'manual',
          headers: { Cookie: `session=${session}` },
          body: method === 'GET' ? undefined : new URLSearchParams({ confirm: 'yes' }),
        });
        await response.arrayBuffer();
        // A heartbeat may be late on a busy machine, which health says by 503.
        const isHealth = operation === 'get-health' && response.status === 503;
        if (!isHealth) expect(`${response.status} ${path}`).toMatch(/^[234]/);
      }
    }
  }

  function sessionOf({ jar }: Browser): string {
    return jar.get('session /')?.value ?? '';
  }

  return {
    call,
    signInAt,
    signedIn,
    moderator,
    fillIn,
    register,
    readApplication,
    authorizeUrl,
    askForCode,
    redeem,
    refresh,
    askForToken,
    readAll,
    readOwn,
    visitPages,
    sessionOf,
  };
}

/** The calls of one world. */
export type Calls = Awaited<ReturnType<typeof callsOf>>;
