import { setTimeout as sleep } from 'node:timers/promises';
import { type Mail, MailError, type Mailer } from '../../../shared/features/notices/public.ts';

/**
 * In milliseconds, until a mail is sent again that a person waits for. Servers that do not know a
 * sender yet ask for it (greylisting), and others restart.
 */
export const pausesOfMails: readonly number[] = [5_000, 30_000, 120_000];

/**
 * Sends a mail, and again while `isWanted`, unless the server refuses it for good. Throws the last
 * error. A mail that may have arrived has the same id, so a mailbox shows it once.
 */
export async function sendRepeatedly(
  send: Mailer,
  mail: Mail,
  options: { isWanted: () => boolean; pauses: readonly number[]; signal: AbortSignal },
): Promise<void> {
  const { isWanted, pauses, signal } = options;
  for (const pause of [...pauses, undefined]) {
    try {
      return await send(mail);
    } catch (error) {
      const isOver = !(error instanceof MailError) || error.isFinal || pause === undefined;
      if (isOver) throw error;
      // A stop ends the wait.
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted || !isWanted()) throw error;
    }
  }
}
