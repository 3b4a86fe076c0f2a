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
const { readItem, setAttributes } = await import('../../helpers/items.ts');
const { sourced } = await import('../../helpers/transfer.ts');
const { importRecords } = await import('../../../shared/features/transfer/import.ts');
const { contactKey } = await import('../../../shared/core/keys.ts');
const { databaseTypes } = await import('../../../shared/core/entity/databases.ts');
const { batchWrite } = await import('../../../shared/base/table/batch.ts');
const { noticeItem } = await import('../../../shared/core/user/notice.ts');
const { setMails } = await import('../../../shared/core/user/mails.ts');
const { setModerator } = await import('../../../shared/core/user/name-repository.ts');

console.info = () => {};
const failures = jest.fn();
console.error = failures;

// Who waits for what AWS refuses to everybody waits for long.
beforeEach(() => {
  expect([...proxy.unsigned]).toEqual([]);
});

describe('each function does with its role', () => {
  // Within the suite, so that the database outlives it.
  afterAll(world.stop);

  test('what the first page needs that shows something, and asks for its name', async () => {
    const author = await makeUser();
    await call('GET', '/nowhere', {}, 404);
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

    const ben = openBrowser(authUrl);
    const consent = await signInAt(ben, 'Ben', authorizeUrl(client));
    const refused = await ben.submit(consent, 'name="decision"', { decision: 'refuse' });
    expect(refused.url).toContain('error=access_denied');
    await ben.submit(consent, 'name="decision"', { decision: 'approve' });

    const first = await redeem(client, await askForCode(ben, client));
    const second = await refresh(client, first.refresh_token);
    await refresh(client, second.refresh_token);
    // Its second use ends the grant.
    await refresh(client, first.refresh_token, 400);

    const token = await askForToken(ben, client);
    await call('POST', '/oauth/revoke', { form: { ...client, token } });
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
    await fillIn(ann, at, '/delete"', { confirm: 'yes' });
    await stream.idle();
  });

  test('the journey of a review', async () => {
    await reviewJourney(world, calls);
  });

  test('lists too long to be skipped through', async () => {
    const [author, other] = await makeUsers(2);
    const entity_id = await makeLongLists(author);
    const review = await other.publishes({ entity_id, entity_type: 'work' });
    await author.votes(review);
    await stream.idle();
    await readAll({ review, entity_id, user_id: author.id }, true);
    for (const type of databaseTypes) await call('GET', `/review/?entity_type=${type}`);
    const { access_token: token } = await makeGrant(author, []);
    await call('GET', '/user/me/reviews?limit=2&offset=401', { token });
    await call('GET', '/user/me?inc=stats', { token });
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
    await askForCode(eve, client);
    await stream.idle();
    await eve.submit(account, '/sign-out"');
    await visitPages(sessionOf(another), client);

    const back = await signInAt(another, 'Eve');
    await call('DELETE', '/user/me', { token });
    await another.submit(back, '/account"', { display_name: 'Eve', email: '' });
    await stream.idle();
    await readAll({ review, entity_id: randomUUID(), user_id }, false);

    const again = await signInAt(eve, 'Eve');
    const eves = await register(eve);
    await askForToken(eve, eves);
    expect(again.html).toContain('/account/delete"');
    await fillIn(eve, 'account/delete', '/account/delete"', { name: 'Eve' });
    await stream.idle();
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
