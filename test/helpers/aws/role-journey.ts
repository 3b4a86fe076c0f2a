import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { invoke } from '../../../infra/local/invoke.ts';
import { schedules } from '../../../shared/features/background.ts';
import type { Browser } from '../browser.ts';
import { stopClock } from '../clock.ts';
import { listen } from '../listen.ts';
import type { Calls } from './role-calls.ts';
import type { RoleWorld } from './role-world.ts';

/** Does all that people do with a review, from its draft to its removal. */
export async function reviewJourney(world: RoleWorld, calls: Calls): Promise<void> {
  const { stream, load } = world;
  const {
    call,
    signedIn,
    moderator,
    fillIn,
    register,
    askForToken,
    readAll,
    readOwn,
    visitPages,
    sessionOf,
  } = calls;
  const { makeGrant, makeUser, reviewBody } = await import('../world.ts');
  const { setHidden } = await import('../../../shared/core/report/decision-repository.ts');

  const { browser: cora, account } = await signedIn('Cora');
  const { browser: dan } = await signedIn('Dan');
  const profile = { display_name: 'Cora C.', email: '' };
  const saved = await cora.submit(account, 'name="display_name"', profile);
  const csrf = /name="csrf" value="([^"]+)"/.exec(saved.html)?.[1] ?? '';
  await cora.post('account', { csrf, email: 'cora@example.org' });
  const client = await register(cora);
  const token = await askForToken(cora, client);
  const received: string[] = [];
  let isGone = false;
  const receiver = createServer(async (request, response) => {
    const { type, data } = JSON.parse((await Array.fromAsync(request)).join(''));
    received.push(type);
    response.writeHead(isGone ? 410 : 200).end(data.challenge);
  });
  process.env.WEBHOOK_ALLOW = '127.0.0.0/8';
  const hook = { address: `${await listen(receiver.unref())}/`, 'review.published': 'yes' };
  const send = async () => invoke(await load('send-webhooks'), 'send-webhooks', {});
  const application = `account/applications/${client.client_id}`;
  const webhook = await fillIn(cora, application, 'Register webhook', hook);
  expect(webhook.html).toContain('whsec_');
  await fillIn(cora, webhook.url, 'Create new secret', {});
  await fillIn(cora, webhook.url, 'Save changes', { ...hook, 'review.edited': 'yes' });
  await send();
  const voter = { token: await askForToken(dan, client) };
  const user_id = (await call('GET', '/user/me', { token })).user.id;

  await call('GET', '/user/me/applications', { token });
  const body = reviewBody();
  const { id: review } = await call('POST', '/review/', { token, body });
  const film = { entity_type: 'film', name: `Film of ${user_id.slice(0, 8)}` };
  await call('POST', '/entity/', { token, body: film });
  const entity_id = String(body.entity_id);
  const ids = { review, entity_id, user_id };
  await stream.idle();
  await readAll(ids, true);
  await send();
  await fillIn(cora, webhook.url, 'Send again', {});
  await send();
  expect(received).toEqual(['webhook.test', 'review.published', 'review.published']);
  // Turns the webhook off, which its owner is told.
  isGone = true;
  await call('POST', `/review/${review}`, { token, body: { rating: 2 } });
  await stream.idle();
  await send();
  isGone = false;
  await fillIn(cora, webhook.url, 'Delete webhook', { confirm: 'yes' });
  receiver.closeAllConnections();
  receiver.close();

  const path = `/review/${review}`;
  const scene = { review_id: review, entity_id, user_id };
  await visitPages(sessionOf(dan), client, scene);
  // Only people who are signed in ask a database.
  expect((await dan.visit('find?q=by%20name')).html).toContain('<bdi>Blue</bdi>');
  await call('POST', path, { token, body: { rating: 2 } });
  await call('POST', path, { token, body: { rating: 2 } });
  await call('GET', `${path}/revisions`);
  await call('GET', `${path}/revisions/1`);
  for (const vote of [true, true, false]) {
    await call('PUT', `${path}/vote`, { ...voter, body: { vote } });
  }
  await readOwn(voter.token, scene);
  await call('DELETE', `${path}/vote`, voter);
  await call('PUT', `${path}/vote`, { ...voter, body: { vote: true } });
  for (const each of [1, 2]) await call('POST', `${path}/report`, { ...voter, body: { each } });
  const { browser: hal } = await signedIn('Hal');
  const ballot = `review/${review}/vote`;
  expect((await hal.visit(`${ballot}?vote=up`)).html).toContain('formaction="');
  for (const choice of ['up', 'down', 'none', 'none']) {
    const shown = await hal.visit(ballot);
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(shown.html) ?? [];
    const voted = await hal.post(`${ballot}?vote=${choice}`, { csrf });
    expect(voted.html).toContain('role="status"');
  }
  const { access_token: another } = await makeGrant(await makeUser(), ['vote']);
  await call('POST', `${path}/report`, { token: another, body: {} });
  const { browser: gil } = await signedIn('Gil');
  const form = `review/${review}/report`;
  const reported = await fillIn(gil, form, 'name="reason"', { reason: 'spam' });
  expect(reported.html).toContain('Thank you.');
  const both = { display_name: 'Cora', email: 'c@example.org' };
  for (const body of [both, { email: 'c@c.example' }]) {
    await call('POST', '/user/me', { token, body });
  }

  const draft = await call('POST', '/review/', { token, body: reviewBody({ is_draft: true }) });
  await call('POST', `/review/${draft.id}`, { token, body: { text: null } });
  await call('GET', '/user/me/reviews?limit=1&offset=1', { token });
  await call('GET', '/user/me/export', { token });
  const other = await call('POST', '/review/', { token, body: reviewBody({ is_draft: true }) });
  await call('DELETE', `/review/${other.id}`, { token });
  await call('POST', `/review/${draft.id}`, { token, body: { is_draft: false } });

  await formJourney(calls);

  const eve = await moderator('Eve');
  const fay = await moderator('Fay');
  for (const sort of ['date', 'popularity']) {
    await eve.visit(`account/moderation?sort=${sort}&reason=spam`);
  }
  await visitPages(sessionOf(eve), client, scene);
  await nameJourney(calls, { cora, dan, eve });
  await fileJourney(world, calls, cora);
  await stream.idle();
  await call('GET', '/entity/?q=azure');
  // Each page is the first to ask for the name of an entity.
  const publish = async () => (await call('POST', '/review/', { token, body: reviewBody() })).id;
  await publish();
  await cora.visit('account/reviews');
  const edited = await publish();
  await call('POST', `/review/${edited}`, { token, body: { rating: 1 } });
  await cora.visit(`review/${edited}/revisions`);
  for (const page of ['edit', 'delete']) await cora.visit(`review/${await publish()}/${page}`);
  for (const desk of ['account/moderation', 'account/moderation/reviews/{id}']) {
    const id = await publish();
    await call('POST', `/review/${id}/report`, { ...voter, body: {} });
    await eve.visit(desk.replace('{id}', id));
  }
  // Else it gives no page but a file.
  await eve.visit('account/data?cursor=x');
  await dan.visit('account/votes');
  const page = await eve.visit(`account/moderation/reviews/${review}`);
  const why = { reason: 'spam', note: '' };
  await eve.submit(page, 'value="hide"', { decision: 'hide', ...why });
  await call('GET', '/user/me/reviews', { token });
  await cora.visit('account/reviews');
  await fillIn(cora, 'account', '/appeal"', { statement: 'It is none.' });
  const restored = { decision: 'restore', ...why };
  await fillIn(fay, `account/moderation/reviews/${review}`, 'name="version"', restored);
  await eve.visit('account/moderation/log');
  // The number of what waits stands on public pages, too.
  await eve.visit('find');
  const about = `account/moderation/users/${user_id}`;
  const decide = (decision: string, grounds = {}) =>
    fillIn(eve, about, `value="${decision}"`, { decision, ...grounds });
  await decide('block', why);
  await call('POST', path, { token, body: { rating: 3 } }, 403);
  await decide('unblock', why);

  const shop = reviewBody();
  const { id: advertisement } = await call('POST', '/review/', { token, body: shop });
  await setHidden(advertisement, true);
  await call('DELETE', `/review/${advertisement}`, { token });
  await call('POST', '/review/', { token, body: shop }, 403);
  await fillIn(eve, about, 'value="allow"', { entity_id: `${shop.entity_id}`, ...why });
  await call('POST', '/review/', { token, body: shop });
  const hiding = await decide('hide_all', why);
  expect(hiding.html).toContain('Everything is being undone.');
  await stream.idle();
  expect((await decide('restore_all', why)).html).toContain('is being brought back');
  await stream.idle();
  await decide('hide_all', why);

  await stream.idle();
  await readAll(ids, false);
  await decide('unblock', why);
  await setHidden(review, false);
  await call('DELETE', path, { token });
  await stream.idle();
  await readAll(ids, false);

  // No request is under way when the clock changes: AWS refuses one signed by the other clock.
  await stream.idle();
  stopClock(Date.now() + 40 * 86_400_000);
  for (const { operation } of schedules) await invoke(await load(operation), operation, {});
  await stream.idle();
  jest.useRealTimers();
}

/** Names something, proposes, accepts, declines and undoes corrections. Adds and removes a film. */
async function nameJourney(
  { fillIn }: Calls,
  { cora, dan, eve }: Record<'cora' | 'dan' | 'eve', Browser>,
): Promise<void> {
  const entity_id = randomUUID();
  const naming = `entity/${entity_id}/name?entity_type=work`;
  // The database has named it, so that only a moderator corrects it at once.
  const named = await fillIn(eve, naming, 'name="seen"', { name: 'Azure', about: '1957' });
  expect(named.html).toContain('The name is saved.');
  for (const { person, name, decision } of [
    { person: dan, name: 'Blue', decision: 'accept' },
    { person: cora, name: 'Green', decision: 'decline' },
  ]) {
    const sent = await fillIn(person, naming, 'name="seen"', { name, note: 'A typo' });
    expect(sent.html).toContain('A moderator looks');
    expect((await eve.visit('account/moderation?kind=proposal')).html).toContain(entity_id);
    const desk = await eve.visit(`account/moderation/things/${entity_id}?entity_type=work`);
    const decided = await eve.submit(desk, 'name="proposed_at"', { decision });
    expect(decided.html).toContain('role="status"');
  }
  const again = await fillIn(cora, naming, 'name="seen"', { name: 'Azure' });
  expect(again.html).toContain('A moderator looks');
  const log = await eve.visit('account/moderation/log');
  expect((await eve.submit(log, 'name="id"', {})).html).toContain('role="status"');
  expect((await cora.visit('account/names')).html).toContain('Decided');
  const film = { name: 'A film', entity_type: 'film' };
  const added = await fillIn(cora, 'entity/new', 'Add it', film);
  expect(added.html).toContain('It is here now.');
  const review = { review: 'publish', rating: '4', language: 'en', license_choice: 'CC0 1.0' };
  const another = { name: 'Another film', entity_type: 'film', ...review };
  const reviewed = await fillIn(cora, 'entity/new', 'Add it', another);
  expect(reviewed.html).toContain('Your review is public.');
  const [, id = ''] = /\/entity\/([\da-f-]{36})/.exec(added.html) ?? [];
  const thing = `account/moderation/things/${id}?entity_type=film`;
  const removed = await fillIn(eve, thing, 'value="remove"', { reason: 'spam' });
  expect(removed.html).toContain('It is removed.');
  const returned = await fillIn(eve, thing, 'value="return"', {});
  expect(returned.html).toContain('It is a thing of its own again.');
}

/** Does with forms what scripts do with the API, each with something unknown to the table. */
async function formJourney({ signedIn, fillIn }: Calls): Promise<void> {
  const { browser: hal } = await signedIn('Hal');
  const form = () => `review/new?entity_id=${randomUUID()}&entity_type=work`;
  const content = { text: '', rating: '4', license_choice: 'CC0 1.0', language: 'nv' };
  // The form is shown again, with the choices of the last review.
  const refused = await fillIn(hal, form(), 'name="license_choice"', { ...content, rating: '' });
  expect(refused).toHaveStatus(400);
  const sent = await hal.visit(form());
  const draft = await hal.submit(sent, 'name="license_choice"', { ...content, is_draft: 'yes' });
  expect(draft.html).toContain('The draft is saved.');
  const edited = { text: '', rating: '2', is_draft: 'yes' };
  const saved = await hal.submit(draft, 'name="revision"', edited);
  await hal.submit(saved, 'name="revision"', { ...edited, rating: '1', is_draft: 'no' });
  const unnamed = `review/new?entity_id=${randomUUID()}&entity_type=bk_author`;
  const first = await fillIn(hal, unnamed, 'name="license_choice"', { ...content, name: 'Kafka' });
  expect(first.html).toContain('Your review is public.');
  const deletion = draft.url.replace(/edit$/, 'delete');
  expect((await fillIn(hal, deletion, 'class="danger"')).html).toContain('The review is deleted.');
}

/** Brings a file of reviews, and undoes it. */
async function fileJourney(
  { authUrl, stream }: RoleWorld,
  { fillIn, sessionOf }: Calls,
  cora: Browser,
): Promise<void> {
  const { formWithFile } = await import('../visit.ts');
  const { html } = await cora.visit('account/files');
  const csrf = /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? '';
  const row = `2024-03-02,Film ${randomUUID()},1927,https://boxd.it/2a,4.5`;
  const file = `Date,Name,Year,Letterboxd URI,Rating\n${row}`;
  const { type, body } = await formWithFile({ csrf, entity_type: 'film', file });
  const headers = { Cookie: `session=${sessionOf(cora)}`, 'Content-Type': type };
  const sent = await fetch(`${authUrl}/account/files`, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
  });
  expect(sent.status).toBe(303);
  await stream.idle();
  const choices = { as: 'public', halves: 'up', language: 'en', license_choice: 'CC0 1.0' };
  await fillIn(cora, 'account/files/1', 'value="bring"', { decision: 'bring', ...choices });
  await stream.idle();
  await fillIn(cora, 'account/files/1', 'value="undo"', { decision: 'undo' });
  await stream.idle();
  expect((await cora.visit('account/files/1')).html).toContain('Deleted again');
}
