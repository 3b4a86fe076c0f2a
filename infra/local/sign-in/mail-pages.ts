import { html } from 'hono/html';
import { authUrl } from '../../../shared/base/auth-url.ts';
import { mailFault } from '../../../shared/core/user/mail-fault.ts';
import { type FormState, field } from '../../../shared/pages/form/fields.ts';
import { framed } from '../../../shared/pages/frame/frame.ts';
import type { Html } from '../../../shared/pages/frame/layout.ts';
import { mostToMailboxFromClient, type Verdict } from './mail-limits.ts';
import { type SignInMail, spaced } from './mail-words.ts';

/**
 * A step of a sign-in: a page to show, or the account of somebody who has signed in, and the name
 * of the mailbox to remember in the browser. `retryAfter` is in seconds.
 */
export type Step =
  | { status: number; page: ReturnType<typeof framed>; retryAfter?: number }
  | { account: string; mailbox?: string };

/** Asks for an address. `fault` says what is wrong with the one that was typed. */
export function askPage(value = '', fault?: string) {
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

/** Returns “in 1 minute” or “in 23 minutes” for a time in epoch ms. */
function inMinutes(until: number) {
  const minutes = Math.max(1, Math.ceil((until - Date.now()) / 60_000));
  return minutes === 1 ? 'in 1 minute' : `in ${minutes} minutes`;
}

/** A mail that is not sent: which limit holds it back, and until when (epoch ms). */
export type Refused = Extract<Verdict['shown'], { kind: 'refused' }>;

const refusals: Readonly<Record<Refused['by'], string>> = {
  mailbox: 'Enough mails were asked for this address in the last hour.',
  client: 'Enough mails were asked for from your network in the last hour.',
  total: 'Very many people have asked for mails in the last hour.',
};

/** Shows when to ask again. A mail that was sent before still signs in. */
export function refusal(entry: string, earlier: string | undefined, { by, until }: Refused): Step {
  const sentence = `${refusals[by]} No other mail is sent. Ask again ${inMinutes(until)}.`;
  const retryAfter = Math.max(1, Math.ceil((until - Date.now()) / 1000));
  const page =
    earlier === undefined
      ? askPage(entry, sentence)
      : sentPage(earlier, { notice: `${sentence} An earlier mail still works.` });
  return { status: 429, page, retryAfter };
}

/** Says that the mail server takes nothing, whatever the address. */
export function faultNotice() {
  if (mailFault() === undefined) return undefined;
  return 'No mails can be sent at the moment. We try again for two minutes. If none arrives, ask again later.';
}

/** Says who gets a mail while many ask, and when others may ask again. */
export function crowdedNotice(until: number) {
  return `Many people ask for mails now. Until later, only an address that has an account here gets one, and ${mostToMailboxFromClient} in an hour at most. If yours has no account yet, ask again ${inMinutes(until)}.`;
}

/** Takes the code of a mail, whether one was sent or not. */
export function sentPage(
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
export function shownMail({ text, link }: SignInMail, folder: string): Html {
  const paragraphs = text.trim().split('\n\n');
  return html`<section>
    <h2>The mail</h2>
    <p class="soft">This service has no mail server. The mail is a file in ${folder}.</p>
    ${paragraphs.map((words) => html`<p>${words === link ? html`<a href="${link}">${link}</a>` : words}</p>`)}
  </section>`;
}

/** Signs in by a button, because mail scanners open every link. */
export function buttonPage(address: string) {
  const content = html`<section>
    <p>You asked to sign in as ${address}.</p>
    <form method="post"><button>Sign in</button></form>
  </section>`;
  return framed({ title: 'Sign in', content, isLast: true });
}

/** Shows a code to type where the sign-in began. */
export function codePage(code: string) {
  const content = html`<section>
    <p>This is not the browser where the sign-in began.</p>
    <p>If you asked for this mail, type this code where you asked:</p>
    <p><code class="copy digits">${spaced(code)}</code></p>
    <p>If you did not ask, close this page. Give the code to nobody.</p>
  </section>`;
  return framed({ title: 'Sign in elsewhere', content, isLast: true });
}

/** Says that a link signs in no more. */
export function overPage() {
  const content = html`<section>
    <p>This link was used or has expired, or the sign-in began in another browser. If you are signed in since, go on to your account.</p>
    <div class="buttons"><a class="button" href="${authUrl()}/account">Sign in again</a></div>
  </section>`;
  return framed({ title: 'This link no longer works', content, isLast: true });
}
