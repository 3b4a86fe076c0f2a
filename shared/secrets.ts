import type { Secret } from './routes.ts';

/** The value of a secret: from the environment variable of its name. Throws when it is not set. */
export async function readSecret(name: Secret): Promise<string> {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}
