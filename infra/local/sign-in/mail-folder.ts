import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mailer } from '../../../shared/features/notices/public.ts';
import { makeFolder } from '../storage/data-folder.ts';

/**
 * Makes a mailer for a laptop, which has no mail server: it writes each mail to a file that mail
 * programs open. The names of the files are in the order of the mails.
 */
export function writeMails(folder: string): Mailer {
  return async ({ to, ...mail }) => {
    const { createTransport } = await import('nodemailer');
    const safe = { disableFileAccess: true, disableUrlAccess: true };
    const transport = createTransport({ streamTransport: true, buffer: true, ...safe });
    const from = 'reviews@localhost';
    const { message } = await transport.sendMail({ from, to: { name: '', address: to }, ...mail });
    makeFolder(folder);
    const time = new Date().toISOString().replaceAll(':', '-');
    const file = join(folder, `${time}-${randomUUID().slice(0, 8)}.eml`);
    writeFileSync(file, message as Buffer, { mode: 0o600 });
  };
}
