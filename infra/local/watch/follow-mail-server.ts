import { setTimeout as sleep } from 'node:timers/promises';
import { mailFault, noteMailServerTried } from '../../../shared/core/user/mail-fault.ts';
import { checkMailServer, type MailSettings } from '../../../shared/features/notices/public.ts';

/** In milliseconds, until a mail server is tried again that takes no mails. */
const pause = 60_000;

/**
 * Tries the mail server after the start, in the background and without a mail, and logs a line.
 * While mails fail, it tries each minute, so that `/ws/health` says when the server is back.
 */
export function followMailServer(
  settings: MailSettings,
  { every = pause }: { every?: number } = {},
): () => void {
  const stopped = new AbortController();
  void follow(settings, every, stopped.signal).catch(() => {});
  return () => stopped.abort();
}

async function follow(settings: MailSettings, every: number, signal: AbortSignal): Promise<void> {
  let last = await tried(settings);
  if (signal.aborted) return;
  if (last === undefined) console.info('The mail server answers, and knows this service.');
  for (;;) {
    const fault = mailFault();
    if (fault !== undefined && fault !== last) console.error(fault);
    if (fault === undefined && last !== undefined)
      console.info('The mail server takes mails again.');
    last = fault;
    await sleep(every, undefined, { signal, ref: false });
    if (mailFault() !== undefined) await tried(settings);
  }
}

/** Returns the fault, if there is one. */
async function tried(settings: MailSettings): Promise<string | undefined> {
  try {
    await checkMailServer(settings);
    noteMailServerTried();
    return undefined;
  } catch (error) {
    noteMailServerTried((error as Error).message);
    return 'not tried before';
  }
}
