// One mail: who gets it, whether it is time, and how it ended.
import { hash } from 'node:crypto';
import type { MailKind } from '../../core/user/mail-kinds.ts';
import { addressFor, mayBeVerified } from '../../core/user/mails.ts';
import { type Account, findAccount } from '../../core/user/user-repository.ts';
import { type Letter, mailOf } from './letter.ts';
import { MailError, type Mailer } from './mailer.ts';
import { pause, type Turn, takeTurn } from './pace.ts';
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

/** The end of an attempt. What is over may be lost, and what waits has a time (epoch ms). */
type End =
  | { kind: 'sent'; turn: Turn }
  | { kind: 'over'; isLost: boolean }
  | { kind: 'later'; due_at: number; failure?: MailError };

/**
 * Sends a mail if its person may get it, and it is time. Throws `MailError` if the server takes no
 * mails at all. The mail waits then, as after any other failure.
 */
export async function sendMailing(mailing: Mailing, send: Mailer): Promise<void> {
  const end = await tryMailing(mailing, send);
  switch (end.kind) {
    case 'sent':
      // If the process dies in between, the mail is not sent again.
      await mailing.finish({ isLost: false });
      return end.turn.end('sent');
    case 'over':
      return mailing.finish({ isLost: end.isLost });
    case 'later':
      await mailing.postpone(end.due_at);
      if (end.failure) throw end.failure;
  }
}

async function tryMailing(mailing: Mailing, send: Mailer): Promise<End> {
  const { user_id, kind, name, news, age } = mailing;
  const account = await findAccount(user_id);
  const to = account && addressFor(account, kind);
  if (account && to === undefined && age < longestUnverified && mayBeVerified(account, kind)) {
    return { kind: 'later', due_at: Date.now() + unverifiedPause };
  }
  if (!account || to === undefined) return { kind: 'over', isLost: false };
  const letter = await mailing.compose(account);
  if (!letter) return { kind: 'over', isLost: false };
  const turn = await takeTurn(to, kind, news);
  if (turn.kind === 'later') return turn;
  if (turn.kind !== 'taken') return { kind: 'over', isLost: turn.kind === 'lost' };
  const id = hash('sha256', `${kind} ${user_id} ${name}`).slice(0, 32);
  try {
    const stop = await stopUrl({ user_id, kind, address: to });
    await send(mailOf(letter, { to, kind, stopUrl: stop, id }));
    return { kind: 'sent', turn };
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return endOfFailure(error, mailing, turn);
  }
}

/** Gives the turn back if the server took nothing, and returns when to try again. */
async function endOfFailure(failure: MailError, { kind, age }: Mailing, turn: Turn): Promise<End> {
  const { outcome, message } = failure;
  console.warn({ message: 'A mail was not sent', kind, outcome, error: message });
  noteAttempt(age);
  if (outcome === 'unknown') return { kind: 'later', due_at: Date.now() + pause };
  await turn.end(outcome);
  if (outcome === 'refused') {
    return { kind: 'later', due_at: Date.now() + Math.max(shortest.refused, age) };
  }
  const wait = Math.max(shortest.failed, Math.min(age, pause));
  return { kind: 'later', due_at: Date.now() + wait, failure };
}
