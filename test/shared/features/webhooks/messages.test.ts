import { randomUUID } from 'node:crypto';
import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { handler as sendWebhooks } from '../../../../functions/background/send-webhooks.ts';
import { batchDelete } from '../../../../shared/base/table/batch.ts';
import { table } from '../../../../shared/base/table/client.ts';
import { applicationKey, reviewKey, webhookKey } from '../../../../shared/core/keys.ts';
import {
  deleteGrant,
  deleteGrants,
  insertGrant,
} from '../../../../shared/core/oauth/grant-repository.ts';
import { setHidden } from '../../../../shared/core/report/decision-repository.ts';
import { logChanges } from '../../../../shared/features/changes/log.ts';
import { decideUser } from '../../../../shared/features/moderation/account-decisions.ts';
import * as presented from '../../../../shared/features/webhooks/presented.ts';
import { typesFor } from '../../../../shared/features/webhooks/webhook.ts';
import {
  confirmWebhook,
  continueWebhook,
  pauseWebhook,
  replayWebhook,
  resendMessage,
  rotateWebhookSecret,
  skipMessage,
  testWebhook,
} from '../../../../shared/features/webhooks/webhook-actions.ts';
import {
  deleteWebhook,
  getOwnWebhook,
  listWebhooks,
  updateWebhook,
} from '../../../../shared/features/webhooks/webhook-repository.ts';
import { stopClock } from '../../../helpers/clock.ts';
import { silence } from '../../../helpers/console.ts';
import { faultsOf } from '../../../helpers/contract.ts';
import { readItem, setAttributes, storeItems } from '../../../helpers/items.ts';
import { applyStream } from '../../../helpers/stream.ts';
import {
  beginWebhook,
  forgetWebhooks,
  makeWebhook,
  type Receiver,
  read,
  run,
  startReceiver,
  status,
  subscribe,
} from '../../../helpers/webhooks.ts';
import { makeGrant, makeUser, makeUsers, operator } from '../../../helpers/world.ts';

afterEach(forgetWebhooks);

const [ann, ben] = await makeUsers(2);

/** Returns the messages so far, which are then forgotten. Each is as the API describes it. */
function taken(receiver: Receiver) {
  return receiver.messages.splice(0).map(({ text, headers }) => {
    const message = JSON.parse(text);
    const [schema = v.never()] = Object.values(presented).filter((each) => v.is(each, message));
    expect(faultsOf(schema, message)).toEqual([]);
    return { ...message, id: headers['webhook-id'] };
  });
}

describe('a message about a review', () => {
  test('is of the weightiest type that each webhook has chosen', async () => {
    const receivers: Receiver[] = [];
    // Runs side by side would leave a webhook untested.
    for (const kind of ['published', 'edited', 'voted', 'removed'] as const) {
      receivers.push((await subscribe({ types: [`review.${kind}`] })).receiver);
    }
    const entity_id = randomUUID();
    const id = await ann.publishes({ entity_id });
    await ann.edits(id, { rating: 1 });
    await ben.votes(id);
    await run();
    const told = receivers.map((receiver) => receiver.take());
    expect(told).toEqual([
      [`review.published ${id}`],
      [`review.edited ${id}`],
      [`review.voted ${id}`],
      [],
    ]);
    // The same in a window of several log items.
    await ann.edits(id, { rating: 2 });
    await applyStream();
    await ben.votes(id, 'down');
    await applyStream();
    await ann.deletes(id);
    await run();
    const [published, edited, voted, removed] = receivers.map(taken);
    expect(published).toEqual([]);
    const data = { id, entity_id, user_id: ann.id, review: null, truncated: false };
    expect(edited).toMatchObject([{ type: 'review.edited', data }]);
    expect(voted).toMatchObject([{ type: 'review.voted', data }]);
    expect(removed).toMatchObject([{ type: 'review.removed', data }]);
  });

  test.each([
    // Bytes of the JSON count: 18 KB of control characters, 6 KB of emoji, and what is beside them.
    ['is left out over 24 KB', `${'\u0001'.repeat(3000)}${'\u{1f3b6}'.repeat(1500)}`, true],
    ['is complete up to 24 KB', '\u{1f3b6}'.repeat(5000), false],
  ])('%s', async (_, text, truncated) => {
    const { receiver } = await subscribe();
    const entity_id = randomUUID();
    const id = await ann.publishes({ entity_id, text });
    await run();
    const [{ text: body } = { text: '' }] = receiver.messages;
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(24 * 1024);
    const [message] = taken(receiver);
    expect(message.data).toMatchObject({ id, entity_id, user_id: ann.id, truncated });
    expect(message.data.review === null).toBe(truncated);
  });

  test('is read strongly consistent, with its author', async () => {
    const { receiver } = await subscribe();
    const id = await ann.publishes();
    await applyStream();
    const sent = jest.spyOn(table, 'send');
    await sendWebhooks();
    const reads = sent.mock.calls.flatMap(([command]) => {
      if (command instanceof GetCommand) {
        const { Key = {}, ConsistentRead } = command.input;
        return [{ Keys: [Key], ConsistentRead }];
      }
      const { RequestItems } = command instanceof BatchGetCommand ? command.input : {};
      return Object.values(RequestItems ?? {});
    });
    const readsOf = (pk: string) => reads.filter(({ Keys }) => Keys?.some((key) => key.pk === pk));
    for (const pk of [`REVIEW#${id}`, `USER#${ann.id}`]) {
      expect(readsOf(pk).some(({ ConsistentRead }) => ConsistentRead === true)).toBe(true);
    }
    expect(readsOf(`REVIEW#${id}`).every(({ ConsistentRead }) => ConsistentRead)).toBe(true);
    expect(receiver.take()).toHaveLength(1);
  });

  test('is not sent of a review that was hidden half a second before', async () => {
    const { receiver } = await subscribe();
    const ids = await Promise.all([ann.publishes(), ann.publishes(), ben.publishes()]);
    await applyStream();
    // All are read together for the first message.
    let hidden: string[] = [];
    receiver.respond = async ({ data }) => {
      receiver.respond = undefined;
      hidden = ids.filter((id) => id !== data.id);
      for (const id of hidden) await setHidden(id, true);
      await new Promise((resolve) => setTimeout(resolve, 600));
    };
    await sendWebhooks();
    expect(hidden).toHaveLength(2);
    expect(taken(receiver)).toHaveLength(1);
    await run();
    expect(receiver.take().sort()).toEqual(hidden.map((id) => `review.removed ${id}`).sort());
  });

  test('is of one entity or one author, if its owner wants only these', async () => {
    const entity_id = randomUUID();
    const { receiver: ofEntity, webhook } = await subscribe({ entity_id });
    const { receiver: ofAuthor } = await subscribe({ author_id: ben.id });
    const { receiver: ofAll } = await subscribe();
    const one = await ann.publishes({ entity_id });
    const other = await ben.publishes();
    await run();
    await ann.deletes(one);
    await run();
    expect(ofEntity.take()).toEqual([`review.published ${one}`, `review.removed ${one}`]);
    expect(ofAuthor.take()).toEqual([`review.published ${other}`]);
    expect(ofAll.take()).toHaveLength(3);
    await updateWebhook(webhook, { address: webhook.address, types: webhook.types });
    const third = await ben.publishes();
    await run();
    expect(ofEntity.take()).toEqual([`review.published ${third}`]);
  });
});

describe('a message about a person', () => {
  test('is for the application whose access was revoked, once nothing of it is left', async () => {
    const { receiver: mine, webhook } = await subscribe({ types: typesFor(false) });
    const { receiver: others } = await subscribe({ types: typesFor(false) });
    const person = await makeUser();
    const asked = { user_id: person.id, client_id: webhook.client_id, scopes: [] };
    const first = await insertGrant(asked);
    await insertGrant(asked);
    await deleteGrant(first);
    await run();
    expect(taken(mine)).toEqual([]);
    await deleteGrants(person.id, webhook.client_id);
    await run();
    expect(taken(mine)).toMatchObject([
      { type: 'access.revoked', data: { user_id: person.id }, id: expect.stringMatching(/^usr_/) },
    ]);
    expect(taken(others)).toEqual([]);
  });

  test('is of the type that was chosen, also if both happened', async () => {
    const choices = [
      ['access.revoked'],
      ['user.deleted'],
      ['access.revoked', 'user.deleted'],
    ] as const;
    for (const types of choices) {
      const { receiver, webhook } = await subscribe({ types: [...types] });
      const { client_id } = webhook;
      const person = await makeUser();
      const asked = { user_id: person.id, client_id, scopes: [] };
      await insertGrant(asked);
      await deleteGrants(person.id, client_id);
      await applyStream();
      await insertGrant(asked);
      await person.leaves();
      await run();
      expect(taken(receiver).map(({ type }) => type)).toEqual(types.slice(-1));
    }
  });

  test('says that the account was deleted, and nothing else', async () => {
    const { receiver, webhook } = await subscribe({ types: ['access.revoked', 'user.deleted'] });
    const [person, stranger] = await makeUsers(2);
    await insertGrant({ user_id: person.id, client_id: webhook.client_id, scopes: [] });
    await makeGrant(stranger, ['review']);
    await person.leaves();
    await stranger.leaves();
    await run();
    const messages = taken(receiver).map(({ type, data }) => [type, data]);
    expect(messages).toEqual([['user.deleted', { user_id: person.id }]]);
  });
});

describe('a receiver', () => {
  test.each<[string, (challenge: string) => string]>([
    ['as text', (challenge) => `${challenge}\n`],
    ['as a JSON string', (challenge) => JSON.stringify(challenge)],
    ['in a JSON object', (challenge) => JSON.stringify({ challenge, ok: true })],
  ])('may answer the challenge %s', async (_, answer) => {
    const receiver = await startReceiver();
    receiver.respond = ({ data }, response) => response.end(answer(`${data.challenge}`));
    const webhook = await makeWebhook(receiver);
    await run();
    expect((await read(webhook)).state).toBe('on');
  });

  test.each(['', '{}', 'null', '"another"', '{"challenge":null}', '[1'])(
    'that answers %j has not answered the challenge',
    async (answer) => {
      const receiver = await startReceiver();
      receiver.respond = (_message, response) => response.end(answer);
      const webhook = await makeWebhook(receiver);
      await run();
      const { state, attempts } = await read(webhook);
      expect(state).toBe('new');
      expect(attempts).toMatchObject([{ status: 200, cause: 'answer' }]);
    },
  );

  test('that was not ready is tested again', async () => {
    const receiver = await startReceiver();
    receiver.respond = status(404);
    const webhook = await makeWebhook(receiver);
    for (let i = 0; i < 2; i++) {
      await run();
      await run();
      expect(receiver.tests).toHaveLength(i + 1);
      stopClock(Date.parse(`${(await read(webhook)).test_due}`));
    }
    // Each test has the same challenge, which its owner may copy from any of them.
    expect(new Set(receiver.tests.map(({ data }) => data.challenge)).size).toBe(1);
    receiver.respond = undefined;
    await testWebhook(webhook);
    await run();
    expect(await read(webhook)).toMatchObject({ state: 'on', failures: 0 });
  });

  test('that cannot answer is confirmed by the challenge in its log', async () => {
    const receiver = await startReceiver();
    receiver.respond = status(204);
    const webhook = await makeWebhook(receiver);
    await run();
    await expect(confirmWebhook(webhook, 'another')).rejects.toHaveStatus(400);
    expect((await read(webhook)).state).toBe('new');
    await ann.publishes();
    await applyStream();
    const challenge = `${receiver.tests[0]?.data.challenge}`;
    await confirmWebhook(webhook, ` ${challenge}\n`);
    expect(await read(webhook)).toMatchObject({ state: 'on', failures: 0 });
    const id = await ann.publishes();
    await run();
    expect(receiver.take()).toEqual([`review.published ${id}`]);
    // The challenge of one address does not confirm another.
    await updateWebhook(webhook, { address: `${receiver.url}/2`, types: webhook.types });
    await expect(confirmWebhook(webhook, challenge)).rejects.toHaveStatus(400);
  });
});

describe('an owner', () => {
  test('gets a message again, with its id and the review of now', async () => {
    const { receiver, webhook } = await subscribe({ types: typesFor(false) });
    const id = await ann.publishes({ rating: 1 });
    await run();
    const [first] = taken(receiver);
    await ann.edits(id, { rating: 2 });
    await run();
    const [second] = taken(receiver);
    await resendMessage(webhook, first.id);
    await run();
    const [again] = taken(receiver);
    expect(again).toMatchObject({ ...first, data: { ...first.data, review: { rating: 2 } } });
    expect(again.data.version).toBeLessThan(second.data.version);
    await ann.deletes(id);
    await run();
    const [removal] = taken(receiver);
    await resendMessage(webhook, removal.id);
    await run();
    expect(taken(receiver)).toEqual([removal]);
    for (const other of ['rev_another_1', `rev_${randomUUID()}_1`, `test_${webhook.id}_1`]) {
      await expect(resendMessage(webhook, other)).rejects.toHaveStatus(400);
    }
    // Once for each wish.
    await run();
    expect(taken(receiver)).toEqual([]);
  });

  test('sees the last attempts with their causes', async () => {
    const { receiver, webhook } = await subscribe();
    const id = await ann.publishes();
    receiver.respond = status(503);
    await run();
    const { attempts } = await read(webhook);
    expect(attempts).toEqual([
      {
        at: expect.any(String),
        type: 'webhook.test',
        id: expect.stringContaining(`test_${webhook.id}_`),
        status: 200,
        milliseconds: expect.any(Number),
      },
      {
        at: expect.any(String),
        type: 'review.published',
        id: expect.stringContaining(`rev_${id}_`),
        status: 503,
        milliseconds: expect.any(Number),
        cause: 'status',
      },
    ]);
  });

  test('whose account is blocked gets no messages, and may stop and delete only', async () => {
    const owner = await makeUser();
    const { receiver, webhook } = await subscribe({ owner });
    await ann.publishes();
    await run();
    const [{ id: sent }] = taken(receiver);
    await decideUser(owner.id, 'block', operator);
    const second = await ann.publishes();
    const deeds = [
      () => testWebhook(webhook),
      () => continueWebhook(webhook),
      () => replayWebhook(webhook, Date.now() - 60_000),
      () => rotateWebhookSecret(webhook),
      () => resendMessage(webhook, sent),
      () => updateWebhook(webhook, { address: webhook.address, types: webhook.types }),
    ];
    const key = webhookKey(webhook.client_id, webhook.slot);
    await setAttributes(key, { state: 'paused' });
    for (const deed of deeds) await expect(deed()).rejects.toHaveStatus(403);
    await setAttributes(key, { state: 'on' });
    await run();
    expect([receiver.take(), receiver.tests.length]).toEqual([[], 1]);
    await decideUser(owner.id, 'unblock', operator);
    await run();
    expect(receiver.take()).toEqual([`review.published ${second}`]);
    await decideUser(owner.id, 'block', operator);
    await pauseWebhook(webhook);
    await deleteWebhook(webhook);
    expect(await listWebhooks(webhook.client_id)).toEqual([]);
  });

  test('who is gone gets no messages', async () => {
    const { receiver, webhook } = await subscribe();
    const other = await beginWebhook(await startReceiver());
    await batchDelete([applicationKey(webhook.client_id)]);
    await ann.publishes();
    await run();
    expect(receiver.take()).toEqual([]);
    expect((await read(other)).state).toBe('on');
  });
});

test('a replay forgets the message that was stuck', async () => {
  const { receiver, webhook } = await subscribe();
  receiver.respond = status(400);
  await ann.publishes();
  await run();
  const { stuck } = await read(webhook);
  expect(stuck).toBeDefined();
  await replayWebhook(webhook, Date.now() - 60_000);
  expect((await read(webhook)).stuck).toBeUndefined();
  await skipMessage(webhook, `${stuck?.id}`);
  receiver.take();
  receiver.respond = undefined;
  stopClock(Date.now() + 120_000);
  await run();
  expect(receiver.take().length).toBeGreaterThan(0);
});

test('a webhook that this code cannot read is left out, and hides no other', async () => {
  const error = silence('error');
  const { receiver, webhook } = await subscribe();
  const { receiver: other } = await subscribe();
  const key = webhookKey(webhook.client_id, webhook.slot);
  await setAttributes(key, { types: ['review.published', 'review.restored'] });
  const id = await ann.publishes();
  await run();
  expect(receiver.take()).toEqual([]);
  expect(other.take()).toEqual([`review.published ${id}`]);
  const { user_id, client_id } = webhook;
  const line = { message: 'A stored item cannot be read', sk: key.sk, field: 'types.1' };
  expect(error).toHaveBeenCalledWith(expect.objectContaining(line));
  // Asked for alone, it is an error.
  await expect(getOwnWebhook(client_id, webhook.id, user_id)).rejects.toMatchObject({
    name: 'ValiError',
  });
  // It keeps its place among the two of its application.
  await setAttributes(key, { types: ['review.published'] });
  expect(await readItem(key)).toMatchObject({ id: webhook.id });
});

test('a change of a review that this code cannot read holds up no other', async () => {
  silence('error');
  const { receiver } = await subscribe();
  const id = await ann.publishes();
  await applyStream();
  const newer = randomUUID();
  const stored = await readItem(reviewKey(id));
  await storeItems([{ ...stored, ...reviewKey(newer), id: newer, rating: { stars: 5 } }]);
  await logChanges([{ id: newer, version: 1, kind: 'published' }]);
  await run();
  expect(receiver.take()).toContain(`review.published ${id}`);
});
