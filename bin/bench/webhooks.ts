import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  deleteWebhook,
  insertWebhook,
  sendWebhooks,
  typesFor,
} from '../../shared/features/webhooks/public.ts';
import { type Line, measure, measureRun, toLine } from './measure.ts';
import { measureConsumer, newCaller } from './requests.ts';

/** Measures a minute of webhooks: without news, and with a change. */
export async function* benchWebhooks(): AsyncGenerator<Line> {
  const { reviews } = (await measure('list-reviews', { query: { limit: '1' } })).body;
  const server = createServer(async (request, response) => {
    const { data } = JSON.parse(await text(request));
    response.end(data.challenge);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const { client_id, user_id } = (await newCaller('Webhooks')).caller;
  const webhook = await insertWebhook(client_id, user_id, {
    address: `http://127.0.0.1:${port}/`,
    types: typesFor(false),
  });
  try {
    // The test of the receiver, and what was logged before it.
    for (let i = 0; i < 2; i++) await sendWebhooks();
    yield toLine('send-webhooks, idle', await measureMinute(), { read: 1.5, write: 1 });
    await measureConsumer([reviews[0].id]);
    // Writes: the run, the lease, and the webhook with its place. Reads: these, the owner, and two
    // units for the review and its author in the log.
    yield toLine('send-webhooks, a change', await measureMinute(), { read: 5.5, write: 4 });
  } finally {
    await deleteWebhook(webhook);
    server.closeAllConnections();
    server.close();
  }
}

async function measureMinute() {
  const { result: body, ...cost } = await measureRun(sendWebhooks);
  return { ...cost, status: 200, body };
}
