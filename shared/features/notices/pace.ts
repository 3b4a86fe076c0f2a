// The pace of mails: what was sent to an address last, and how it ended.
import type { Item } from '../../base/table/item.ts';
import { getItem } from '../../base/table/query.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { epochSeconds } from '../../base/time.ts';
import { hashOfAddress } from '../../core/user/claimable.ts';
import type { MailKind } from '../../core/user/mail-kinds.ts';
import { mailedKey } from './kinds.ts';

/**
 * Milliseconds between two mails of a kind to an address: at most 24 a day for each kind, however
 * often somebody is decided on. What comes meanwhile is in the next mail, so its reader waits.
 */
export const pause = 3_600_000;

/** Seconds for which the last mail is known: longer than from one digest to the next. */
const known = 8 * 86_400;

/**
 * Mails that may begin without a known end. A process that dies while it sends repeats the mail
 * once, because nobody knows whether the first one arrived.
 */
const mostUnknown = 2;

/** The right to send a mail now. */
export interface Turn {
  kind: 'taken';
  /** Records how the mail ended. The next one need not wait for one that `failed`. */
  end(outcome: 'sent' | 'refused' | 'failed'): Promise<void>;
}

/**
 * No right to send a mail now: its turn is `later` (epoch ms), another mail has `told` the same, or
 * it is `lost`, because two mails before have no known end.
 */
type NoTurn = { kind: 'later'; due_at: number } | { kind: 'told' } | { kind: 'lost' };

/**
 * Takes the turn of the next mail to an address, before anything is sent. `news` is the time (epoch
 * ms) of what there is to tell, if a mail that was sent or lost later has told it.
 */
export async function takeTurn(
  address: string,
  kind: MailKind,
  news = Number.POSITIVE_INFINITY,
): Promise<Turn | NoTurn> {
  const Key = mailedKey(hashOfAddress(address), kind);
  const { mailed_at, unknown, told_at }: Partial<Item> = (await getItem(Key)) ?? {};
  const now = Date.now();
  // A mail that was refused, or has no known end, has told nothing.
  if (Number(told_at ?? 0) >= news) return { kind: 'told' };
  const next = Number(mailed_at ?? 0) + pause;
  if (now < next) return { kind: 'later', due_at: next };
  const was = { mailed_at, unknown };
  const taken = { mailed_at: now, expires_at: epochSeconds(known) };
  const isLost = Number(unknown ?? 0) >= mostUnknown;
  const set = isLost ? { ...taken, unknown: undefined, told_at: now } : taken;
  const isTaken = await tryUpdate({ Key, set, was, amounts: isLost ? {} : { unknown: 1 } });
  // Another run is sending one.
  if (!isTaken) return { kind: 'later', due_at: now + pause };
  if (isLost) return { kind: 'lost' };
  return {
    kind: 'taken',
    async end(outcome) {
      const ends = {
        sent: { unknown: undefined, told_at: now },
        refused: { unknown: undefined },
        failed: was,
      };
      await tryUpdate({ Key, set: ends[outcome], was: { mailed_at: now } });
    },
  };
}
