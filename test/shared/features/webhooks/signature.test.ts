import { createSecretKey } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { keysOf } from '../../../../shared/base/secrets.ts';
import { signatureHeaders, webhookSecret } from '../../../../shared/features/webhooks/signature.ts';

const keyOf = (text: string) => createSecretKey(Buffer.alloc(32, text));
const secretId = '00112233445566778899aabbccddeeff';
const previousId = 'ffeeddccbbaa99887766554433221100';
const now = () => Math.floor(Date.now() / 1000);

test('signs the vector of the reference libraries', () => {
  const headers = signatureHeaders({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  });
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a secret has 32 bytes, of its id and key alone', () => {
  const secret = webhookSecret(secretId, keyOf('a'));
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhookSecret(secretId, keyOf('a'))).toBe(secret);
  const others = [webhookSecret(secretId, keyOf('b')), webhookSecret(previousId, keyOf('a'))];
  expect(new Set([secret, ...others]).size).toBe(3);
});

test.each([
  ['one secret and key', [secretId], ['a'], 1],
  ['a new secret beside the old one', [secretId, previousId], ['a'], 2],
  ['a new key beside the old one', [secretId], ['b', 'a'], 2],
  ['both', [secretId, previousId], ['b', 'a'], 4],
])('%s: the library verifies with each secret', async (_what, ids, letters, count) => {
  const list = letters.map((letter) => Buffer.alloc(32, letter).toString('base64url'));
  process.env.WEBHOOK_KEYS = list.join();
  const keys = await keysOf('WEBHOOK_KEYS');
  delete process.env.WEBHOOK_KEYS;
  const secrets = ids.flatMap((id) => keys.map((key) => webhookSecret(id, key)));
  const body = '{"type":"review.published","data":{"review":{"text":"schön ☕"}}}';
  const message = { id: 'rev_1_1', timestamp: now(), body, secrets };
  const headers = signatureHeaders(message);
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(count);
  for (const secret of secrets) {
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  }

  const stranger = new Webhook(webhookSecret('0'.repeat(32), keyOf('a')));
  expect(() => stranger.verify(body, headers)).toThrow('No matching signature found');
  const receiver = new Webhook(secrets[0] ?? '');
  expect(() => receiver.verify(`${body} `, headers)).toThrow('No matching signature found');
  const otherId = { ...headers, 'webhook-id': 'rev_1_2' };
  expect(() => receiver.verify(body, otherId)).toThrow('No matching signature found');
  const old = signatureHeaders({ ...message, timestamp: now() - 301 });
  expect(() => receiver.verify(body, old)).toThrow('Message timestamp too old');
});
