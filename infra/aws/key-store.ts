import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { secretLifetime } from '../../shared/base/secrets.ts';
import type { KeySecret, KeyStore } from '../rotate-keys.ts';

/** Returns the keys of a deployed stack, in Secrets Manager. Call `connect` before. */
export function stackKeys(): KeyStore {
  const client = new SecretsManagerClient({ maxAttempts: 3 });
  return {
    settled: secretLifetime + 30_000,
    async read(secret) {
      const { SecretString = '' } = await client.send(
        new GetSecretValueCommand({ SecretId: arnOf(secret) }),
      );
      return SecretString.split(',');
    },
    async write(secret, keys) {
      const SecretString = keys.join(',');
      await client.send(new PutSecretValueCommand({ SecretId: arnOf(secret), SecretString }));
    },
  };
}

function arnOf(secret: KeySecret) {
  return process.env[`${secret}_ARN`];
}
