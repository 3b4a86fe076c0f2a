import { env } from 'node:process';

/**
 * Replaces the SDK's credential provider in a bundle. Lambda sets credentials in the environment,
 * and replaces the process before they expire.
 */
export function defaultProvider() {
  return async () => ({
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '',
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
  });
}
