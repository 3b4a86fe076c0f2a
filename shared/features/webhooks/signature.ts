// Secrets and signatures to the letter of Standard Webhooks 1.0.0.
import { createHmac, type KeyObject } from 'node:crypto';

/** Begins every secret, as the specification says. */
const prefix = 'whsec_';

/** A message as it is signed. */
interface Signed {
  id: string;
  /** Epoch seconds of this attempt. */
  timestamp: number;
  /** The bytes that are sent. */
  body: string;
  /** Each gives one signature, so that a receiver with any of them can verify the message. */
  secrets: readonly string[];
}

/**
 * Returns the secret of a webhook, derived from `secretId`, 32 hexadecimal digits. Its 32 bytes are
 * a MAC, so the table alone gives no secret. The owner enters it at the receiver.
 */
export function webhookSecret(secretId: string, key: KeyObject): string {
  const mac = createHmac('sha256', key).update(prefix).update(Buffer.from(secretId, 'hex'));
  return prefix + mac.digest('base64');
}

/**
 * Returns the challenge of an address: 32 hexadecimal digits, the same for each test. It is a MAC,
 * so only a receiver that got a test knows it.
 */
export function challengeOf({ id, address }: { id: string; address: string }, key: KeyObject) {
  const mac = createHmac('sha256', key).update(`challenge ${id} ${address}`);
  return mac.digest('hex').slice(0, 32);
}

/** Returns the three headers that identify and sign a message. */
export function signatureHeaders({ id, timestamp, body, secrets }: Signed): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64');
    const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`);
    return `v1,${mac.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': `${timestamp}`,
    'webhook-signature': signatures.join(' '),
  };
}
