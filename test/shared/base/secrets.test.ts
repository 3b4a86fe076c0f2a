import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { mockClient } from 'aws-sdk-client-mock';
import { keysOf, readSecret, secretLifetime } from '../../../shared/base/secrets.ts';
import { silence } from '../../helpers/console.ts';

const secretsManager = mockClient(SecretsManagerClient);
const key = (text: string) => Buffer.alloc(32, text).toString('base64url');

/** Values are cached by ARN, so each test has its own secret. */
let arn: string;

beforeEach(() => {
  jest.useFakeTimers({ now: 0 });
  delete process.env.SESSION_KEYS;
  arn = `arn:${expect.getState().currentTestName}`;
  process.env.SESSION_KEYS_ARN = arn;
  secretsManager.reset();
});

function answer(...values: (string | Error)[]) {
  const stub = secretsManager.on(GetSecretValueCommand, { SecretId: arn });
  for (const value of values) {
    if (typeof value === 'string') stub.resolvesOnce({ SecretString: value });
    else stub.rejectsOnce(value);
  }
}

describe('a secret of Secrets Manager', () => {
  test('is read once in five minutes for all callers', async () => {
    answer('a', 'b');
    const both = [readSecret('SESSION_KEYS'), readSecret('SESSION_KEYS')];
    expect(await Promise.all(both)).toEqual(['a', 'a']);
    jest.setSystemTime(secretLifetime - 1);
    expect(await readSecret('SESSION_KEYS')).toBe('a');
    jest.setSystemTime(secretLifetime);
    expect(await readSecret('SESSION_KEYS')).toBe('b');
  });
  test('is read again after a failure', async () => {
    answer(new Error('no route'), 'a');
    await expect(readSecret('SESSION_KEYS')).rejects.toThrow('no route');
    expect(await readSecret('SESSION_KEYS')).toBe('a');
  });
  test('keeps its value if it cannot be read again', async () => {
    const warned = silence('warn');
    answer('a', new Error('no route'), 'b');
    await readSecret('SESSION_KEYS');
    jest.setSystemTime(secretLifetime);
    expect(await readSecret('SESSION_KEYS')).toBe('a');
    const line = expect.objectContaining({ message: 'A secret could not be read again' });
    expect(warned.mock.calls).toEqual([[line]]);
    expect(await readSecret('SESSION_KEYS')).toBe('a');
    jest.setSystemTime(secretLifetime + 30_000);
    expect(await readSecret('SESSION_KEYS')).toBe('b');
  });
  test('is not waited for: a second for a connection, two for an answer, three times', async () => {
    answer('a');
    await readSecret('SESSION_KEYS');
    const client = secretsManager.send.lastCall.thisValue;
    const { requestHandler } = client.config;
    // The handler reads its options at its first request, which nobody answers here.
    const target = { protocol: 'http:', hostname: '127.0.0.1', port: 9, path: '/' };
    const request = { ...target, method: 'GET', headers: {}, query: {} };
    const sent = requestHandler.handle(request);
    await expect(sent).rejects.toThrow('ECONNREFUSED');
    const handler = requestHandler;
    expect(handler.httpHandlerConfigs()).toMatchObject({
      connectionTimeout: 1_000,
      requestTimeout: 2_000,
      throwOnRequestTimeout: true,
    });
    expect(await client.config.maxAttempts()).toBe(3);
  });
  test('must not be empty', async () => {
    secretsManager.on(GetSecretValueCommand).resolves({});
    await expect(readSecret('SESSION_KEYS')).rejects.toThrow('The secret is empty');
  });
});

test('the environment takes precedence', async () => {
  process.env.SESSION_KEYS = 'local';
  expect(await readSecret('SESSION_KEYS')).toBe('local');
  expect(secretsManager.calls()).toHaveLength(0);
});

test('neither set is an error of the deployment', async () => {
  delete process.env.SESSION_KEYS;
  delete process.env.SESSION_KEYS_ARN;
  await expect(readSecret('SESSION_KEYS')).rejects.toThrow('SESSION_KEYS is not set');
});

describe('keys', () => {
  test('are read from the secret in order', async () => {
    process.env.SESSION_KEYS = `${key('b')},${key('a')}`;
    const bytes = (await keysOf('SESSION_KEYS')).map((key) => key.export());
    expect(bytes).toEqual([Buffer.alloc(32, 'b'), Buffer.alloc(32, 'a')]);
  });
  test.each(['short', `${key('a')},`, `,${key('a')}`])('are refused: %s', async (value) => {
    process.env.SESSION_KEYS = value;
    await expect(keysOf('SESSION_KEYS')).rejects.toThrow('at least 32 bytes');
  });
});
