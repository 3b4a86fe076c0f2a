import { readSecret } from '../secrets.ts';

/** The keys that credentials are made with: the first signs, all of them verify, so that a key can be replaced. */
type Keys = readonly [Buffer, ...Buffer[]];

let keys: Promise<Keys> | undefined;

/** SIGNING_KEYS, read once: base64url keys of at least 32 bytes, separated by commas. Throws when it is not of this form. */
export function signingKeys(): Promise<Keys> {
  keys ??= readSecret('SIGNING_KEYS').then(parse);
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
