// The subjects of people who sign in by mail.
import { createHmac } from 'node:crypto';
import { runningStack } from '../storage/connect.ts';
import { signInKey } from '../storage/key-store.ts';

/**
 * Returns the opaque subject of an address. It is the same as long as the key is. Without a key, on
 * a laptop, it is no secret, because anyone there signs in as anybody.
 */
export function subjectOf(address: string, key?: string): string {
  if (key === undefined) return `mailto:${address}`;
  return createHmac('sha256', key).update(`subject ${address}`).digest('base64url');
}

/**
 * Returns the identity of an address where people sign in by mail: at the stack on a data folder.
 * Throws a sentence for an operator whose people sign in elsewhere.
 */
export function identityOfAddress(address: string, dataDir: string | undefined) {
  const stack = dataDir === undefined ? undefined : runningStack(dataDir);
  if (!dataDir || !stack?.identity_provider) {
    throw new Error(
      'people sign in at an identity provider, which knows them by an id of its own: change the address there, and the account follows at the next sign-in. For another person there, use user link',
    );
  }
  const key = stack.has_mail_server ? signInKey(dataDir) : undefined;
  const subject = subjectOf(address.toLowerCase(), key);
  return { issuer: stack.identity_provider, subject };
}
