import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mailer } from '../../shared/notices/mailer.ts';
import { makeFolder } from './data-folder.ts';

/**
 * Makes a mailer for a laptop without a mail server. It writes each mail to a file that mail
 * programs open. The names of the files are in the order of the mails.
 */
export function mailToFolder(folder: string): Mailer {
  return async ({ to, ...content }) => {
    // Loaded here, so that a service without mails starts without it.
    const { createTransport } = await import('nodemailer');
    const transport = createTransport({ streamTransport: true, buffer: true });
    const message = { from: 'reviews@localhost', to: { name: '', address: to }, ...content };
    const sent = await transport.sendMail(message);
    makeFolder(folder);
    const time = new Date().toISOString().replaceAll(':', '-');
    const file = join(folder, `${time}-${randomUUID().slice(0, 8)}.eml`);
    writeFileSync(file, sent.message as Buffer, { mode: 0o600 });
  };
}
