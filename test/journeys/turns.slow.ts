import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectTo } from '../helpers/connect.ts';
import { serve } from '../helpers/listen.ts';
import { fresh, makeToken, publish, start } from '../helpers/service.ts';

// Receivers that never answer, beside those of other accounts, on the real service. Whatever others
// are sent while some request is held does not wait for the slowest, whatever the machine's speed.

process.env.WEBHOOK_ALLOW = '127.0.0.0/8';
const { WEBHOOK_KEYS } = process.env;

/** Ids of reviews and `test`, by the name of the receiver. */
const received = new Map<string, Set<string>>();
const held = new Set<ServerResponse>();
let isHolding = false;
/** Epoch ms at which a request was last let go. The next one of its account follows at once. */
let lastHeld = 0;

function namesOf(receiver: string) {
  const names = received.get(receiver) ?? new Set();
  received.set(receiver, names);
  return names;
}

async function receive(request: IncomingMessage, response: ServerResponse) {
  const { data } = JSON.parse(await readAll(request));
  const receiver = `${request.url?.slice(1)}`;
  namesOf(receiver).add(data.id ?? 'test');
  if (isHolding && receiver === 'tarpit') {
    held.add(response);
    response.on('close', () => {
      held.delete(response);
      lastHeld = Date.now();
    });
    return;
  }
  if (receiver === 'slow' && data.id) await sleep(1_100);
  response.end(data.challenge ?? '');
}

const address = await serve(createServer(receive));

test('nobody waits for receivers that never answer, of three accounts', async () => {
  const dataDir = fresh('data');
  const service = await start(dataDir, { options: ['--quiet'], env: { WEBHOOK_KEYS } });
  connectTo(dataDir);
  const { makeUser } = await import('../helpers/world.ts');
  const { insertApplication } = await import('../../shared/core/oauth/application-repository.ts');
  const { insertWebhook, listWebhooks } = await import(
    '../../shared/features/webhooks/webhook-repository.ts'
  );
  async function addWebhooks(receiver: string, count = 1) {
    const owner = await makeUser();
    for (let i = 0; i < count; i++) {
      const { client_id } = await insertApplication(owner.id, {
        name: 'Mirror',
        desc: '',
        website: 'https://client.example/',
        redirect_uri: 'https://client.example/callback',
      });
      const url = `${address}/${receiver}`;
      await insertWebhook(client_id, owner.id, { address: url, types: ['review.published'] });
    }
  }
  /** Waits until a receiver was sent all of these, and always while some request is held. */
  async function expectMeanwhile(receiver: string, names: readonly string[]) {
    while (names.some((name) => !namesOf(receiver).has(name))) {
      const isMeanwhile = held.size > 0 || Date.now() - lastHeld < 2_000;
      expect({ receiver, isMeanwhile }).toEqual({ receiver, isMeanwhile: true });
      await sleep(20);
    }
  }
  const token = await makeToken(dataDir);
  for (let i = 0; i < 3; i++) await addWebhooks('tarpit', 16);
  await addWebhooks('slow');
  await addWebhooks('instant');
  while ((await listWebhooks()).some(({ state }) => state !== 'on')) await sleep(100);

  isHolding = true;
  const ids = [await publish(service.url, token)];
  while (held.size === 0) await sleep(20);
  // Beside them, new changes, a new webhook and a receiver that is merely slow have their turns.
  for (let i = 0; i < 5; i++) ids.push(await publish(service.url, token));
  await addWebhooks('new');
  await expectMeanwhile('instant', ids);
  await expectMeanwhile('new', ['test']);
  await expectMeanwhile('slow', ids);
}, 240_000);
