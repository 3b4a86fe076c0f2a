// One mail: who gets it, whether it is time, and how it ended.
import { hash } from 'node:crypto';
import type { MailKind } from '../../core/user/mail-kinds.ts';
import { addressFor, mayBeVerified } from '../../core/user/mails.ts';
import { type Account, findAccount } from '../../core/user/user-repository.ts';
import { type Letter, mailOf } from './letter.ts';
import { MailError, type Mailer } from './mailer.ts';
import { pause, takeTurn } from './pace.ts';
import { stopUrl } from './pages/stop-mails.ts';
import { noteAttempt } from './queue.ts';

/** Something to tell somebody by mail. */
export interface Mailing {
  user_id: string;
  kind: MailKind;
  /** Tells it from others to the same person, and is the same when it is sent again. */
  name: string;
  /** The time (epoch ms) of what there is to tell, if a later mail has told it. */
  news?: number;
  /** Milliseconds that it has waited. */
  age: number;
  /** Returns the letter, or undefined if there is nothing to tell any more. */
  compose(account: Account): Promise<Letter | undefined>;
  /** Is called when it is sent, or is not to be sent. */
  finish(options: { isLost: boolean }): Promise<void>;
  /** Is called if it has to wait until a time (epoch ms). */
  postpone(due_at: number): Promise<void>;
}

/** Milliseconds until a mail is tried again that the server did not take: as long as it waited. */
const shortest = { failed: 300_000, refused: pause };

/** Milliseconds for which a mail waits for its address to be verified, and between two looks. */
const longestUnverified = 36 * 3_600_000;
const unverifiedPause = 6 * 3_600_000;

/**
 * Sends a mail if its person may get it, and it is time. Throws `MailError` if the server takes no
 * mails at all. The mail waits then, as after any other failure.
 */
export async function sendMailing(mailing: Mailing, send: Mailer): Promise<void> {
  const { user_id, kind, name, news, age } = mailing;
  const account = await findAccount(user_id);
  const to = account && addressFor(account, kind);
  if (account && to === undefined && age < longestUnverified && mayBeVerified(account, kind)) {
    return mailing.postpone(Date.now() + unverifiedPause);
  }
  if (!account || to === undefined) return mailing.finish({ isLost: false });
  const letter = await mailing.compose(account);
  if (!letter) return mailing.finish({ isLost: false });
  const turn = await takeTurn(to, kind, news);
  if (typeof turn === 'number') return mailing.postpone(turn);
  if (turn === 'told' || turn === 'lost') return mailing.finish({ isLost: turn === 'lost' });
  const id = hash('sha256', `${kind} ${user_id} ${name}`).slice(0, 32);
  try {
    const stop = await stopUrl({ user_id, kind, address: to });
    await send(mailOf(letter, { to, kind, stopUrl: stop, id }));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const { outcome, message } = error;
    console.warn({ message: 'A mail was not sent', kind, outcome, error: message });
    noteAttempt(age);
    if (outcome === 'unknown') return mailing.postpone(Date.now() + pause);
    const isFailed = outcome === 'failed';
    await turn.end(outcome);
    const longer = isFailed ? Math.min(age, pause) : age;
    await mailing.postpone(Date.now() + Math.max(shortest[outcome], longer));
    if (isFailed) throw error;
    return;
  }
  await mailing.finish({ isLost: false });
  await turn.end('sent');
}
