import { PassThrough } from 'node:stream';
import type { Transporter } from 'nodemailer';
import * as v from 'valibot';
import { site } from '../site/site.ts';
import { Email } from '../user/user.ts';
import { isLoopback } from '../values.ts';

/** In milliseconds: the longest silence of the mail server. */
const patience = 20_000;

/** A mail to one address. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  html?: string;
  headers?: Record<string, string>;
  /** The same id for a mail that is sent again, so that mailboxes show it once. */
  messageId?: string;
}

export type Mailer = ReturnType<typeof makeMailer>;

/** Settings of a mailer. Without the URL of a server, Amazon SES sends the mails. */
export interface MailSettings {
  url?: string | undefined;
  from: string;
}

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
export function makeMailer({ url, from }: MailSettings) {
  // Loaded with the first mail, so that a service without mails starts without it.
  const transport = lazy(async () => {
    const { createTransport } = await import('nodemailer');
    // Mails are text of the service alone, never a file or an address to load.
    const safe = { disableFileAccess: true, disableUrlAccess: true };
    const sender: Transporter =
      url === undefined
        ? createTransport({ SES: await loadSes(), ...safe })
        : createTransport({
            url,
            requireTLS: !isLoopback(new URL(url)),
            connectionTimeout: patience,
            greetingTimeout: patience,
            socketTimeout: patience,
            ...safe,
          });
    sender.use('stream', ({ message, data }, done) => {
      message.transform((data as { noteEnd(): PassThrough }).noteEnd());
      done();
    });
    return sender;
  });
  return async ({ to, ...content }: Mail): Promise<void> => {
    let isHandedOver = false;
    const message = {
      // As objects, addresses are never parsed as lists.
      from: { name: site().name, address: from },
      to: { name: '', address: to },
      ...content,
      noteEnd: () =>
        new PassThrough({
          flush(done) {
            isHandedOver = true;
            done();
          },
        }),
    };
    const sender = await transport();
    try {
      await sender.sendMail(message);
    } catch (error) {
      throw new MailError(error as Failure, isHandedOver);
    }
  };
}
/** Errors of the SMTP library and of the SDK. */
type Failure = Error & {
  code?: string;
  command?: string;
  responseCode?: number;
};

/** Errors of a connection that ended without an answer. */
const silences = ['ETIMEDOUT', 'ECONNECTION', 'ESOCKET', 'TimeoutError'];

/** Errors of Amazon SES about one mail. */
const refusals = ['MessageRejected', 'BadRequestException'];

/**
 * Thrown when a mail was not sent. `refused`: the server does not take this mail, and may take
 * others. `unknown`: the server has the mail, and did not answer. `failed`: anything else. The
 * message names no address.
 */
export class MailError extends Error {
  readonly outcome: 'refused' | 'unknown' | 'failed';

  constructor({ name, code = name, command, responseCode }: Failure, isHandedOver: boolean) {
    super([code, command, responseCode].filter(Boolean).join(' '));
    const isSilent = silences.some((each) => each === code || each === name);
    // 421: the server closes the connection (RFC 5321 section 4.2.2).
    const isAboutMail = command === 'RCPT TO' || command === 'DATA';
    const isRefused = responseCode !== undefined && responseCode !== 421 && isAboutMail;
    if (isRefused || refusals.includes(name)) this.outcome = 'refused';
    else this.outcome = isHandedOver && isSilent ? 'unknown' : 'failed';
  }
}

/** Makes the client of Amazon SES. The job itself repeats what fails. */
async function loadSes() {
  const { SendEmailCommand, SESv2Client } = await import('@aws-sdk/client-sesv2');
  const requestHandler = {
    connectionTimeout: 2_000,
    requestTimeout: patience,
    throwOnRequestTimeout: true,
  };
  return { sesClient: new SESv2Client({ maxAttempts: 1, requestHandler }), SendEmailCommand };
}

/** Calls `make` at the first use, and keeps what it makes. */
function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
