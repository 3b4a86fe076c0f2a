import { createHmac, randomUUID } from 'node:crypto';

const content = {
  user_id: randomUUID(),
  client_id: 'c1'.repeat(16),
  grant_id: '9f'.repeat(16),
  generation: 2 ** 32 - 1,
  expires_at: 4_102_444_800,
};
const kinds = ['access', 'refresh', 'code'] as const;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const current = process.env.SIGNING_KEYS ?? '';
const other = Buffer.alloc(32, 'other').toString('base64url');

/** Loads the modules again with these keys, because keys are read once. */
async function withKeys(keys: string) {
  process.env.SIGNING_KEYS = keys;
  jest.resetModules();
  return import('../../../../shared/core/oauth/credentials.ts');
}

let credentials: Awaited<ReturnType<typeof withKeys>>;
beforeEach(async () => {
  credentials = await withKeys(current);
});

describe('a token', () => {
  test.each(kinds)('of kind %s opens to its sealed content', async (kind) => {
    const { sealToken, openToken } = credentials;
    const token = await sealToken(kind, content);
    expect(token).toMatch(/^rv[arc]_[A-Za-z0-9_-]{118}$/);
    expect(await openToken(kind, token)).toEqual(content);
    expect(await sealToken(kind, content)).toBe(token);
    for (const wrong of kinds.filter((one) => one !== kind)) {
      const prefix = (await sealToken(wrong, content)).slice(0, 4);
      expect(await openToken(wrong, token)).toBeUndefined();
      expect(await openToken(wrong, prefix + token.slice(4))).toBeUndefined();
    }
  });

  test('is invalid after a change of any one bit', async () => {
    const { sealToken, openToken } = credentials;
    const bytes = Buffer.from((await sealToken('access', content)).slice(4), 'base64url');
    for (let i = 0; i < 8 * bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i >> 3] = (changed[i >> 3] ?? 0) ^ (1 << (i & 7));
      expect(await openToken('access', `rva_${changed.toString('base64url')}`)).toBeUndefined();
    }
  });

  test.each([[[]], [['review']], [['vote', 'user']], [['review', 'vote', 'user']]] as const)(
    'narrowed to %j opens to its content, and differs from the whole',
    async (narrowed_to) => {
      const { sealToken, openToken } = credentials;
      const token = await sealToken('access', { ...content, narrowed_to });
      expect(token).toMatch(/^rva_[A-Za-z0-9_-]{119}$/);
      expect(await openToken('access', token)).toEqual({ ...content, narrowed_to });
      // Neither becomes the other by adding or removing a byte.
      const bytes = Buffer.from(token.slice(4), 'base64url');
      for (const cut of [
        Buffer.concat([bytes.subarray(0, 56), bytes.subarray(57)]),
        bytes.subarray(0, 88),
        Buffer.concat([bytes.subarray(0, 56), Buffer.of(7), bytes.subarray(57)]),
        Buffer.concat([bytes, Buffer.of(0)]),
      ]) {
        const text = `rva_${cut.toString('base64url')}`;
        if (text !== token) expect(await openToken('access', text)).toBeUndefined();
      }
    },
  );

  test('has one valid spelling', async () => {
    const { sealToken, openToken } = credentials;
    // Of 88 bytes, the last character holds two bits only. Fifteen other characters decode to the
    // same bytes.
    const token = await sealToken('access', content);
    const bytesOf = (text: string) => Buffer.from(text.slice(4), 'base64url').toString('hex');
    const same = [...alphabet]
      .map((letter) => token.slice(0, -1) + letter)
      .filter((text) => bytesOf(text) === bytesOf(token));
    expect(same.length).toBeGreaterThan(1);
    const standard = token.slice(4).replaceAll('-', '+').replaceAll('_', '/');
    const spellings = [
      ...same.filter((text) => text !== token),
      `${token}=`,
      `${token}==`,
      `${token}A`,
      `${token}\n`,
      ` ${token}`,
      `rva_ ${token.slice(4)}`,
      `${token.slice(0, 50)}.${token.slice(50)}`,
      token.slice(0, -1),
      token.toUpperCase(),
      token.replace('rva_', 'RVA_'),
      `rva_${standard}=`,
      ...(standard === token.slice(4) ? [] : [`rva_${standard}`]),
    ];
    for (const text of spellings) expect(await openToken('access', text)).toBeUndefined();
    expect(await openToken('access', token)).toEqual(content);
  });

  test.each(['', 'rva_', 'rva', `rva_${'A'.repeat(118)}`, 'rva_\0', `rva_${'é'.repeat(118)}`])(
    'refuses %j',
    async (text) => {
      expect(await credentials.openToken('access', text)).toBeUndefined();
    },
  );

  test('of an unknown key is invalid, of an earlier key still valid', async () => {
    const token = await credentials.sealToken('refresh', content);
    expect(await (await withKeys(other)).openToken('refresh', token)).toBeUndefined();
    const replaced = await withKeys(`${other},${current}`);
    expect(await replaced.openToken('refresh', token)).toEqual(content);
    const renewed = await replaced.sealToken('refresh', content);
    expect(renewed).not.toBe(token);
    expect(await (await withKeys(other)).openToken('refresh', renewed)).toEqual(content);
  });

  test('has the documented form: prefix and content under HMAC-SHA-256', async () => {
    const bytes = Buffer.alloc(56);
    const { user_id, client_id, grant_id } = content;
    bytes.write(user_id.replaceAll('-', '') + client_id + grant_id, 'hex');
    bytes.writeUInt32BE(content.generation, 48);
    bytes.writeUInt32BE(content.expires_at, 52);
    const hmac = createHmac('sha256', Buffer.alloc(32, 'test')).update('rva_').update(bytes);
    const sealed = Buffer.concat([bytes, hmac.digest()]).toString('base64url');
    expect(await credentials.sealToken('access', content)).toBe(`rva_${sealed}`);
  });
});

describe('a client secret', () => {
  const client = 'ab'.repeat(16);
  const secretId = 'cd'.repeat(16);

  test('is valid for its application and secret id only, also under an earlier key', async () => {
    const { clientSecret, isClientSecret } = credentials;
    const secret = await clientSecret(client, secretId);
    expect(secret).toMatch(/^rvs_[A-Za-z0-9_-]{43}$/);
    expect(await isClientSecret(client, [secretId], secret)).toBe(true);
    expect(await isClientSecret(client, [client, secretId], secret)).toBe(true);
    expect(await isClientSecret(client, [client], secret)).toBe(false);
    expect(await isClientSecret(secretId, [secretId], secret)).toBe(false);
    const changed = [`${secret}A`, secret.toLowerCase(), `é${secret.slice(2)}`];
    for (const wrong of ['', 'x', secret.slice(0, -1), ...changed]) {
      expect(await isClientSecret(client, [secretId], wrong)).toBe(false);
    }
    const replaced = await withKeys(`${other},${current}`);
    expect(await replaced.isClientSecret(client, [secretId], secret)).toBe(true);
    expect(await replaced.clientSecret(client, secretId)).not.toBe(secret);
    expect(await (await withKeys(other)).isClientSecret(client, [secretId], secret)).toBe(false);
  });
});

test.each(['', 'short', Buffer.alloc(31).toString('base64url'), `${current},`, `${current},x`])(
  'refuses SIGNING_KEYS=%j',
  async (keys) => {
    const { sealToken } = await withKeys(keys);
    await expect(sealToken('access', content)).rejects.toThrow(/^SIGNING_KEYS /);
  },
);
