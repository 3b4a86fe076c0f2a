import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SendMailOptions } from 'nodemailer';
import * as v from 'valibot';
import { Email } from '../../shared/user/user.ts';
import { isLoopback } from '../../shared/values.ts';
import { makeFolder } from './data-folder.ts';

/** In milliseconds: the longest silence of the mail server. */
const patience = 20_000;

/** Mails are text of the service alone, never a file or an address to load. */
const ownTextOnly = { disableFileAccess: true, disableUrlAccess: true };

/** A mail to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The same text for readers that show HTML. */
  html?: string;
  /** Further headers, such as `List-Unsubscribe`. */
  headers?: Readonly<Record<string, string>>;
}

/** Resolves when the mail is accepted, or throws. */
export type Mailer = (mail: Mail) => Promise<void>;

type Send = (message: SendMailOptions) => Promise<unknown>;

export interface MailSettings {
  /** The mail server, or a folder (`file:`) that gets each mail as a file. */
  url: string;
  from: string;
}

/** Validates SMTP_URL and MAIL_FROM, which need each other. Throws a sentence for the operator. */
export function readMailSettings({
  SMTP_URL,
  MAIL_FROM,
}: NodeJS.ProcessEnv): MailSettings | undefined {
  if (!SMTP_URL && !MAIL_FROM) return undefined;
  if (!SMTP_URL || !MAIL_FROM) {
    const [present, missing] = SMTP_URL ? ['SMTP_URL', 'MAIL_FROM'] : ['MAIL_FROM', 'SMTP_URL'];
    throw new Error(`${present} needs ${missing}: set ${missing} as well`);
  }
  // The value of SMTP_URL has a password, so no message repeats it.
  if (!/^smtps?:$/.test(URL.parse(SMTP_URL)?.protocol ?? '')) {
    throw new Error(
      'SMTP_URL is no address of a mail server: write one such as smtps://user:password@mail.example.org',
    );
  }
  if (!v.is(Email, MAIL_FROM)) {
    throw new Error('MAIL_FROM is no e-mail address: write one such as reviews@example.org');
  }
  return { url: SMTP_URL, from: MAIL_FROM };
}

/** Returns the settings of a laptop, which has no mail server: mails are files in the folder. */
export function mailsIn(folder: string): MailSettings {
  return { url: pathToFileURL(folder).href, from: 'reviews@localhost' };
}

/**
 * Makes a function that sends a mail. It throws if the server refuses it, is silent, or would read
 * it unencrypted: a link signs in, so only a server on this machine may do without TLS.
 */
export function makeMailer({ url, from }: MailSettings): Mailer {
  // Loaded with the first mail, so that a service without mails starts without it.
  const transport = lazy(() => (url.startsWith('file:') ? toFolder(url) : toServer(url)));
  return async ({ to, ...mail }) => {
    const send = await transport();
    // As an object, an address is never parsed as a list.
    await send({ from, to: { name: '', address: to }, ...mail });
  };
}

async function toServer(url: string): Promise<Send> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url,
    requireTLS: !isLoopback(new URL(url)),
    connectionTimeout: patience,
    greetingTimeout: patience,
    socketTimeout: patience,
    ...ownTextOnly,
  });
  return (message: SendMailOptions) => transport.sendMail(message);
}

/** Writes each mail to a file that mail programs open. The names are in the order of the mails. */
async function toFolder(url: string): Promise<Send> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, ...ownTextOnly });
  const folder = fileURLToPath(url);
  return async (message: SendMailOptions) => {
    const sent = await transport.sendMail(message);
    makeFolder(folder);
    const time = new Date().toISOString().replaceAll(':', '-');
    const file = join(folder, `${time}-${randomUUID().slice(0, 8)}.eml`);
    writeFileSync(file, sent.message as Buffer, { mode: 0o600 });
  };
}

/** Calls `make` at the first use, and keeps what it makes. */
function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
