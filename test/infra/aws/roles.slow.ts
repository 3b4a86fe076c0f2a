/** @jest-environment-options {"variables":{"OWN_TYPES":"film:Film","WITH_SIGNATURES":"1"}} */
import '../../helpers/engine.ts';
import { randomUUID } from 'node:crypto';
import { invoke } from '../../../infra/local/invoke.ts';
import { declarations, functionNameOf } from '../../helpers/aws/checks.ts';
import { callsOf, registration } from '../../helpers/aws/role-calls.ts';
import { reviewJourney } from '../../helpers/aws/role-journey.ts';
import { startRoleWorld } from '../../helpers/aws/role-world.ts';
import { findRight, isLike } from '../../helpers/aws/roles.ts';
import { nextSteps, openBrowser } from '../../helpers/browser.ts';
import { stopClock } from '../../helpers/clock.ts';
import { startMailServer } from '../../helpers/mail-server.ts';

const world = await startRoleWorld();
const { url, authUrl, stream, proxy, rights, load, succeeded } = world;
const calls = await callsOf(world);
const {
  call,
  signInAt,
  signedIn,
  fillIn,
  moderator,
  register,
  readApplication,
  authorizeUrl,
  askForCode,
  redeem,
  refresh,
  askForToken,
  readAll,
  visitPages,
  sessionOf,
} = calls;

const { makeGrant, makeLongLists, makeUser, makeUsers, reviewBody, signIn } = await import(
  '../../helpers/world.ts'
);
const { readItem, scanTable, setAttributes } = await import('../../helpers/items.ts');
const { imports, sourced, textOf } = await import('../../helpers/transfer.ts');
const { importRecords } = await import('../../../shared/features/transfer/import.ts');
const { startSession } = await import('../../../shared/pages/session/session.ts');
const { rankTreeKey, sumsKey } = await import('../../../shared/base/list/keys.ts');
const { claimKey, contactKey, identityKey, reviewKey } = await import(
  '../../../shared/core/keys.ts'
);
const { databaseTypes } = await import('../../../shared/core/entity/databases.ts');
const { batchWrite } = await import('../../../shared/base/table/batch.ts');
const { noticeItem } = await import('../../../shared/core/user/notice.ts');
const { setMails } = await import('../../../shared/core/user/mails.ts');
const { setModerator } = await import('../../../shared/core/user/name-repository.ts');
const { setHidden } = await import('../../../shared/core/report/decision-repository.ts');

console.info = () => {};
const failures = jest.fn();
console.error = failures;

// Who waits for what AWS refuses to everybody waits for long.
beforeEach(() => {
  expect([...proxy.unsigned]).toEqual([]);
});

const twoUsers = () => makeUsers(2);
const unknown = { client_id: 'f'.repeat(32), client_secret: 'rvs_x' };

describe('each function does with its role', () => {
  // Within the suite, so that the database outlives it.
  afterAll(world.stop);

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
    for (const [address, shown] of [
      [`${url}/entity/ENTITY/reviews.atom`, '<entry>'],
      [`${url}/user/${author.id}/reviews.atom`, '<entry>'],
      [`${url}/review/?include_metadata=true`, '"Blue"'],
      [`${authUrl}/`, 'class="by"'],
      [`${authUrl}/reviews`, 'Blue'],
      [`${authUrl}/find?q=ENTITY%20by%20name`, '0 results'],
      [`${authUrl}/sitemap.xml`, '<loc>'],
      [`${authUrl}/review/REVIEW`, 'Blue'],
      [`${authUrl}/entity/ENTITY`, 'Blue'],
      [`${authUrl}/entity/ENTITY/embed`, 'Blue'],
      [`${authUrl}/oembed?url=${authUrl}/entity/ENTITY`, 'Blue'],
      [`${authUrl}/user/${author.id}`, 'Blue'],
    ] as const) {
      const entity_id = randomUUID();
      const review = await author.publishes({ entity_id });
      await stream.idle();
      await invoke(await load('update-names'), 'update-names', {});
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
      expect(refused).toHaveStatus(400);
    }

    const ben = openBrowser(authUrl);
    const consent = await signInAt(ben, 'Ben', authorizeUrl(client));
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
    await reviewJourney(world, calls);
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
    for (const type of databaseTypes) await call('GET', `/review/?entity_type=${type}`);
    const { access_token: token } = await makeGrant(author, []);
    await call('GET', '/user/me/reviews?limit=2&offset=401', { token });
    await call('GET', '/user/me?inc=stats', { token });
    const { count } = await call('GET', `/review/?entity_id=${entity_id}`);
    expect(count).toBe(402);
    // A sitemap of more than 1,000 reviews. They seem to be from 1970.
    await setAttributes(sumsKey, { counts: '{"work":{"b":2000}}' });
    for (const seeming of [1_000, 0]) {
      await setAttributes(rankTreeKey('all|work', 'root', []), { '0b': seeming });
      const response = await fetch(`${authUrl}/sitemap.xml?page=2`);
      expect(response).toHaveStatus(seeming > 0 ? 200 : 404);
    }
    const lists = [...proxy.used].filter(([right]) =>
      /^list-(reviews|users)$/.test(right.operation),
    );
    const read = lists.flatMap(([, partitions]) => [...partitions]);
    const trees = ['TREE#all|work', 'TREE#users', `TREE#ENTITY#${entity_id}`];
    expect(read).toEqual(expect.arrayContaining(trees));
  });

  test('the first reviews of a newcomer, which wait for a moderator', async () => {
    process.env.HELD_REVIEWS = '2';
    const { access_token: token } = await makeGrant(await makeUser(), ['review']);
    await call('POST', '/review/', { token, body: reviewBody(), key: 'the-first' });
    const draft = await call('POST', '/review/', { token, body: reviewBody({ is_draft: true }) });
    await call('POST', `/review/${draft.id}`, { token, body: { is_draft: false } });
    delete process.env.HELD_REVIEWS;
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

    stopClock(Date.now() - 31 * 24 * 3_600_000);
    const expired = (await startSession(user_id)).replace(/^[^=]*=|;.*$/g, '');
    jest.useRealTimers();
    await visitPages(expired, client);

    await eve.submit(account, '/sign-out"');
    await visitPages(sessionOf(another), client);

    const back = await signInAt(another, 'Eve');
    await call('DELETE', '/user/me', { token });
    await call('DELETE', '/user/me', { token }, 401);
    await visitPages(sessionOf(another), client);
    await another.submit(back, '/account"', { display_name: 'Eve', email: '' });
    await stream.idle();
    await readAll({ review, entity_id: randomUUID(), user_id }, false);
    await visitPages(sessionOf(another), client);

    const again = await signInAt(eve, 'Eve');
    const eves = await register(eve);
    await askForToken(eve, eves);
    expect(again.html).toContain('/account/delete"');
    await fillIn(eve, 'account/delete', '/account/delete"', { name: 'Eve' });
    await stream.idle();
    await signInAt(another, 'Eve');

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
      issuer: expect.any(String),
    });
  });

  test('what an address needs that signs in', async () => {
    const { browser: pia } = await signedIn('Pia');
    const asked = await fillIn(pia, 'account/address', 'Continue with the new address');
    const ending = await pia.submit(asked, 'Sign in', { name: 'Pia at home' });
    // A script of the provider, which has a session already, would send this form.
    if (ending.html.includes('name="xsrf"')) await pia.submit(ending, 'name="xsrf"');
    // Of a moderator, whose pages say how many cases wait. The address has an account here.
    const mod = await moderator('Mel');
    const taken = await fillIn(mod, 'account/address', 'Continue with the new address');
    const other = await mod.submit(taken, 'Sign in', { name: 'Pia at home' });
    const refused = await mod.submit(other, 'name="xsrf"');
    expect(refused.html).toContain('Your address was not changed');
    const before = openBrowser(authUrl);
    const undo = await fillIn(before, 'account', 'Sign in', { name: 'Pia' });
    await before.visit(undo.url);
    await before.submit(undo, 'Take the account back');
    // Accounts of an import wait for their people: one claims it, one is renamed.
    const emails = ['kim@example.org', 'lou@example.org'];
    const people = emails.map((email) => ({
      kind: 'user' as const,
      id: randomUUID(),
      display_name: 'Kim',
      created: '2020-01-01T00:00:00.000Z',
      contact: { email, email_verified: true, musicdb_username: null },
    }));
    expect((await importRecords(sourced(people))).written).toEqual({ user: 2 });
    const kim = openBrowser(authUrl);
    const sent = await fillIn(kim, 'account', 'name="address"', { address: 'kim@example.org' });
    const [, link = ''] = /<a href="([^"]*)">http/.exec(sent.html) ?? [];
    await kim.submit(await kim.visit(link), 'Sign in');
    expect((await readItem(contactKey(`${people[0]?.id}`)))?.identity).toBeDefined();
    const { access_token: token } = await makeGrant({ id: `${people[1]?.id}` } as never, ['user']);
    await call('POST', '/user/me', { token, body: { email: 'lou@new.example' } });
  });

  test('what invitations need', async () => {
    const host = await moderator('Ivy');
    process.env.MEMBERS = 'invited';
    const page = 'account/moderation/invitations';
    const made = await fillIn(host, page, 'Create link', { people: '10', days: '7', note: '' });
    const [link = ''] = /http[^<]*\/join\/[\w-]+/.exec(made.html) ?? [];
    const guest = openBrowser(authUrl);
    const shown = await guest.visit(link);
    const asked = await guest.visit(nextSteps(shown)['Sign in and join'] ?? '');
    const joined = await guest.submit(asked, 'Sign in', { name: 'Joe' });
    expect(joined.html).toContain('Choose your public name');
    const list = await fillIn(host, page, 'Revoke invitation');
    expect(list.html).toContain('1 of 10');
    delete process.env.MEMBERS;
  });

  test('what long texts need, which an import has left', async () => {
    const { browser: lea } = await signedIn('Lea');
    const author = `${(await scanTable()).find(({ display_name }) => display_name === 'Lea')?.id}`;
    const people = [{ id: author }, { id: author }, { id: author }];
    const [shown, edited, saved] = await imports(people, textOf(30_000));
    for (const path of [`/review/${shown}`, `/review/${shown}/revisions`]) await call('GET', path);
    await call('GET', `/review/${shown}/revisions/1`);
    await lea.visit(`review/${shown}/revisions`);
    const client = await register(lea);
    const token = await askForToken(lea, client);
    const body = { text: 'A short one that people may write.' };
    await call('POST', `/review/${edited}`, { token, body });
    await call('GET', `/review/${edited}/revisions/1`);
    const done = await fillIn(lea, `review/${saved}/edit`, 'name="revision"', body);
    expect(done.html).toContain(body.text);
    await stream.idle();
  });

  test('what mails need', async () => {
    const server = await startMailServer();
    Object.assign(process.env, { SMTP_URL: server.url, MAIL_FROM: 'reviews@example.org' });
    const [ann, mod] = await Promise.all(
      ['ann', 'mod'].map((name) => signIn({ email: `${name}@example.org`, email_verified: true })),
    );
    await setModerator(`${mod?.id}`, true);
    await setMails(`${ann?.id}`, { digest: true });
    const review_id = await ann?.publishesHidden();
    await mod?.reports(`${await ann?.publishes()}`, {});
    const created_at = Date.now();
    const notice = { user_id: `${ann?.id}`, kind: 'hide', review_id, created_at } as const;
    await batchWrite([{ put: noticeItem(notice, created_at) }]);
    await setAttributes(contactKey(`${ann?.id}`), { date: `2020-01-01T00:00:00.000Z#${ann?.id}` });
    await invoke(await load('send-notices'), 'send-notices', {});
    expect(server.inbox.flatMap(({ to }) => to).toSorted()).toEqual([
      'ann@example.org',
      'ann@example.org',
      'mod@example.org',
    ]);
    const stop = `${server.inbox[0]?.headers['list-unsubscribe']?.slice(1, -1)}`;
    expect((await fetch(stop)).status).toBe(200);
    expect((await fetch(stop, { method: 'POST' })).status).toBe(200);
    const { browser } = await signedIn('Nina');
    await fillIn(browser, 'account', 'name="mails"', { news: 'yes' });
    await server.stop();
  });

  test('and nothing is denied or fails', () => {
    expect([...proxy.denied]).toEqual([]);
    expect(failures.mock.calls).toEqual([]);
  });

  test('and all have had something to do', () => {
    const operations = declarations.map(({ operation }) => operation);
    expect(operations.filter((operation) => !succeeded.has(operation))).toEqual([]);
  });

  test('and nobody declares more than they do', () => {
    const wide = declarations.filter(({ operation, table, asks }) => {
      const name = functionNameOf(operation);
      const deeds = [...proxy.used].flatMap(([right, keys]) =>
        right.operation === name
          ? [...keys].map((key) => ({
              ...right,
              resource: `${right.resources[0]}`,
              partitions: [key],
            }))
          : [],
      );
      if (table === 'write' || asks) {
        return !deeds.some(({ action }) => /:(Put|Update|Delete|BatchWrite)/.test(action));
      }
      const open = rights.get('pages-public') ?? [];
      if (table === 'read') return deeds.every((deed) => findRight(open, deed));
      return table !== 'none' && deeds.length === 0;
    });
    // A vote is nobody else’s to see, although it lies beside its review.
    expect(wide.map(({ operation }) => operation)).toEqual(['get-vote']);
  });

  test('and no partition is one that nobody needs', () => {
    const all = [...rights.values()].flat();
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
