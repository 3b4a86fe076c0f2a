import { keysOf } from '../../shared/base/secrets.ts';
import { deleteApplication } from '../../shared/core/oauth/application-repository.ts';
import { setModerator } from '../../shared/core/user/name-repository.ts';
import { webhookSecret } from '../../shared/features/webhooks/signature.ts';
import { listWebhooks } from '../../shared/features/webhooks/webhook-repository.ts';
import { stopClock } from '../helpers/clock.ts';
import { makeClient } from '../helpers/oauth-client.ts';
import { applyStream } from '../helpers/stream.ts';
import { ask, pageFor } from '../helpers/visit.ts';
import { beginWebhook, read, run, startReceiver, status } from '../helpers/webhooks.ts';
import { makeUser, type Person } from '../helpers/world.ts';

const address = 'https://receiver.example/hook';
const types = { 'review.published': 'yes', 'review.removed': 'yes' };

/** Somebody with an application, and what they do on its pages. */
async function own() {
  const owner = await makeUser();
  const { client_id } = await makeClient(owner);
  const register = (form: Record<string, string>) =>
    ask('register-webhook', owner, { path: { client_id }, form });
  const act = async (form: Record<string, string>, person: Person = owner) => {
    const [webhook] = await listWebhooks(client_id);
    return ask('update-webhook', person, {
      path: { client_id, webhook_id: `${webhook?.id}` },
      form,
    });
  };
  const show = async (person: Person = owner) => {
    const [webhook] = await listWebhooks(client_id);
    return ask('show-webhook', person, { path: { client_id, webhook_id: `${webhook?.id}` } });
  };
  return { owner, client_id, register, act, show };
}

describe('POST /account/applications/{client_id}/webhooks', () => {
  test('registers a webhook, the same address once, and at most two', async () => {
    const { owner, client_id, register } = await own();
    for (let i = 0; i < 3; i++) {
      const answer = await register({ address, ...types });
      expect(answer).toMatchObject({ status: 303 });
    }
    expect(await listWebhooks(client_id)).toMatchObject([
      { address, types: ['review.published', 'review.removed'], state: 'new', slot: 1 },
    ]);
    expect(await register({ address: `${address}/2`, ...types })).toHaveStatus(303);
    const third = await register({ address: `${address}/3`, ...types });
    expect(third).toMatchObject({ status: 400 });
    expect(third.html).toContain('An application can have at most 2 webhooks: delete one first.');
    const html = await pageFor('show-application', owner, { path: { client_id } });
    expect(html.match(/webhooks\/[\da-f-]{36}/g)).toHaveLength(2);
    expect(html).not.toContain('Register webhook');
  });

  test('offers and takes messages about cases for moderators only', async () => {
    const { owner, client_id, register } = await own();
    const form = { address, ...types, 'case.opened': 'yes' };
    const shown = async () =>
      (await pageFor('show-application', owner, { path: { client_id } })).includes('case.opened');
    expect(await shown()).toBe(false);
    const refused = await register(form);
    expect(refused).toHaveStatus(403);
    expect(refused.html).toContain('Only moderators can choose messages about moderation cases.');
    await setModerator(owner.id, true);
    expect(await shown()).toBe(true);
    expect(await register(form)).toHaveStatus(303);
    const [webhook] = await listWebhooks(client_id);
    expect(webhook?.types).toContain('case.opened');
  });

  test('registers at most two at the same time', async () => {
    const { client_id, register } = await own();
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => register({ address: `${address}/${n}`, ...types })),
    );
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(2);
    expect(await listWebhooks(client_id)).toHaveLength(2);
  });

  test.each([
    [{ address: 'https://10.0.0.1/', ...types }, 'id="address-fault"'],
    [{ address }, 'Choose at least one kind of change.'],
  ])('refuses %j', async (form, fault) => {
    const { client_id, register } = await own();
    const { status, html } = await register(form);
    expect(status).toBe(400);
    expect(html).toContain(fault);
    expect(await listWebhooks(client_id)).toEqual([]);
  });
});

describe('the page of a webhook', () => {
  test('is for its owner only', async () => {
    const { register, act, show, client_id } = await own();
    await register({ address, ...types });
    const stranger = await makeUser();
    expect(await show(stranger)).toHaveStatus(404);
    for (const action of ['pause', 'secret', 'test']) {
      expect(await act({ action }, stranger)).toHaveStatus(404);
    }
    expect(await act({ action: 'delete', confirm: 'yes' }, stranger)).toHaveStatus(404);
    expect(await listWebhooks(client_id)).toMatchObject([{ version: 1 }]);
    const other = await own();
    const [webhook] = await listWebhooks(client_id);
    const path = { client_id: other.client_id, webhook_id: `${webhook?.id}` };
    expect(await ask('show-webhook', other.owner, { path })).toHaveStatus(404);
  });

  test('shows its secret, and a new one signs beside the old for a day', async () => {
    const { register, act, show, client_id } = await own();
    await register({ address, ...types });
    const secretOn = (html: string) => /whsec_[\w+/]{43}=/.exec(html)?.[0];
    const before = secretOn((await show()).html);
    const [webhook] = await listWebhooks(client_id);
    const [key] = await keysOf('WEBHOOK_KEYS');
    expect(before).toBe(webhookSecret(`${webhook?.secret_id}`, key));
    expect(await act({ action: 'secret' })).toHaveStatus(303);
    const { html } = await show();
    expect(secretOn(html)).not.toBe(before);
    expect(html).toContain('The old secret signs as well until');
    expect(await act({ action: 'secret' })).toHaveStatus(400);
    stopClock(Date.now() + 86_401_000);
    expect((await show()).html).toContain('Create new secret');
  });

  test('warns of a receiver that is gone, which its owner continues or deletes', async () => {
    const receiver = await startReceiver();
    const owner = await makeUser();
    const webhook = await beginWebhook(receiver, { owner });
    const path = { client_id: webhook.client_id, webhook_id: webhook.id };
    const act = (form: Record<string, string>) => ask('update-webhook', owner, { path, form });
    const id = await owner.publishes();
    await applyStream();
    expect(await pageFor('show-webhook', owner, { path })).toContain('Changes of 1 review');
    receiver.respond = status(410);
    await run();
    for (const operation of ['show-webhook', 'show-application']) {
      const { html } = await ask(operation, owner, { path });
      expect(html).toContain('This webhook is off, because its receiver answered 410 (Gone).');
    }
    receiver.respond = status(500);
    receiver.take();
    await act({ action: 'continue' });
    await run();
    const html = await pageFor('show-webhook', owner, { path });
    expect(html).toContain('On, but its receiver has failed since');
    expect(html).toContain('Status 500');
    const message = `${(await read(webhook)).stuck?.id}`;
    expect(message).toContain(id);
    expect(await act({ action: 'skip', message })).toHaveStatus(303);
    expect((await read(webhook)).stuck).toBeUndefined();
    await act({ action: 'pause' });
    expect((await read(webhook)).state).toBe('paused');
    expect(await act({ action: 'replay', from: 'yesterday' })).toHaveStatus(400);
    const today = new Date().toISOString().slice(0, 16).replace('T', ' ');
    expect(await act({ action: 'replay', from: today })).toHaveStatus(303);
    const again = await act({ action: 'replay', from: today });
    expect(again).toHaveStatus(403);
    expect(again.html).toMatch(/can be replayed once an hour: try again at \d\d:\d\d UTC/);
    const replayed = await ask('show-webhook', owner, { path });
    expect(replayed.html).toContain('The next replay can begin at');
    expect(replayed.html).not.toContain('name="from"');
    expect((await act({ action: 'delete' })).headers.location).toContain('/webhooks/');
    expect(await listWebhooks(webhook.client_id)).toHaveLength(1);
    await act({ action: 'delete', confirm: 'yes' });
    expect(await listWebhooks(webhook.client_id)).toEqual([]);
  });

  test.each(['__proto__', 'constructor', 'nothing'])(
    'refuses the action %s: 400',
    async (action) => {
      const { register, act } = await own();
      await register({ address, ...types });
      expect(await act({ action })).toHaveStatus(400);
    },
  );

  test('ends with its application, and with the account of its owner', async () => {
    const { owner, client_id, register } = await own();
    await register({ address, ...types });
    await register({ address: `${address}/2`, ...types });
    await deleteApplication(client_id, owner.id);
    expect(await listWebhooks(client_id)).toEqual([]);
    const other = await own();
    await other.register({ address, ...types });
    await other.owner.leaves();
    await applyStream();
    expect(await listWebhooks(other.client_id)).toEqual([]);
  });
});
