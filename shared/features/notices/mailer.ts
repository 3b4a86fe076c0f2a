import { hostname } from 'node:os';
import { PassThrough } from 'node:stream';
import type { Transporter } from 'nodemailer';
import * as v from 'valibot';
import { site } from '../../base/site/site.ts';
import { isLoopback } from '../../base/values.ts';
import { noteMailFailed, noteMailTaken } from '../../core/user/mail-fault.ts';
import { Email } from '../../core/user/user.ts';

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
  const from = v.safeParse(Email, MAIL_FROM);
  if (!from.success) {
    throw new Error('MAIL_FROM is no e-mail address: write one such as reviews@example.org');
  }
  return { url: SMTP_URL, from: from.output };
}

/**
 * Makes a function that sends a mail. It throws if the server refuses it, is silent, or would read
 * it unencrypted: a link signs in, so only a server on this machine may do without TLS.
 */
export function makeMailer({ url, from }: MailSettings) {
  // Loaded with the first mail, so that a service without mails starts without it.
  const transport = lazy(async () => {
    const sender = await makeTransport(url);
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
      noteMailTaken();
    } catch (error) {
      const failure = new MailError(error as Failure, isHandedOver);
      const { outcome, message, command } = failure;
      // A server that refuses one mail takes others.
      if (outcome === 'refused') noteMailTaken();
      else noteMailFailed(message, { isOfSender: command === 'MAIL FROM' });
      throw failure;
    }
  };
}

/**
 * Connects to the mail server and signs in there, as for a mail, and sends none. Throws `MailError`
 * if that fails. Amazon SES is not asked.
 */
export async function checkMailServer({ url }: MailSettings): Promise<void> {
  if (url === undefined) return;
  const sender = await makeTransport(url);
  try {
    await sender.verify();
  } catch (error) {
    throw new MailError(error as Failure, false);
  }
}

async function makeTransport(url: string | undefined): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  // Mails are text of the service alone, never a file or an address to load.
  const safe = { disableFileAccess: true, disableUrlAccess: true };
  if (url === undefined) return createTransport({ SES: await loadSes(), ...safe });
  const isHere = isLoopback(new URL(url));
  return createTransport({
    url,
    requireTLS: !isHere,
    // Nobody listens between here and here. A server that offers TLS has a certificate of its name.
    tls: { rejectUnauthorized: !isHere },
    name: ownName(),
    connectionTimeout: patience,
    greetingTimeout: patience,
    socketTimeout: patience,
    ...safe,
  });
}

/**
 * Returns the public host, for a machine whose own name has no dot. Mail servers distrust the
 * address that the library would name (RFC 5321 section 4.1.1.1).
 */
function ownName(): string | undefined {
  const host = URL.parse(process.env.AUTH_URL ?? '')?.hostname ?? '';
  return hostname().includes('.') || !host.includes('.') ? undefined : host;
}

/** Errors of the SMTP library and of the SDK. */
type Failure = Error & {
  code?: string;
  /** The code of the system, before the library has set its own. */
  originalCode?: string;
  /** Words of the server, which may name an address. */
  response?: string;
  command?: string;
  responseCode?: number;
};

/** Errors of a connection that ended without an answer. */
const silences = ['ETIMEDOUT', 'ECONNECTION', 'ESOCKET', 'TimeoutError'];

/** Errors of Amazon SES about one mail. */
const refusals = ['MessageRejected', 'BadRequestException'];

/** Causes by the codes of system, TLS and SMTP library. They name no host, user or address. */
const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name cannot be resolved now',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ECONNRESET: 'it ended the connection',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an unknown authority',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it begins without TLS there, so write smtp:// in SMTP_URL',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it begins without TLS there, so write smtp:// in SMTP_URL',
  SOCKET_GREETING: 'it sends no greeting. Where it begins with TLS, write smtps:// in SMTP_URL',
  SOCKET_TIMEOUT: 'it is silent',
  ETIMEDOUT: 'it is silent',
  EAUTH: 'it refuses the user or the password in SMTP_URL',
  ETLS: 'it offers no TLS, or breaks off when TLS begins',
  EDNS: 'its host name is unknown',
  ECONNECTION: 'it ended the connection',
};

function causeOf({ code = '', originalCode = '', command, responseCode }: Failure) {
  if (command === 'MAIL FROM') return 'it refuses the sender MAIL_FROM';
  if (command === 'RCPT TO') return 'it refuses the mailbox';
  if (code === 'ESOCKET' && originalCode.startsWith('ERR_SSL_')) {
    return causes[originalCode] ?? 'TLS with it fails';
  }
  if (responseCode === 421) return 'it is closing, or has had too many connections';
  return causes[originalCode] ?? causes[code];
}

/**
 * Thrown when a mail was not sent. `refused`: the server does not take this mail, and may take
 * others. `unknown`: the server has the mail, and did not answer. `failed`: anything else. The
 * message says the cause, and names no address.
 */
export class MailError extends Error {
  readonly outcome: 'refused' | 'unknown' | 'failed';
  /** The command of SMTP that failed, or “CONN”. */
  readonly command: string | undefined;
  /** True if the server will not take this mail later either (RFC 5321 section 4.2.1). */
  readonly isFinal: boolean;

  constructor(failure: Failure, isHandedOver: boolean) {
    const { name, code = name, originalCode, command, responseCode } = failure;
    const details = [code, originalCode, command, responseCode].filter(Boolean).join(' ');
    const cause = causeOf(failure);
    super(cause === undefined ? details : `${cause} (${details})`);
    this.command = command;
    const isSilent = silences.some((each) => each === code || each === name);
    // The library sends no mail to an address that it cannot write.
    const isUnwritable = code === 'EENVELOPE' && command === 'API';
    // 421: the server closes the connection (RFC 5321 section 4.2.2).
    const isAboutMail = command === 'RCPT TO' || command === 'DATA';
    const isRefused = responseCode !== undefined && responseCode !== 421 && isAboutMail;
    const isRejected = refusals.includes(name) || isUnwritable;
    this.isFinal = isRejected || (responseCode !== undefined && responseCode >= 500);
    if (isRefused || isRejected) this.outcome = 'refused';
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
