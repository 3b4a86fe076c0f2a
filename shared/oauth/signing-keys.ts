/** The keys that credentials are made with: the first signs, all of them verify, so that a key can be replaced. */
type Keys = readonly [Buffer, ...Buffer[]];

let keys: Keys | undefined;

/** Reads SIGNING_KEYS once: base64url keys of at least 32 bytes, separated by commas. Throws when it is not set so. */
export async function signingKeys(): Promise<Keys> {
  keys ??= parse(process.env.SIGNING_KEYS ?? '');
  return keys;
}

function parse(list: string): Keys {
  const [current, ...previous] = list.split(',').map((key) => Buffer.from(key, 'base64url'));
  if (!current || [current, ...previous].some(({ length }) => length < 32)) {
    throw new Error(
      'SIGNING_KEYS must be base64url keys of at least 32 bytes, separated by commas',
    );
  }
  return [current, ...previous];
}
