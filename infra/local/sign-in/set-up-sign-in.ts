import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { opensAccount } from '../../../shared/features/account/public.ts';
import { type MailSettings, makeMailer } from '../../../shared/features/notices/public.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { signInKey } from '../storage/key-store.ts';
import { openPendingSignIns, signInsFile } from '../storage/pending-sign-ins.ts';
import { type ByMail, identityProvider } from './identity-provider.ts';
import { writeMails } from './mail-folder.ts';
import type { MailLimits } from './mail-limits.ts';
import { signInByMail } from './mail-sign-in.ts';

/**
 * Sets AUTH_URL, the address of the pages. People sign in at `issuer`; without an issuer, at an
 * embedded provider, whose issuer is returned.
 */
export async function setUpSignIn(gateway: Gateway, issuer: string | undefined, byMail?: ByMail) {
  process.env.AUTH_URL = new URL('..', `${gateway.url}/`).href.replace(/\/$/, '');
  if (issuer) return null;
  const callback = `${process.env.AUTH_URL}/account/callback`;
  const provider = await identityProvider(
    new URL('../..', `${gateway.url}/`).href,
    callback,
    byMail,
  );
  gateway.mount(provider);
  const OIDC_LOCAL_URL = gateway.local + provider.path;
  Object.assign(process.env, provider.environment, { OIDC_LOCAL_URL });
  return provider.environment.OIDC_ISSUER;
}

/**
 * Opens the sign-in by mail, if there is a mail server. A laptop without one writes mails to its
 * data folder, and forgets sign-ins under way when it stops.
 */
export function openSignInByMail(
  dataDir: string,
  mail: MailSettings | undefined,
  { isLaptop, limits }: { isLaptop: boolean; limits: MailLimits },
): ByMail | undefined {
  if (mail) {
    const key = signInKey(dataDir);
    const pending = openPendingSignIns(join(dataDir, signInsFile));
    const send = makeMailer(mail);
    const hasAccount = (subject: string, address: string) =>
      opensAccount({ issuer: `${process.env.OIDC_ISSUER}`, subject }, address);
    return { pending, steps: signInByMail({ key, pending, send, limits, hasAccount }) };
  }
  if (!isLaptop) return undefined;
  const folder = join(dataDir, 'mails');
  const key = randomBytes(32).toString('base64url');
  const pending = openPendingSignIns(':memory:');
  return {
    pending,
    steps: signInByMail({ key, pending, send: writeMails(folder), folder }),
  };
}
