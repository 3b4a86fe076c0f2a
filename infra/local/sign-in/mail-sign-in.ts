import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { site } from '../../../shared/base/site/site.ts';
import { mailFault } from '../../../shared/core/user/mail-fault.ts';
import { Email } from '../../../shared/core/user/user.ts';
import { mayJoin, takesInvitations } from '../../../shared/features/members/public.ts';
import { MailError, type Mailer } from '../../../shared/features/notices/public.ts';
import type { PendingMail, PendingSignIns } from '../storage/pending-sign-ins.ts';
import { mailCounts } from './mail-counts.ts';
import {
  defaultMailLimits,
  limitMails,
  type MailLimits,
  mailboxOf,
  type Verdict,
} from './mail-limits.ts';
import {
  askPage,
  buttonPage,
  codePage,
  crowdedNotice,
  faultNotice,
  overPage,
  refusal,
  type Step,
  sentPage,
  shownMail,
} from './mail-pages.ts';
import { askedIn, type SignInMail, spaced, wordsOf } from './mail-words.ts';
import { pausesOfMails, sendRepeatedly } from './repeat-mail.ts';
import { subjectOf } from './subject.ts';

/** In milliseconds: from the first to the last attempt to send a mail, and a while. */
const longestAttempts = 180_000;

const faultyAddress = 'Type one e-mail address, such as ann@example.org.';
const foreignAddress =
  'Type an address with only the letters a to z before the @. This service cannot send to others.';

const foreignMember =
  'This place is for its members, and this is not the address of one. Type the address that the club has of you.';

interface Visit {
  /** Id of the interaction, from the URL. */
  id: string;
  /** The token, if the URL is that of a mail. */
  token: string | undefined;
  /** The secret of the cookie, if this browser began the interaction. */
  browser: string | undefined;
  /** Names of the mailboxes with which this browser has signed in. */
  known: readonly string[];
  /** URL of the interaction. */
  url: string;
  client: string;
  /** The header User-Agent. */
  agent?: string | undefined;
}

/** A visit of the browser that began. */
type Own = Visit & { browser: string };

/**
 * Signs people in by a mail to their address. `key` keeps subjects and MACs the same. On a laptop
 * without a mail server, pages show each mail, and name the `folder` that has it as a file.
 * `hasAccount` tells whether a subject has an account, or its address opens one.
 */
export function signInByMail(options: {
  key: string;
  pending: PendingSignIns;
  send: Mailer;
  folder?: string;
  limits?: MailLimits;
  hasAccount?: (subject: string, address: string) => Promise<boolean>;
  pauses?: readonly number[];
}) {
  const { key, pending, send, folder, limits = defaultMailLimits } = options;
  const { hasAccount = async () => false, pauses = pausesOfMails } = options;
  const stopped = new AbortController();
  const macOf = (kind: string, value: string) =>
    createHmac('sha256', key).update(`${kind} ${value}`).digest('base64url');
  const judge = limitMails({ pending, macOf, limits });
  const mailboxName = (address: string) => macOf('signed in', mailboxOf(address));
  const browserMac = (browser: string) => macOf('browser', browser);
  /** Derived from the token, so that the page of a link can show it and no table holds it. */
  const codeOf = (token: string) => {
    const bytes = createHmac('sha256', key).update(`digits ${token}`).digest();
    return `${bytes.readBigUInt64BE() % 100_000_000n}`.padStart(8, '0');
  };

  /** Signs in by the opaque subject of an address. */
  function proved(address: string, browser: string): Step {
    const account = subjectOf(address, folder === undefined ? key : undefined);
    pending.prove(account, address, browserMac(browser));
    return { account, mailbox: mailboxName(address) };
  }

  async function ask(visit: Own, entry: string): Promise<Step> {
    const { id, browser, client, known } = visit;
    const { address, fault } = readAddress(entry);
    if (address === undefined) return { status: 400, page: askPage(entry, fault) };
    const mine = { id, address, browser: browserMac(browser) };
    // On a laptop, only its owner asks and gets the mails.
    if (folder !== undefined) {
      const mail = save(mine, visit);
      await send(mail);
      return { status: 200, page: sentPage(address, { shown: shownMail(mail, folder) }) };
    }
    const isKnown = known.includes(mailboxName(address));
    // Looked up for everybody, so that the time of the answer says nothing about the address.
    const isOfAccount = await hasAccount(subjectOf(address, key), address);
    // Somebody with an invitation has any address.
    const mayAsk =
      isOfAccount || takesInvitations() || mayJoin({ email: address, email_verified: true });
    if (!mayAsk) {
      return { status: 403, page: askPage(entry, foreignMember) };
    }
    const verdict = judge({ address, client, isKnown, hasAccount: isOfAccount });
    const { shown, isSent, takeBack } = verdict;
    mailCounts.asked += 1;
    if (!isSent) mailCounts.held_back += 1;
    const hasEarlier = () => pending.find(id)?.address === address;
    if (shown.kind === 'refused') {
      // What the server does not take is no longer counted after the last attempt.
      const isOut = mailFault() !== undefined;
      const until = isOut ? Math.min(shown.until, Date.now() + longestAttempts) : shown.until;
      const earlier = !isOut && hasEarlier() ? address : undefined;
      return refusal(entry, earlier, { ...shown, until });
    }
    if (isSent) {
      // Not awaited, as above.
      void deliver(save(mine, visit), id, takeBack);
    } else if (!hasEarlier()) {
      // The pages are the same as after a mail, and an earlier mail still signs in.
      pending.save({ ...mine, token: '', code: '' });
    }
    const notice = shown.kind === 'crowded' ? crowdedNotice(shown.until) : faultNotice();
    return { status: 200, page: sentPage(address, { notice }) };
  }

  /** Sends a mail while its link signs in. Takes back what was counted if the server does not. */
  async function deliver(
    mail: SignInMail,
    id: string,
    takeBack: Verdict['takeBack'],
  ): Promise<void> {
    const { token } = pending.find(id) ?? {};
    const isWanted = () => pending.find(id)?.token === token;
    try {
      await sendRepeatedly(send, mail, { isWanted, pauses, signal: stopped.signal });
      mailCounts.sent += 1;
    } catch (error) {
      console.error(`A mail for a sign-in was not sent: ${(error as Error).message}`);
      mailCounts.failed += 1;
      if (!stopped.signal.aborted) takeBack({ isOdd: isAboutMailbox(error) });
    }
  }

  /** Makes a mail, and lets its link and code sign in. */
  function save(
    mine: Pick<PendingMail, 'id' | 'address' | 'browser'>,
    { url, agent }: Pick<Visit, 'url' | 'agent'>,
  ): SignInMail {
    const token = randomBytes(32).toString('base64url');
    const code = codeOf(token);
    pending.save({ ...mine, token: macOf('token', token), code: macOf('code', code) });
    const link = `${url}/${token}`;
    const subject = `Sign in to ${site().name}`;
    return {
      to: mine.address,
      subject,
      ...wordsOf({ link, code: spaced(code), asked: askedIn(agent) }),
      headers: { 'Auto-Submitted': 'auto-generated' },
      messageId: `<${randomUUID()}@${new URL(url).hostname}>`,
      link,
    };
  }

  function enter({ id, browser }: Own, entry: string): Step {
    const mac = macOf('code', entry.replaceAll(/\D/g, ''));
    const address = pending.use(id, 'code', mac, browserMac(browser));
    if (address !== undefined) return proved(address, browser);
    const remaining = pending.find(id);
    const fault = 'This code is wrong. Type the eight digits of the latest mail.';
    if (remaining) return { status: 400, page: sentPage(remaining.address, { fault }) };
    return { status: 400, page: askPage('', 'This code has expired. Ask for another mail.') };
  }

  return {
    /** True on a laptop, where any name signs in as well. */
    takesNames: folder !== undefined,

    /** Ends the attempts to send mails, and closes the file. */
    close() {
      stopped.abort();
      pending.close();
    },

    /** A key for the cookies of the issuer, which survive a restart. */
    cookieKey: macOf('cookies', ''),

    /** Returns true if a sign-in may go on in this browser, which has proved the address. */
    mayResume: (account: string, browser: string) =>
      folder !== undefined || pending.isProvedBy(account, browserMac(browser)),

    /** Ends a sign-in in this browser, so that nothing in the browser repeats it. */
    end: (browser: string) => pending.end(browserMac(browser)),

    /** Opens a page. Changes nothing, because mail scanners open every link. */
    open({ id, token, browser }: Visit): Step {
      const mail = pending.find(id);
      const step = stepOf({
        mail,
        token: token === undefined ? undefined : macOf('token', token),
        browser: browser === undefined ? undefined : browserMac(browser),
      });
      switch (step) {
        case 'ask':
          return { status: 200, page: askPage() };
        case 'sent':
          return { status: 200, page: sentPage(`${mail?.address}`, { notice: faultNotice() }) };
        case 'button':
          return { status: 200, page: buttonPage(`${mail?.address}`) };
        case 'code':
          return { status: 200, page: codePage(codeOf(`${token}`)) };
        case 'over':
          return { status: 400, page: overPage() };
      }
    },

    /** Takes a form. Only the browser that asked can get further. */
    async submit(visit: Visit, fields: ReadonlyMap<string, string>): Promise<Step> {
      const { id, token, browser } = visit;
      if (browser === undefined) return { status: 400, page: overPage() };
      if (token !== undefined) {
        const address = pending.use(id, 'token', macOf('token', token), browserMac(browser));
        if (address === undefined) return { status: 400, page: overPage() };
        return proved(address, browser);
      }
      if (fields.has('other')) return { status: 200, page: askPage() };
      const code = fields.get('code');
      const own = { ...visit, browser };
      if (code !== undefined) return enter(own, code);
      return ask(own, fields.get('address') ?? '');
    },
  };
}

export type MailSignIn = ReturnType<typeof signInByMail>;

/**
 * Returns what an address of a sign-in shows. `mail` is that of the interaction, `token` the MAC of
 * a link, and `browser` that of the cookie, which only the browser that began has.
 */
export function stepOf(seen: {
  mail: Pick<PendingMail, 'token' | 'browser'> | undefined;
  token: string | undefined;
  browser: string | undefined;
}): 'ask' | 'sent' | 'button' | 'code' | 'over' {
  const { mail, token, browser } = seen;
  if (token === undefined) {
    if (browser === undefined) return 'over';
    return mail ? 'sent' : 'ask';
  }
  if (mail?.token !== token) return 'over';
  return browser !== undefined && mail.browser === browser ? 'button' : 'code';
}

/** Returns true if the server takes mails, and not this one. */
const isAboutMailbox = (error: unknown) =>
  error instanceof MailError && error.outcome === 'refused' && error.isFinal;

/** Returns the address in lower case, so that a person has one account, or what is wrong. */
function readAddress(entry: string) {
  const { success, output, issues } = v.safeParse(Email, entry.trim().toLowerCase());
  if (success) return { address: output };
  const isForeign = issues.some(({ message }) => message.includes('ASCII'));
  return { fault: isForeign ? foreignAddress : faultyAddress };
}
