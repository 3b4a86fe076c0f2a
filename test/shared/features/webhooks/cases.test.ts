import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { webhookKey } from '../../../../shared/core/keys.ts';
import { appeal } from '../../../../shared/core/report/decision-repository.ts';
import { setModerator } from '../../../../shared/core/user/name-repository.ts';
import { isPublicChange } from '../../../../shared/features/changes/logged-change.ts';
import { CaseMessage } from '../../../../shared/features/webhooks/presented.ts';
import {
  continueWebhook,
  pauseWebhook,
  replayWebhook,
  resendMessage,
} from '../../../../shared/features/webhooks/webhook-actions.ts';
import { updateWebhook } from '../../../../shared/features/webhooks/webhook-repository.ts';
import { setAttributes } from '../../../helpers/items.ts';
import { follow, position } from '../../../helpers/list-changes.ts';
import { correct, decideName } from '../../../helpers/names-by-people.ts';
import {
  beginWebhook,
  forgetWebhooks,
  makeWebhook,
  type Receiver,
  run,
  startReceiver,
  status,
  subscribe,
} from '../../../helpers/webhooks.ts';
import { makeModerator, makeUser, makeUsers, newWork } from '../../../helpers/world.ts';

process.env.AUTH_URL = 'https://reviews.example';

afterEach(forgetWebhooks);

const [ann, ben, cat] = await makeUsers(3);
const mod = await makeModerator('Mo');

/** The words of a review and of a report, which no message has. */
const secret = {
  text: 'Words of the review, which are 25 or more.',
  reason: 'Words of the report.',
};

const none = { spam: 0, abuse: 0, off_topic: 0, copyright: 0, other: 0 };

const begin = (form: Parameters<typeof makeWebhook>[1] = {}) =>
  subscribe({ owner: mod, types: ['case.opened'], ...form });

/** Returns the messages so far, which are then forgotten, with their ids. */
function taken(receiver: Receiver) {
  return receiver.messages.splice(0).map(({ text, headers }) => {
    const message = v.parse(v.strictObject(CaseMessage.entries), JSON.parse(text));
    expect(text).not.toMatch(/Words of/);
    return { ...message.data, id: `${headers['webhook-id']}` };
  });
}

test('a first report is told to the webhook of a moderator, later ones are not', async () => {
  const { receiver } = await begin();
  const entity_id = randomUUID();
  const review_id = await ann.publishes({ entity_id, text: secret.text });
  await ben.reports(review_id, { reason: secret.reason });
  await run();
  expect(taken(receiver)).toEqual([
    {
      id: expect.stringMatching(new RegExp(`^case_${review_id}_\\d+$`)),
      review_id,
      entity_id,
      entity_type: 'release_group',
      opened_by: 'report',
      opened_at: expect.any(String),
      reasons: { ...none, other: 1 },
      url: `https://reviews.example/account/moderation/reviews/${review_id}`,
    },
  ]);
  await cat.reports(review_id, { reason: 'spam' });
  await run();
  expect(taken(receiver)).toEqual([]);
  // The next round has a message of its own.
  await mod.decides(review_id, 'dismiss');
  await (await makeUser()).reports(review_id, { reason: 'abuse' });
  await run();
  expect(taken(receiver)).toMatchObject([{ review_id, reasons: { ...none, abuse: 1 } }]);
});

test('a review on hold, an edit that waits and an appeal say what they are', async () => {
  const { receiver } = await begin();
  process.env.HELD_REVIEWS = '2';
  const newcomer = await makeUser();
  const review_id = await newcomer.publishes({ text: secret.text });
  await run();
  expect(taken(receiver)).toMatchObject([{ review_id, opened_by: 'hold' }]);
  await mod.decides(review_id, 'approve');
  await newcomer.edits(review_id, { text: `${secret.text} And more.` });
  await run();
  expect(taken(receiver)).toMatchObject([{ review_id, opened_by: 'edit' }]);
  await mod.decides(review_id, 'hide');
  await run();
  expect(taken(receiver)).toEqual([]);
  await appeal(review_id, newcomer.id, 'Words of the appeal.');
  await run();
  expect(taken(receiver)).toMatchObject([{ review_id, opened_by: 'appeal' }]);
});

test('a correction and the first name of a new author say what they are, without the words', async () => {
  const { receiver } = await begin();
  const ofOthers = await begin({ author_id: cat.id });
  process.env.HELD_REVIEWS = '2';
  const named = newWork();
  await correct(await makeUser(), named, { name: 'Words of a name' });
  delete process.env.HELD_REVIEWS;
  const page = 'https://reviews.example/account/moderation';
  const query = '?entity_type=work';
  await run();
  expect(taken(receiver)).toEqual([
    {
      id: expect.stringMatching(new RegExp(`^case_work_${named.entity_id}_\\d+$`)),
      review_id: null,
      ...named,
      opened_by: 'name',
      opened_at: expect.any(String),
      reasons: none,
      url: `${page}/things/${named.entity_id}${query}`,
    },
  ]);
  const known = newWork();
  await correct(ann, known, { name: 'Words of a name' });
  await ben.publishes(known);
  await correct(ben, known, { name: 'Words of another', note: 'Words of a note' });
  await run();
  expect(taken(receiver)).toMatchObject([
    {
      review_id: null,
      ...known,
      opened_by: 'proposal',
      url: `${page}/names/${known.entity_id}${query}`,
    },
  ]);
  expect(taken(ofOthers.receiver)).toEqual([]);
});

test('only moderators choose it', async () => {
  const receiver = await startReceiver();
  const form = { address: receiver.url, types: ['case.opened' as const] };
  await expect(makeWebhook(receiver, form)).rejects.toMatchObject({
    status: 403,
    message: 'Only moderators can choose messages about moderation cases',
  });
  const webhook = await makeWebhook(receiver);
  await expect(updateWebhook(webhook, form)).rejects.toHaveStatus(403);
});

test('it is sent while the owner is a moderator, and not to anybody else', async () => {
  const [owner, member] = await Promise.all([makeModerator('Lu'), makeUser()]);
  const { receiver, webhook } = await begin({ owner, types: ['case.opened', 'review.edited'] });
  const others = await startReceiver();
  const stolen = await beginWebhook(others, { owner: member });
  // As if it had been chosen, for example before the owner's rights were withdrawn.
  const key = webhookKey(stolen.client_id, stolen.slot);
  await setAttributes(key, { types: ['case.opened', 'review.edited'] });
  const reported = async () => {
    const id = await ann.publishes();
    await ben.reports(id, { reason: 'spam' });
    await run();
    return id;
  };
  const first = await reported();
  const [{ id } = { id: '' }] = taken(receiver);
  await setModerator(owner.id, false);
  await reported();
  await resendMessage(webhook, id);
  await run();
  expect(taken(receiver)).toEqual([]);
  await setModerator(owner.id, true);
  const third = await reported();
  expect(taken(receiver)).toMatchObject([{ review_id: third }]);
  await resendMessage(webhook, id);
  await run();
  expect(taken(receiver)).toMatchObject([{ id, review_id: first }]);
  expect(others.take()).toEqual([]);
});

test('the change feed, and webhooks without this type, do not show it', async () => {
  const receiver = await startReceiver();
  const since = await position();
  await beginWebhook(receiver, {
    owner: mod,
    types: ['review.published', 'review.edited', 'review.voted', 'review.removed', 'entity.edited'],
  });
  process.env.HELD_REVIEWS = '1';
  await (await makeUser()).publishes();
  delete process.env.HELD_REVIEWS;
  const review_id = await ann.publishes();
  await run();
  receiver.take();
  const { next } = await follow(since);
  await ben.reports(review_id);
  await run();
  expect(receiver.take()).toEqual([]);
  const { told } = await follow(next);
  expect(told).toEqual([]);
  expect(isPublicChange({ kind: 'opened' })).toBe(false);
});

test('a change of the review beside it is told as well', async () => {
  const { receiver } = await begin({ types: ['case.opened', 'review.voted'] });
  const review_id = await ann.publishes();
  const since = await position();
  await run();
  receiver.take();
  await ben.votes(review_id);
  await cat.reports(review_id);
  await run();
  const told = receiver.messages.map(({ type }) => type).toSorted();
  expect(told).toEqual(['case.opened', 'review.voted']);
  const changes = (await follow(since)).told;
  expect(changes.map(({ id, review }) => [id, review?.revisions.length])).toEqual([[review_id, 1]]);
});

test('one that is decided before its message needs none', async () => {
  const { receiver } = await begin();
  const review_id = await ann.publishes();
  await ben.reports(review_id);
  await mod.decides(review_id, 'dismiss');
  const gone = await ann.publishes();
  await ben.reports(gone);
  await ann.deletes(gone);
  const named = newWork();
  await correct(ann, named, { name: 'Words of a name' });
  await correct(cat, named, { name: 'Words of cat' });
  await decideName(mod, named, cat, 'decline');
  await run();
  expect(taken(receiver)).toEqual([]);
});

test('a webhook of one entity or author gets the cases of these', async () => {
  const entity_id = randomUUID();
  const ofEntity = await begin({ entity_id });
  const ofAuthor = await begin({ author_id: cat.id });
  const one = await ann.publishes({ entity_id });
  const other = await cat.publishes();
  for (const id of [one, other]) await ben.reports(id);
  await run();
  expect(taken(ofEntity.receiver)).toMatchObject([{ review_id: one }]);
  expect(taken(ofAuthor.receiver)).toMatchObject([{ review_id: other }]);
});

test('a failure and a replay repeat it with its id', async () => {
  const { receiver, webhook } = await begin();
  receiver.respond = status(503);
  const review_id = await ann.publishes();
  await ben.reports(review_id);
  await run();
  receiver.respond = undefined;
  await pauseWebhook(webhook);
  await continueWebhook(webhook);
  await run();
  const [failed, repeated] = taken(receiver);
  expect(repeated).toEqual(failed);
  await replayWebhook(webhook, Date.now() - 60_000);
  await run();
  expect(taken(receiver)).toContainEqual(failed);
});
