import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../../shared/base/auth-url.ts';
import { site } from '../../../shared/base/site/site.ts';
import { mailFault } from '../../../shared/core/user/mail-fault.ts';
import { mayJoin } from '../../../shared/core/user/members.ts';
import { Email } from '../../../shared/core/user/user.ts';
import {
  linkStyle,
  type Mail,
  MailError,
  type Mailer,
  mailPage,
} from '../../../shared/features/notices/public.ts';
import { type FormState, field } from '../../../shared/pages/form/fields.ts';
import { framed } from '../../../shared/pages/frame/frame.ts';
import type { Html } from '../../../shared/pages/frame/layout.ts';
import type { PendingMail, PendingSignIns } from '../storage/pending-sign-ins.ts';
import { mailCounts } from './mail-counts.ts';
import {
  defaultMailLimits,
  limitMails,
  type MailLimits,
  mailboxOf,
  mostToMailboxFromClient,
  type Verdict,
} from './mail-limits.ts';
import { pausesOfMails, sendRepeatedly } from './repeat-mail.ts';
import { subjectOf } from './subject.ts';

/** In milliseconds: from the first to the last attempt to send a mail, and a while. */
const longestAttempts = 180_000;

const faultyAddress = 'Type one e-mail address, such as ann@example.org.';
const foreignAddress =
  'Type an address with only the letters a to z before the @. This service cannot send to others.';

const foreignMember =
  'This place is for its members, and this is not the address of one. Type the address that the club has of you.';

/**
 * A step of a sign-in: a page to show, or the account of somebody who has signed in, and the name
 * of the mailbox to remember in the browser. `retryAfter` is in seconds.
 */
export type Step =
  | { status: number; page: ReturnType<typeof framed>; retryAfter?: number }
  | { account: string; mailbox?: string };

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

/** A mail with its link, for the page of a laptop. */
type SignInMail = Mail & { link: string };

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
    if (!isOfAccount && !mayJoin({ email: address, email_verified: true })) {
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
      if (token === undefined) {
        if (browser === undefined) return { status: 400, page: overPage() };
        const notice = faultNotice();
        return { status: 200, page: mail ? sentPage(mail.address, { notice }) : askPage() };
      }
      if (mail?.token !== macOf('token', token)) return { status: 400, page: overPage() };
      const isMine = browser !== undefined && mail.browser === browserMac(browser);
      return { status: 200, page: isMine ? buttonPage(mail.address) : codePage(codeOf(token)) };
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

/** Returns the address in lower case, so that a person has one account, or what is wrong. */
function readAddress(entry: string) {
  const { success, output, issues } = v.safeParse(Email, entry.trim().toLowerCase());
  if (success) return { address: output };
  const isForeign = issues.some(({ message }) => message.includes('ASCII'));
  return { fault: isForeign ? foreignAddress : faultyAddress };
}

const spaced = (code: string) => `${code.slice(0, 4)} ${code.slice(4)}`;

/** Marks of browsers in the header User-Agent. Those that name others as well come first. */
const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['FxiOS', 'Firefox'],
  ['Firefox', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;

/** Returns when a mail is asked for, which is now, and in which browser, if it is a usual one. */
function askedIn(agent = ''): string {
  const time = new Date().toUTCString().replace(/:\d\d GMT$/, ' UTC');
  const [, name] = browsers.find(([mark]) => agent.includes(mark)) ?? [];
  return name === undefined ? `on ${time}` : `on ${time}, in ${name}`;
}

/** Returns a mail as text and as HTML. */
function wordsOf({ link, code, asked }: { link: string; code: string; asked: string }) {
  const about = `Somebody asked to sign in to ${site().name} with this address ${asked}.`;
  const where = 'in the browser where you asked, within 15 minutes';
  const warning = 'If it was not you, delete this mail. Do not pass on the link or the code.';
  const text = `${about}

If it was you, open this link ${where}:

${link}

Or type this code there: ${code}

${warning}
`;
  const button = html`<p><a href="${link}" style="${linkStyle()};font-weight:bold">Sign in to ${site().name}</a></p>`;
  return {
    text,
    html: mailPage(html`<p>${about}</p>
<p>If it was you, press this ${where}:</p>
${button}
<p>Or type this code there: <b>${code}</b></p>
<p>${warning}</p>`),
  };
}

function askPage(value = '', fault?: string) {
  const filled =
    fault === undefined ? undefined : { values: { address: value }, faults: { address: fault } };
  const content = html`<section>
    <p>We send you a mail with a link and a code. You need no password.</p>
    <form method="post">
      ${addressField({ hasFocus: true, filled })}
      <div class="buttons">
        <button>Send the mail</button>
        <button class="quiet" name="cancel" value="yes" formnovalidate>Cancel</button>
      </div>
    </form>
  </section>`;
  return framed({ title: 'Sign in', content, isLast: true });
}

/** Renders the field of an address. */
export function addressField(look: { hasFocus?: boolean; filled?: FormState } = {}) {
  return field({
    name: 'address',
    label: 'Email address',
    type: 'email',
    maxlength: 254,
    autocomplete: 'email',
    isRequired: true,
    ...look,
  });
}

/** Returns true if the server takes mails, and not this one. */
const isAboutMailbox = (error: unknown) =>
  error instanceof MailError && error.outcome === 'refused' && error.isFinal;

/** Returns “in 1 minute” or “in 23 minutes” for a time in epoch ms. */
function inMinutes(until: number) {
  const minutes = Math.max(1, Math.ceil((until - Date.now()) / 60_000));
  return minutes === 1 ? 'in 1 minute' : `in ${minutes} minutes`;
}

type Refused = Extract<Verdict['shown'], { kind: 'refused' }>;

const refusals: Readonly<Record<Refused['by'], string>> = {
  mailbox: 'Enough mails were asked for this address in the last hour.',
  client: 'Enough mails were asked for from your network in the last hour.',
  total: 'Very many people have asked for mails in the last hour.',
};

/** Shows when to ask again. A mail that was sent before still signs in. */
function refusal(entry: string, earlier: string | undefined, { by, until }: Refused): Step {
  const sentence = `${refusals[by]} No other mail is sent. Ask again ${inMinutes(until)}.`;
  const retryAfter = Math.max(1, Math.ceil((until - Date.now()) / 1000));
  const page =
    earlier === undefined
      ? askPage(entry, sentence)
      : sentPage(earlier, { notice: `${sentence} An earlier mail still works.` });
  return { status: 429, page, retryAfter };
}

/** Says that the mail server takes nothing, whatever the address. */
function faultNotice() {
  if (mailFault() === undefined) return undefined;
  return 'No mails can be sent at the moment. We try again for two minutes. If none arrives, ask again later.';
}

function crowdedNotice(until: number) {
  return `Many people ask for mails now. Until later, only an address that has an account here gets one, and ${mostToMailboxFromClient} in an hour at most. If yours has no account yet, ask again ${inMinutes(until)}.`;
}

function sentPage(
  address: string,
  { fault, notice, shown }: { fault?: string; notice?: string | undefined; shown?: Html } = {},
) {
  const code = field({
    name: 'code',
    label: 'Code',
    maxlength: 20,
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    isRequired: true,
    hasFocus: true,
    filled: fault === undefined ? undefined : { values: {}, faults: { code: fault } },
  });
  const content = html`<section>
    ${notice && html`<p class="warning" role="status">${notice}</p>`}
    <p>If ${address} can get mail, one arrives within a few minutes. You can ask for ${mostToMailboxFromClient} mails in an hour.</p>
    <p>Open its link in this browser, or type its code here, within 15 minutes.</p>
    <form method="post">
      ${code}
      <div class="buttons">
        <button>Sign in</button>
        <button class="quiet" name="other" value="yes" formnovalidate>Use another address</button>
      </div>
    </form>
  </section>
  ${shown}`;
  return framed({ title: 'Check your mail', content, isLast: true });
}

/** Renders a mail, for a laptop. */
function shownMail({ text, link }: SignInMail, folder: string): Html {
  const paragraphs = text.trim().split('\n\n');
  return html`<section>
    <h2>The mail</h2>
    <p class="soft">This service has no mail server. The mail is a file in ${folder}.</p>
    ${paragraphs.map((words) => html`<p>${words === link ? html`<a href="${link}">${link}</a>` : words}</p>`)}
  </section>`;
}

function buttonPage(address: string) {
  const content = html`<section>
    <p>You asked to sign in as ${address}.</p>
    <form method="post"><button>Sign in</button></form>
  </section>`;
  return framed({ title: 'Sign in', content, isLast: true });
}

function codePage(code: string) {
  const content = html`<section>
    <p>This is not the browser where the sign-in began.</p>
    <p>If you asked for this mail, type this code where you asked:</p>
    <p><code class="copy digits">${spaced(code)}</code></p>
    <p>If you did not ask, close this page. Give the code to nobody.</p>
  </section>`;
  return framed({ title: 'Sign in elsewhere', content, isLast: true });
}

function overPage() {
  const content = html`<section>
    <p>This link was used or has expired, or the sign-in began in another browser.</p>
    <div class="buttons"><a class="button" href="${authUrl()}/account">Sign in again</a></div>
  </section>`;
  return framed({ title: 'This link no longer works', content, isLast: true });
}
