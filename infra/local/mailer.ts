import * as v from 'valibot';
import { Email } from '../../shared/user/user.ts';
import { isLoopback } from '../../shared/values.ts';

/** In milliseconds: the longest silence of the mail server. */
const patience = 20_000;

/** A mail of plain text to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export type Mailer = ReturnType<typeof makeMailer>;

/** Validates SMTP_URL and MAIL_FROM, which need each other. Throws a sentence for the operator. */
export function readMailSettings({ SMTP_URL, MAIL_FROM }: NodeJS.ProcessEnv) {
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

/**
 * Makes a function that sends a mail. It throws if the server refuses it, is silent, or would read
 * it unencrypted: a link signs in, so only a server on this machine may do without TLS.
 */
export function makeMailer({ url, from }: { url: string; from: string }) {
  const options = {
    url,
    requireTLS: !isLoopback(new URL(url)),
    connectionTimeout: patience,
    greetingTimeout: patience,
    socketTimeout: patience,
    // Mails are text of the service alone, never a file or an address to load.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  // Loaded with the first mail, so that a service without mails starts without it.
  const transport = lazy(async () => (await import('nodemailer')).createTransport(options));
  return async ({ to, subject, text }: Mail): Promise<void> => {
    // As an object, an address is never parsed as a list.
    await (await transport()).sendMail({ from, to: { name: '', address: to }, subject, text });
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
