import { createHmac, randomBytes } from 'node:crypto';
import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../shared/auth-url.ts';
import type { Mailer } from '../../shared/notices/mailer.ts';
import { type FormState, field } from '../../shared/pages/form/fields.ts';
import { framed } from '../../shared/pages/frame/frame.ts';
import type { Html } from '../../shared/pages/frame/layout.ts';
import { site } from '../../shared/site/site.ts';
import { Email } from '../../shared/user/user.ts';
import { largestShare, networksOf } from './client-networks.ts';
import type { PendingSignIns } from './pending-sign-ins.ts';

/**
 * Mails to an address in an hour that one client asks for. Beyond it, somebody who lost four mails
 * waits. Wider networks have up to `largestShare` times as many.
 */
const mostToAddressFromClient = 4;
/**
 * Mails to an address in an hour: what the widest network may ask for, and the owner's own. So
 * nobody locks out the owner from one network. 5 guesses each guess a code once in 114 years.
 */
const mostToAddress = mostToAddressFromClient * (largestShare + 1);
/** Mails for a client in an hour: 30 people behind one address, as the limit of requests has it. */
const mostForClient = 30;

const faultyAddress = 'Type one e-mail address, such as ann@example.org.';

/** A step of a sign-in: a page to show, or the account of somebody who has signed in. */
export type Step = { status: number; page: ReturnType<typeof framed> } | { account: string };

interface Visit {
  /** Id of the interaction, from the URL. */
  id: string;
  /** The token, if the URL is that of a mail. */
  token: string | undefined;
  /** True if the browser has the cookie of the interaction, and so is the one that asked. */
  hasAsked: boolean;
  /** URL of the interaction. */
  url: string;
  client: string;
}

/**
 * Signs people in by a mail to their address. `key` keeps subjects and MACs the same. On a laptop
 * without a mail server, pages show each mail, and name the `folder` that has it as a file.
 */
export function signInByMail(options: {
  key: string;
  pending: PendingSignIns;
  send: Mailer;
  folder?: string;
}) {
  const { key, pending, send, folder } = options;
  const macOf = (kind: string, value: string) =>
    createHmac('sha256', key).update(`${kind} ${value}`).digest('base64url');
  /** Derived from the token, so that the page of a link can show it and no table holds it. */
  const codeOf = (token: string) => {
    const bytes = createHmac('sha256', key).update(`digits ${token}`).digest();
    return `${bytes.readBigUInt64BE() % 100_000_000n}`.padStart(8, '0');
  };

  /**
   * Signs in by the opaque subject of an address. It is the same as long as the key is. A laptop
   * needs no secret, because anyone there signs in as anybody.
   */
  function proved(address: string): Step {
    const account = folder === undefined ? macOf('subject', address) : `mailto:${address}`;
    pending.prove(account, address);
    return { account };
  }

  /** Counts a mail, unless its address or its client has had too many. */
  function isAllowed(address: string, client: string): boolean {
    return pending.count([
      { name: macOf('address', address), most: mostToAddress },
      ...networksOf(client).flatMap(({ name, share }) => [
        { name: macOf('client', name), most: mostForClient * share },
        { name: macOf('both', `${name} ${address}`), most: mostToAddressFromClient * share },
      ]),
    ]);
  }

  async function ask({ id, client, url }: Visit, entry: string): Promise<Step> {
    const address = normalized(entry);
    if (address === undefined) return { status: 400, page: askPage(entry, faultyAddress) };
    // On a laptop, only its owner asks and gets the mails.
    if (folder === undefined && !isAllowed(address, client)) {
      // The answer is the same, and an earlier mail still signs in. There is no code to guess.
      if (pending.find(id)?.address !== address) pending.save({ id, address, token: '', code: '' });
      return { status: 200, page: sentPage(address) };
    }
    const token = randomBytes(32).toString('base64url');
    const code = codeOf(token);
    pending.save({ id, address, token: macOf('token', token), code: macOf('code', code) });
    const link = `${url}/${token}`;
    const subject = `Sign in to ${site().name}`;
    const text = mailText(link, spaced(code));
    const sending = send({ to: address, subject, text }).catch(({ message }) => {
      console.error(`A mail for a sign-in was not sent: ${message}`);
    });
    // Not awaited, so that the time of the answer says nothing about the address.
    if (folder === undefined) return { status: 200, page: sentPage(address) };
    await sending;
    const shown = shownMail({ text, link, folder });
    return { status: 200, page: sentPage(address, { shown }) };
  }

  function enter({ id }: Visit, entry: string): Step {
    const address = pending.use(id, 'code', macOf('code', entry.replaceAll(/\D/g, '')));
    if (address !== undefined) return proved(address);
    const remaining = pending.find(id);
    const fault = 'This code is wrong. Type the eight digits of the latest mail.';
    if (remaining) return { status: 400, page: sentPage(remaining.address, { fault }) };
    return { status: 400, page: askPage('', 'This code has expired. Ask for another mail.') };
  }

  return {
    /** True on a laptop, where any name signs in as well. */
    takesNames: folder !== undefined,

    /** A key for the cookies of the issuer, which survive a restart. */
    cookieKey: macOf('cookies', ''),

    /** Opens a page. Changes nothing, because mail scanners open every link. */
    open({ id, token, hasAsked }: Visit): Step {
      const mail = pending.find(id);
      if (token === undefined) {
        if (!hasAsked) return { status: 400, page: overPage() };
        return { status: 200, page: mail ? sentPage(mail.address) : askPage() };
      }
      if (mail?.token !== macOf('token', token)) return { status: 400, page: overPage() };
      return { status: 200, page: hasAsked ? buttonPage(mail.address) : codePage(codeOf(token)) };
    },

    /** Takes a form. Only the browser that asked can get further. */
    async submit(visit: Visit, fields: ReadonlyMap<string, string>): Promise<Step> {
      const { id, token, hasAsked } = visit;
      if (!hasAsked) return { status: 400, page: overPage() };
      if (token !== undefined) {
        const address = pending.use(id, 'token', macOf('token', token));
        return address === undefined ? { status: 400, page: overPage() } : proved(address);
      }
      if (fields.has('other')) return { status: 200, page: askPage() };
      const code = fields.get('code');
      if (code !== undefined) return enter(visit, code);
      return ask(visit, fields.get('address') ?? '');
    },
  };
}

export type MailSignIn = ReturnType<typeof signInByMail>;

/** Returns the address in lower case, so that a person has one account. */
function normalized(entry: string) {
  const address = entry.trim().toLowerCase();
  return v.is(Email, address) ? address : undefined;
}

const spaced = (code: string) => `${code.slice(0, 4)} ${code.slice(4)}`;

function mailText(link: string, code: string) {
  return `Somebody asked to sign in to ${site().name} with this address.

If it was you, open this link in the browser where you asked, within 15 minutes:

${link}

Or type this code there: ${code}

If it was not you, delete this mail. Do not pass on the link or the code.
`;
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

function sentPage(address: string, { fault, shown }: { fault?: string; shown?: Html } = {}) {
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
    <p>If ${address} can get mail, one arrives within a few minutes. You can ask for ${mostToAddressFromClient} mails in an hour.</p>
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
function shownMail({ text, link, folder }: { text: string; link: string; folder: string }): Html {
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
