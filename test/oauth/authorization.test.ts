import type { Storage } from '../../shared/base/table/storage.ts';
import { callerOf } from '../helpers/api.ts';
import {
  codeIn,
  evilUri,
  pkce,
  redirect_uri,
  requestOf,
  sentBack,
  startAuthorization,
} from '../helpers/authorization.ts';
import { csrfOn, openBrowser, textBetween } from '../helpers/browser.ts';
import { stopClock } from '../helpers/clock.ts';

const {
  url,
  issuer,
  stream,
  owner,
  client,
  client_id,
  ann,
  annsId,
  stranger,
  come,
  authorizeUrl,
  expectErrorPage,
} = await startAuthorization();

const { deleteApplication, updateApplication } = await import(
  '../../shared/core/oauth/application-repository.ts'
);
const { answerAuthorization, insertAuthorizationRequest } = await import(
  '../../shared/core/oauth/authorization-repository.ts'
);
const { listGrants } = await import('../../shared/core/oauth/grant-repository.ts');
const { deleteAccount } = await import('../../shared/features/account/delete-account.ts');
const { provideStorage, storage } = await import('../../shared/base/table/storage.ts');
const { sealRequest } = await import('../../shared/pages/session/sealed.ts');
const { challenge, makeClient, redeem, verifier } = await import('../helpers/oauth-client.ts');

/** Returns a storage that notes the name of each call, and when it is answered. */
function noted(own: Storage, log: string[]): Storage {
  return new Proxy(own, {
    get:
      (target, name) =>
      async (...given: unknown[]) => {
        log.push(`${String(name)}`);
        const answer = await Reflect.get(target, name).apply(target, given);
        log.push('answered');
        return answer;
      },
  });
}

describe('the state', () => {
  test.each([
    ['letters', 'xyz'],
    ['nothing', ''],
    ['unicode', 'ünï✓ 🎷 \u202e عربي'],
    ['2 kB', 'abcdefgh'.repeat(256)],
    ['signs', `+ % %20 %2B & = ; # ? / \\ : @ , ~ * ! ' ( ) [ ] { } | ^`],
    ['quotes', `"'\`<script>alert(1)</script>`],
    ['a line break', 'a\r\nSet-Cookie: x=y'],
    ['parameters of an answer', 'x&code=evil&error=evil'],
  ])('comes back unchanged: %s', async (_, state) => {
    const consent = await ann.visit(authorizeUrl({ state }));
    const refused = await ann.submit(consent, 'Allow', { decision: 'refuse' });
    const approved = await ann.allow(await ann.visit(authorizeUrl({ state })));
    expect([...sentBack(refused)]).toEqual([
      ['kept', '1'],
      ['error', 'access_denied'],
      ['state', state],
      ['iss', issuer],
    ]);
    expect([...sentBack(approved)]).toEqual([
      ['kept', '1'],
      ['code', expect.stringMatching(/^rvc_/)],
      ['state', state],
      ['iss', issuer],
    ]);
    // Some clients decode by hand, and do not read a plus sign as a space.
    expect(approved.url).not.toContain('+');
  });

  test('is read only from our sealed request, until that expires', async () => {
    const stopped = Date.now();
    const sealed = await sealRequest({
      client_id,
      state: null,
      asked: { scopes: [], code_challenge: null },
    });
    const address = `${issuer}/oauth/authorize?sealed_request=`;
    expect((await ann.visit(address + sealed)).html).toContain('Let Demo use your account?');
    expectErrorPage(await ann.visit(`${address}${sealed}&sealed_request=${sealed}`));
    expectErrorPage(await ann.visit(address));
    expectErrorPage(await ann.visit(`${address}${sealed.replace(/.$/, '')}`));
    expectErrorPage(await ann.visit(`${address}${ann.jar.get('session /')?.value}`));
    stopClock(stopped + 1_802_000);
    expectErrorPage(await ann.visit(address + sealed));
  });

  test('is not read for a deleted application', async () => {
    const { client_id } = await makeClient(owner, redirect_uri);
    const browser = openBrowser(issuer);
    const signIn = await browser.visit(authorizeUrl({ client_id }));
    await deleteApplication(client_id, owner.id);
    expectErrorPage(await browser.submit(signIn, 'Sign in', { name: 'Ben' }));
  });
});

describe('the consent page', () => {
  test('shows the application, its scopes and the person asked', async () => {
    const consent = await ann.visit(authorizeUrl({ scope: 'vote,user vote' }));
    const { html, headers } = consent;
    for (const text of [
      'Let Demo use your account?',
      '<strong>Ann</strong>',
      'Vote in your name',
      'Change your profile',
      '<dt>Sends you to</dt><dd>client.example</dd>',
    ]) {
      expect(html).toContain(text);
    }
    const profile = textBetween(consent, '<li><strong>Know who you are.</strong>', '</li>');
    expect(profile).toMatch(/^Your profile and email address.* drafts.* connected\.$/);
    expect(html).not.toContain('Write in your name');
    // A permission that cannot be undone stands apart, and no menu leads elsewhere.
    const warning = textBetween(consent, '<div class="warning">', '</div>');
    expect(warning).toContain('Delete your account');
    expect(html.replace(warning, '')).not.toContain('Delete your account');
    expect(html).not.toMatch(/<nav|Sign out/);
    // Browsers apply form-action to all redirects after the form, and the client may redirect
    // anywhere.
    expect(headers.get('content-security-policy')).not.toContain('form-action');
  });

  test('lets another person in the same browser answer', async () => {
    const { browser } = await come('Ida');
    const consent = await browser.visit(authorizeUrl({ state: 'ü+ &', scope: 'vote' }));
    const link = textBetween(consent, 'asks to act for you, <strong>Ida</strong>.', '</a>');
    const [, href = '', text] = /^<a href="([^"]*)">(.*)/s.exec(link) ?? [];
    expect(text).toBe('Not you? Use another account');
    expect(new URL(href).searchParams.get('prompt')).toBe('login');
    const signedIn = await browser.signIn('Jon', href);
    // The provider ends the earlier session, too, by a form that a script would submit.
    const asked = await browser.submit(signedIn, 'Continue', { logout: 'yes' });
    expect(asked.html).toContain('asks to act for you, <strong>Jon</strong>.');
    const back = await browser.allow(asked);
    expect(sentBack(back).get('state')).toBe('ü+ &');
    const { body } = await redeem(client, codeIn(back));
    const me = await callerOf(url, body.access_token)('GET', '/user/me');
    expect(me.body).toMatchObject({ user: { display_name: 'Jon' } });
  });

  test('grants only the scopes asked for, whatever the form says', async () => {
    const consent = await ann.visit(authorizeUrl({ scope: 'vote' }));
    const back = await ann.submit(consent, 'Allow', {
      decision: 'approve',
      redirect_uri: evilUri,
      scope: 'user',
      client_id: 'x',
    });
    expect((await redeem(client, codeIn(back))).body).toHaveProperty('access_token');
    expect((await listGrants(annsId)).at(-1)).toMatchObject({ client_id, scopes: ['vote'] });
  });

  test('keeps the challenge that was sent first', async () => {
    const consent = await ann.visit(authorizeUrl(pkce(challenge, 'S256')));
    const back = await ann.submit(consent, 'Allow', { decision: 'approve', code_challenge: '' });
    const code = codeIn(back);
    expect((await redeem(client, code)).body.error).toBe('invalid_grant');
    expect(await redeem(client, code, { code_verifier: verifier })).toHaveStatus(200);
  });

  test.each([
    ['no token of the session', { csrf: '' }, 403],
    ['a made-up token', { csrf: 'A'.repeat(43) }, 403],
    ['a token of unusual letters', { csrf: 'é'.repeat(43) }, 403],
    ['no decision', { decision: '' }, 400],
    ['another decision', { decision: 'Approve' }, 400],
  ])('refuses an answer with %s', async (_, fields, status) => {
    const consent = await ann.visit(authorizeUrl());
    expectErrorPage(await ann.submit(consent, 'Allow', { decision: 'approve', ...fields }), status);
    expect(sentBack(await ann.allow(consent)).has('code')).toBe(true);
  });

  test.each(['f'.repeat(32), '../x', ''])('refuses an answer to the request %j', async (id) => {
    const csrf = csrfOn(await ann.visit(authorizeUrl()));
    for (const query of [`?${new URLSearchParams({ request_id: id })}`, '']) {
      expectErrorPage(await ann.post(`oauth/authorize${query}`, { csrf, decision: 'approve' }));
    }
  });

  test('refuses an answer with the token of another session', async () => {
    const { browser: ben } = await come('Ben');
    const fields = { decision: 'approve', csrf: csrfOn(await ben.visit(authorizeUrl())) };
    expectErrorPage(await ann.submit(await ann.visit(authorizeUrl()), 'Allow', fields), 403);
    // A token of the same person’s earlier session is refused, too.
    const before = await ben.visit(authorizeUrl());
    ben.jar.clear();
    await ben.signIn('Ben');
    expectErrorPage(await ben.allow(before), 403);
  });

  test('refuses an answer without a session', async () => {
    expectErrorPage(await stranger.allow(await ann.visit(authorizeUrl())), 401);
  });

  test.each([
    ['approve', 'refuse'],
    ['refuse', 'approve'],
  ])('accepts only the first answer: %s', async (decision, other) => {
    const consent = await ann.visit(authorizeUrl());
    sentBack(await ann.submit(consent, 'Allow', { decision }));
    expectErrorPage(await ann.submit(consent, 'Allow', { decision: other }));
  });

  test.each(['approve', 'refuse'])(
    'repeats its result for a minute if sent twice: %s',
    async (decision) => {
      const consent = await ann.visit(authorizeUrl({ state: 'x' }));
      const start = Date.now();
      const first = await ann.submit(consent, 'Allow', { decision });
      expect(sentBack(first).has('code')).toBe(decision === 'approve');
      stopClock(start + 58_000);
      expect((await ann.submit(consent, 'Allow', { decision })).url).toBe(first.url);
      stopClock(start + 62_000);
      expectErrorPage(await ann.submit(consent, 'Allow', { decision }));
    },
  );

  test('returns one code to two parallel clicks, valid as long as the first', async () => {
    for (let i = 0; i < 15; i++) {
      const consent = await ann.visit(authorizeUrl());
      const [first, second] = await Promise.all([ann.allow(consent), ann.allow(consent)]);
      expect(second.url).toBe(first.url);
      expect(await redeem(client, codeIn(first))).toHaveStatus(200);
    }
    const start = Date.now();
    const consent = await ann.visit(authorizeUrl());
    await ann.allow(consent);
    stopClock(start + 50_000);
    const code = codeIn(await ann.allow(consent));
    stopClock(start + 62_000);
    expect((await redeem(client, code)).body.error).toBe('invalid_grant');
  });

  test('does not repeat its result to another person', async () => {
    const consent = await ann.visit(authorizeUrl());
    await ann.allow(consent);
    const { browser: ben } = await come('Ben');
    const csrf = csrfOn(await ben.visit(authorizeUrl()));
    expectErrorPage(await ben.post(requestOf(consent), { csrf, decision: 'approve' }));
  });

  test('accepts one of ten parallel answers, and repeats its result', async () => {
    const id = await insertAuthorizationRequest({
      client_id,
      name: client.name,
      redirect_uri,
      scopes: [],
      state: null,
      code_challenge: null,
    });
    const decisions = Array.from({ length: 10 }, (_, i) => (i % 2 ? 'refuse' : 'approve'));
    const answers = await Promise.allSettled(
      decisions.map((decision) => answerAuthorization(id, decision, annsId)),
    );
    const taken = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    expect(taken).toHaveLength(5);
    expect(new Set(taken.map(({ code }) => code)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status === 'rejected')) {
      expect(answer).toMatchObject({ reason: { status: 400 } });
    }
  });

  test('refuses an answer if the application has been renamed', async () => {
    const moving = await makeClient(owner, redirect_uri, 'Trusty');
    const consent = await ann.visit(authorizeUrl({ client_id: moving.client_id }));
    const { desc, website } = moving;
    await updateApplication(moving.client_id, owner.id, {
      name: 'Nasty',
      desc,
      website,
      redirect_uri,
    });
    const shown = await ann.allow(consent);
    expectErrorPage(shown);
    expect(shown.html).toContain('The application has changed');
    expectErrorPage(await ann.visit(requestOf(consent)));
  });

  test('takes three round trips, whatever it shows', async () => {
    // The consumers of the stream read the table, too.
    await stream.idle();
    const log: string[] = [];
    const own = storage();
    provideStorage(noted(own as Storage, log));
    await ann.visit(authorizeUrl());
    provideStorage(own);
    const asked = log.slice(0, 8).filter((each) => each !== 'answered');
    expect(log.slice(0, 4)).toEqual(['get', 'answered', 'get', 'answered']);
    const parallel = ['get', 'query', 'query', 'write'];
    expect(asked.slice(2).toSorted()).toEqual(parallel);
    expect(log).toHaveLength(12);
  });

  test('is not shown for two requests, or for an answered request', async () => {
    const consent = await ann.visit(authorizeUrl());
    const address = requestOf(consent);
    const [, request] = address.split('=');
    expect((await ann.visit(address)).html).toContain('Let Demo use your account?');
    expectErrorPage(await ann.visit(`${address}&request_id=${request}`));
    await ann.allow(consent);
    expectErrorPage(await ann.visit(address));
  });

  test('refuses the answer of a deleted account', async () => {
    const { browser: cat, id } = await come('Cat');
    const consent = await cat.visit(authorizeUrl());
    await deleteAccount(id);
    expectErrorPage(await cat.allow(consent), 401);
    expect((await cat.visit('account')).html).toContain('Development sign-in');
  });
});
