import { handler as sendWebhooks } from '../../../../functions/background/send-webhooks.ts';
import { importRecords } from '../../../../shared/features/transfer/import.ts';
import { run as admin } from '../../../helpers/admin.ts';
import { applyStream } from '../../../helpers/stream.ts';
import { enterEmptyTable } from '../../../helpers/table.ts';
import { exported, recordsOf, sourced } from '../../../helpers/transfer.ts';
import { beginWebhook, read, run, startReceiver, subscribe } from '../../../helpers/webhooks.ts';
import { makeUser } from '../../../helpers/world.ts';

const ann = await makeUser();
const { receiver, webhook } = await subscribe({ owner: ann });

test('an operator lists, shows, pauses and replays webhooks', async () => {
  const first = await ann.publishes();
  await run();
  const { webhooks } = await admin('webhook', 'list');
  expect(webhooks).toMatchObject([{ id: webhook.id, address: receiver.url, state: 'on' }]);
  expect(JSON.stringify(webhooks)).not.toContain(webhook.secret_id);
  await admin('webhook', 'pause', webhook.id);
  await ann.publishes();
  await applyStream();
  expect(await admin('webhook', 'show', webhook.id)).toMatchObject({
    state: 'paused',
    reviews_ahead: 1,
    has_more_ahead: false,
  });
  const day = new Date().toISOString().slice(0, 10);
  expect(await admin('webhook', 'replay', webhook.id, '--from', day)).toMatchObject({
    reviews_ahead: 2,
  });
  expect(receiver.take()).toEqual([`review.published ${first}`]);
});

test('an export has webhooks without their places, and an import begins now', async () => {
  const other = await startReceiver();
  const running = await beginWebhook(other, { owner: ann });
  await ann.publishes();
  await run();
  other.take();
  const lines = (await exported()).map((record) => JSON.stringify(record));
  const line = lines.find((each) => each.includes(running.id)) ?? '';
  for (const name of ['position', 'last', 'test_due', 'stuck']) {
    expect(JSON.parse(line).item).not.toHaveProperty(name);
  }
  const records = recordsOf(lines);

  await enterEmptyTable();
  expect(await importRecords(sourced(records))).toMatchObject({
    written: { application: 2, webhook: 2 },
    refused: {},
  });
  expect(await read(running)).toMatchObject({ secret_id: running.secret_id, state: 'on' });
  await sendWebhooks();
  expect(other.take()).toEqual(['log.restarted']);
  // It stays paused where its owner has paused it.
  expect(receiver.take()).toEqual([]);
  expect(await importRecords(sourced(records))).toMatchObject({ written: {} });
});
