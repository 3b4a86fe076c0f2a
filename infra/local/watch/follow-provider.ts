import { setTimeout as sleep } from 'node:timers/promises';
import { noteProvider } from '../../../shared/core/user/provider-fault.ts';

/** In milliseconds, until a provider is tried again that has failed. */
const pause = 60_000;

/**
 * Tries the identity provider after the start, in the background, and logs a line. After a failure
 * it tries each minute until the provider answers, and logs what is new. `/ws/health` shows what is
 * wrong with settings, and not that another service is down.
 */
export function followProvider(): () => void {
  const stopped = new AbortController();
  void tryUntilRight(stopped.signal).catch(() => {});
  return () => stopped.abort();
}

async function tryUntilRight(signal: AbortSignal): Promise<void> {
  // Loaded here, so that the start does not wait for it.
  const { checkProvider, ProviderFault } = await import(
    '../../../shared/features/account/public.ts'
  );
  const issuer = process.env.OIDC_ISSUER;
  let last: string | undefined;
  while (!signal.aborted) {
    try {
      await checkProvider();
      if (signal.aborted) return;
      noteProvider();
      console.info(`People sign in at ${issuer}, which answers and knows this service.`);
      return;
    } catch (error) {
      if (signal.aborted) return;
      const { message } = error as Error;
      if (message !== last) console.error(`Nobody can sign in: ${message}`);
      last = message;
      noteProvider(error instanceof ProviderFault ? `Nobody can sign in: ${message}` : undefined);
    }
    await sleep(pause, undefined, { signal, ref: false });
  }
}
