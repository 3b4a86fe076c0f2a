import { createTransport } from 'nodemailer';
import * as v from 'valibot';
import { Email } from '../../shared/user/user.ts';

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

/** Makes a function that sends a mail. It throws if the server refuses it or is silent. */
export function makeMailer({ url, from }: { url: string; from: string }) {
  const transport = createTransport({
    url,
    connectionTimeout: patience,
    greetingTimeout: patience,
    socketTimeout: patience,
    // Mails are text of the service alone, never a file or an address to load.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async ({ to, subject, text }: Mail): Promise<void> => {
    // As an object, an address is never parsed as a list.
    await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
  };
}
