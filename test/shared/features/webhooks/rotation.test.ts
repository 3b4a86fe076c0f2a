import { Webhook } from 'standardwebhooks';
import { keysOf } from '../../../../shared/base/secrets.ts';
import { webhookSecret } from '../../../../shared/features/webhooks/signature.ts';
import { rotateWebhookSecret } from '../../../../shared/features/webhooks/webhook-actions.ts';
import { stopClock } from '../../../helpers/clock.ts';
import {
  beginWebhook,
  type Receiver,
  read,
  run,
  startReceiver,
} from '../../../helpers/webhooks.ts';
import { makeUser } from '../../../helpers/world.ts';

const [olderKey, newerKey] = ['old', 'new'].map((name) =>
  Buffer.alloc(32, name).toString('base64url'),
);

/** Returns true if a receiver with this secret accepts a message with this signature alone. */
function isAccepted(secret: string, signature: string, message?: Receiver['messages'][number]) {
  const headers = { ...message?.headers, 'webhook-signature': signature };
  try {
    new Webhook(secret).verify(`${message?.text}`, headers as never);
    return true;
  } catch {
    return false;
  }
}

test('a run signs with each secret under each key, until the old ones have ended', async () => {
  const ann = await makeUser();
  const receiver = await startReceiver();
  process.env.WEBHOOK_KEYS = `${olderKey}`;
  const webhook = await beginWebhook(receiver);

  /** Publishes a review. Returns the signatures that a receiver with each secret accepts. */
  async function acceptedBy(secrets: readonly string[]) {
    await ann.publishes();
    await run();
    const [message] = receiver.messages.splice(0);
    const signatures = `${message?.headers['webhook-signature']}`.split(' ');
    const accepted = secrets.map(
      (secret) => signatures.filter((signature) => isAccepted(secret, signature, message)).length,
    );
    return { signatures: signatures.length, accepted };
  }
  async function secretOf(secretId: string, position: number) {
    const key = (await keysOf('WEBHOOK_KEYS')).at(position);
    if (!key) throw new Error('There is no such key');
    return webhookSecret(secretId, key);
  }

  const first = await secretOf(webhook.secret_id, 0);
  expect(await acceptedBy([first])).toEqual({ signatures: 1, accepted: [1] });

  await rotateWebhookSecret(webhook);
  const { secret_id } = await read(webhook);
  const second = await secretOf(secret_id, 0);
  expect(await acceptedBy([first, second])).toEqual({ signatures: 2, accepted: [1, 1] });

  process.env.WEBHOOK_KEYS = `${newerKey},${olderKey}`;
  const secrets = [
    first,
    second,
    await secretOf(webhook.secret_id, 0),
    await secretOf(secret_id, 0),
  ];
  expect(new Set(secrets).size).toBe(4);
  expect(await acceptedBy(secrets)).toEqual({ signatures: 4, accepted: [1, 1, 1, 1] });

  const begin = Date.now();
  stopClock(begin + 86_300_000);
  expect(await acceptedBy(secrets)).toEqual({ signatures: 4, accepted: [1, 1, 1, 1] });
  stopClock(begin + 86_401_000);
  expect(await acceptedBy(secrets)).toEqual({ signatures: 2, accepted: [0, 1, 0, 1] });
  process.env.WEBHOOK_KEYS = `${newerKey}`;
  expect(await acceptedBy(secrets)).toEqual({ signatures: 1, accepted: [0, 0, 0, 1] });
});
