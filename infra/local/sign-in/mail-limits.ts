// The limits of the mails that sign people in.
import { largestShare, networksOf } from '../gateway/client-networks.ts';
import type { PendingSignIns } from '../storage/pending-sign-ins.ts';

/** Mails in an hour, see `limitMails`. The defaults are those of a server. */
export interface MailLimits {
  /** In all, which is less than a mail account may send. */
  total: number;
  /** Of one client address, for example of a room with 300 members. */
  perClient: number;
}

export const defaultMailLimits: MailLimits = { total: 600, perClient: 300 };

/** Shares of the mails in all: for anybody, and for addresses that have an account. */
const sharesOfAll = { anybody: 1 / 2, accounts: 5 / 6 };

/** The share of a client's mails for anybody: 30 people who are new, in a room with 300 members. */
const shareOfClient = 1 / 10;

/**
 * Mails to a mailbox in an hour that one client asks for. Beyond it, somebody who lost four mails
 * waits. Wider networks have up to `largestShare` times as many. Browsers that have signed in with
 * the mailbox have as many of their own.
 */
export const mostToMailboxFromClient = 4;
/**
 * Mails to a mailbox in an hour: what the widest network may ask for, and the owner's own. So
 * nobody locks out the owner from one network. With those of browsers that have signed in, 120
 * guesses an hour guess a code once in 95 years.
 */
const mostToMailbox = mostToMailboxFromClient * (largestShare + 1);

/** Somebody who asks for a mail. */
interface Asking {
  address: string;
  client: string;
  /** True if this browser has signed in with the mailbox. */
  isKnown: boolean;
  /** True if the address has an account, or opens one. */
  hasAccount: boolean;
}

/**
 * The answer to somebody who asks. `shown` is what the page may say, and never depends on
 * `hasAccount`. Times are in epoch ms.
 */
export interface Verdict {
  isSent: boolean;
  shown:
    | { kind: 'sent' }
    /** Only an address with an account gets a mail. Others ask again after `until`. */
    | { kind: 'crowded'; until: number }
    | { kind: 'refused'; until: number; by: 'mailbox' | 'client' | 'total' };
  /** Takes back what was counted. With `isOdd`, the mail still counts for the client. */
  takeBack(options?: { isOdd: boolean }): void;
}

/**
 * Makes a function that decides about a mail, and counts it. A mailbox counts once, whatever its
 * tags. The limits of all mails and of a client have steps: beyond the first one, only addresses
 * with an account get mails, so strangers leave them a part. A browser that has signed in has a
 * limit of its own, the last part of all mails, and no limit of its client: whoever fills the
 * others does not shut it out. `macOf` names what is counted, so that no table has an address.
 */
export function limitMails({
  pending,
  macOf,
  limits: { total, perClient },
}: {
  pending: PendingSignIns;
  macOf: (kind: string, value: string) => string;
  limits: MailLimits;
}) {
  const all = { name: macOf('all', ''), forAnybody: macOf('all for anybody', '') };
  const newOfClient = Math.max(1, Math.floor(perClient * shareOfClient));

  return ({ address, client, isKnown, hasAccount }: Asking): Verdict => {
    const mailbox = mailboxOf(address);
    const networks = networksOf(client).map(({ name, share }) => ({ client: name, share }));
    const ofMailbox = isKnown
      ? [{ name: macOf('known', mailbox), most: mostToMailboxFromClient }]
      : [
          { name: macOf('mailbox', mailbox), most: mostToMailbox },
          ...networks.map(({ client, share }) => ({
            name: macOf('both', `${client} ${mailbox}`),
            most: mostToMailboxFromClient * share,
          })),
        ];
    const ofClient = isKnown
      ? []
      : networks.map(({ client, share }) => ({
          name: macOf('client', client),
          forAnybody: macOf('client for anybody', client),
          share,
        }));
    const mostOfAll = (share: number) => Math.floor(total * share);

    const fullMailbox = pending.fullUntil(ofMailbox);
    const fullClient = pending.fullUntil(
      ofClient.map(({ name, share }) => ({ name, most: perClient * share })),
    );
    const fullTotal = pending.fullUntil([
      { name: all.name, most: mostOfAll(isKnown ? 1 : sharesOfAll.accounts) },
    ]);
    const crowded = isKnown
      ? undefined
      : pending.fullUntil([
          { name: all.forAnybody, most: mostOfAll(sharesOfAll.anybody) },
          ...ofClient.map(({ forAnybody, share }) => ({
            name: forAnybody,
            most: newOfClient * share,
          })),
        ]);

    const nothing = { isSent: false, takeBack() {} };
    if (fullTotal !== undefined) {
      return { ...nothing, shown: { kind: 'refused', until: fullTotal, by: 'total' } };
    }
    if (fullClient !== undefined) {
      return { ...nothing, shown: { kind: 'refused', until: fullClient, by: 'client' } };
    }
    // Else the page would say how many mails the address had while only accounts got them.
    if (crowded !== undefined) {
      const isSent = hasAccount && fullMailbox === undefined;
      const names = fullMailbox === undefined ? ofMailbox.map(({ name }) => name) : [];
      return { isSent, shown: { kind: 'crowded', until: crowded }, takeBack: count(names, isSent) };
    }
    if (fullMailbox !== undefined) {
      return { ...nothing, shown: { kind: 'refused', until: fullMailbox, by: 'mailbox' } };
    }
    const names = ofMailbox.map(({ name }) => name);
    return { isSent: true, shown: { kind: 'sent' }, takeBack: count(names, true) };

    /**
     * Counts for the mailbox, and what is sent for the client and in all. The part for anybody
     * counts no mails of a crowd: when it is free again would tell which addresses got one.
     */
    function count(names: string[], isSent: boolean) {
      const isForAnybody = isSent && !isKnown && crowded === undefined;
      const others = pending.count([
        ...names,
        ...(isSent ? [all.name] : []),
        ...(isForAnybody ? [all.forAnybody] : []),
      ]);
      const own = pending.count([
        ...(isSent ? ofClient.map(({ name }) => name) : []),
        ...(isForAnybody ? ofClient.map(({ forAnybody }) => forAnybody) : []),
      ]);
      return ({ isOdd } = { isOdd: false }) => {
        pending.uncount(isOdd ? others : [...others, ...own]);
      };
    }
  };
}

/** Returns the mailbox of an address: ann+films@example.org is that of ann@example.org. */
export function mailboxOf(address: string): string {
  const at = address.lastIndexOf('@');
  const [local] = address.slice(0, at).split('+', 1);
  return `${local || address.slice(0, at)}${address.slice(at)}`;
}
