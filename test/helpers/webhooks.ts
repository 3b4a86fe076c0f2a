/** Receivers of webhooks on this machine, and webhooks that send to them. */
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { handler as sendWebhooks } from '../../functions/background/send-webhooks.ts';
import { batchDelete } from '../../shared/base/table/batch.ts';
import { webhookKey } from '../../shared/core/keys.ts';
import type { MessageType, Webhook, WebhookForm } from '../../shared/features/webhooks/webhook.ts';
import { insertWebhook, listWebhooks } from '../../shared/features/webhooks/webhook-repository.ts';
import { listen } from './listen.ts';
import { makeClient } from './oauth-client.ts';
import { applyStream } from './stream.ts';
import { makeUser, type Person } from './world.ts';

process.env.WEBHOOK_ALLOW = '127.0.0.0/8';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  type: string;
  timestamp: string;
  data: {
    id?: string;
    version?: number;
    review?: { text: string | null } | null;
    challenge?: string;
  };
}

/** Answers a message. `tests` are answered with their challenge, unless the answer is another. */
type Respond = (message: Received, response: ServerResponse) => unknown;

export interface Receiver {
  url: string;
  /** Messages in the order of their arrival, tests left out. */
  messages: Received[];
  tests: Received[];
  /** 200 unless set. */
  respond: Respond | undefined;
  /** Types and review ids of the messages so far, which are then forgotten. */
  take(): string[];
}

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a receiver. It answers tests with their challenge. */
export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const text = (await Array.fromAsync(request)).join('');
    const { url: path, headers } = request;
    const message = { path, headers, text, ...JSON.parse(text) } as Received;
    const isTest = message.type === 'webhook.test';
    (isTest ? receiver.tests : receiver.messages).push(message);
    if (receiver.respond) await receiver.respond(message, response);
    if (!response.writableEnded) response.end(isTest ? message.data.challenge : '');
  });
  const receiver: Receiver = {
    url: '',
    messages: [],
    tests: [],
    respond: undefined,
    take: () =>
      receiver.messages
        .splice(0)
        .map(({ type, data }) => [type, data.id].filter(Boolean).join(' ')),
  };
  servers.push(server);
  receiver.url = `${await listen(server)}/hook`;
  return receiver;
}

/** Answers with a status and headers. */
export function status(code: number, headers: Record<string, string> = {}): Respond {
  return (_message, response) => response.writeHead(code, headers).end();
}

/** Answers after so many milliseconds. */
export function slowly(milliseconds: number): Respond {
  return () => sleep(milliseconds);
}

const most: MessageType[] = ['review.published', 'review.edited', 'review.removed'];

/** Makes a webhook whose test is due. */
export async function makeWebhook(
  receiver: Pick<Receiver, 'url'>,
  { owner, ...form }: { owner?: Person } & Partial<WebhookForm> = {},
): Promise<Webhook> {
  const person = owner ?? (await makeUser());
  const { client_id } = await makeClient(person);
  return insertWebhook(client_id, person.id, { address: receiver.url, types: most, ...form });
}

/** Makes a webhook that has begun. */
export async function beginWebhook(...options: Parameters<typeof makeWebhook>): Promise<Webhook> {
  const webhook = await makeWebhook(...options);
  await run();
  return read(webhook);
}

/** Starts a receiver, and begins its webhook. */
export async function subscribe(form?: Parameters<typeof makeWebhook>[1]) {
  const receiver = await startReceiver();
  return { receiver, webhook: await beginWebhook(receiver, form) };
}

/** Lets the consumers of the stream and then the job of a minute do their work. */
export async function run(): Promise<void> {
  await applyStream();
  await sendWebhooks();
}

/** Deletes all webhooks. */
export async function forgetWebhooks(): Promise<void> {
  const webhooks = await listWebhooks();
  await batchDelete(webhooks.map(({ client_id, slot }) => webhookKey(client_id, slot)));
}

/** Reads a webhook again. */
export async function read({ client_id, id }: Webhook): Promise<Webhook> {
  const webhook = (await listWebhooks(client_id)).find((each) => each.id === id);
  if (!webhook) throw new Error('The webhook is gone');
  return webhook;
}
