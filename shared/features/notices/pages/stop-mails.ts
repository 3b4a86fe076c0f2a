// The end of mails by a link in each of them, for people and for their mail programs (RFC 8058).
import { html } from 'hono/html';
import * as v from 'valibot';
import { authUrl } from '../../../base/auth-url.ts';
import { invalidRequest } from '../../../base/errors.ts';
import { hashOfAddress } from '../../../core/user/claimable.ts';
import { mailKinds } from '../../../core/user/mail-kinds.ts';
import type { Page } from '../../../pages/frame/layout.ts';
import { open, seal } from '../../../pages/session/sealed.ts';
import { mailWords } from '../mail-words.ts';

/** Seconds for which a link works: people find mails again after months. */
const lifetime = 180 * 86_400;

/** The person and kind of mails that a link is for. It ends mails to this address alone. */
const Stop = v.object({
  user_id: v.string(),
  kind: v.picklist(mailKinds),
  /** Hash of the address. */
  address: v.string(),
});
export type Stop = v.InferOutput<typeof Stop>;

/** Returns the link that ends mails of a kind to an address. It is signed, and can do no more. */
export async function stopUrl({ user_id, kind, address }: Stop): Promise<string> {
  const stop = { user_id, kind, address: hashOfAddress(address) };
  return `${authUrl()}/mails/${await seal('stop-mails', stop, lifetime)}`;
}

/** Returns what a link is for. Throws ApiError 400 if it was changed or has expired. */
export async function readStop(token: string): Promise<Stop> {
  const stop = await open('stop-mails', Stop, token);
  if (!stop) throw invalidRequest('This link no longer works: end the mails in your account');
  return stop.content;
}

/** Asks whether to end mails. A page changes nothing, because mail scanners open every link. */
export function stopPage({ kind }: Stop): Page {
  return {
    title: 'Stop these mails',
    content: html`<section>
      <p>You get ${mailWords[kind].mails}.</p>
      <form method="post"><button>Stop these mails</button></form>
    </section>`,
    isLast: true,
  };
}

/** Says that mails were ended. */
export function stoppedPage({ kind }: Stop): Page {
  return {
    title: 'The mails are stopped',
    content: html`<section>
      <p>You no longer get ${mailWords[kind].mails}.</p>
      <p>You can turn them on again in <a href="${authUrl()}/account#mails">your account</a>.</p>
    </section>`,
    isLast: true,
  };
}
