import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { stackKeys } from '../../../infra/aws/key-store.ts';
import { retireKey, rotateKey } from '../../../infra/rotate-keys.ts';
import { keysOf, secretLifetime } from '../../../shared/base/secrets.ts';

const secretsManager = mockClient(SecretsManagerClient);
const [old, older] = ['b', 'a'].map((text) => Buffer.alloc(32, text).toString('base64url'));
let stored: string;

beforeEach(() => {
  stored = `${old},${older}`;
  process.env.SIGNING_KEYS_ARN = 'arn:signing';
  secretsManager.reset();
  const SecretId = 'arn:signing';
  secretsManager
    .on(GetSecretValueCommand, { SecretId })
    .callsFake(() => ({ SecretString: stored }));
  secretsManager.on(PutSecretValueCommand, { SecretId }).callsFake(({ SecretString }) => {
    stored = SecretString;
    return {};
  });
});

test('a new key verifies everywhere before it signs, and earlier keys still verify', async () => {
  let between: string[] = [];
  const result = await rotateKey(stackKeys(), 'SIGNING_KEYS', async (milliseconds) => {
    expect(milliseconds).toBeGreaterThan(secretLifetime);
    between = stored.split(',');
  });
  const [next, ...rest] = stored.split(',');
  expect(between).toEqual([old, next, older]);
  expect(rest).toEqual([old, older]);
  expect(result).toEqual({ secret: 'SIGNING_KEYS', keys: 3 });

  process.env.SIGNING_KEYS = stored;
  expect((await keysOf('SIGNING_KEYS'))[0]).toHaveProperty('symmetricKeySize', 48);
});

test('drops the oldest key, but never the last one', async () => {
  expect(await retireKey(stackKeys(), 'SIGNING_KEYS')).toEqual({ secret: 'SIGNING_KEYS', keys: 1 });
  expect(stored).toBe(old);
  await expect(retireKey(stackKeys(), 'SIGNING_KEYS')).rejects.toThrow('has only one key');
  expect(stored).toBe(old);
});
