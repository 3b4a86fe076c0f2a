// Mails about who signs in to an account. Nobody can turn them off.
import { hash } from 'node:crypto';
import { authUrl } from '../../base/auth-url.ts';
import { site } from '../../base/site/site.ts';
import { batchDelete, batchWrite } from '../../base/table/batch.ts';
import type { Key } from '../../base/table/item.ts';
import { parseItem } from '../../base/table/parse.ts';
import { collect, queryItems } from '../../base/table/query.ts';
import { accountMailKey } from '../../core/keys.ts';
import { AccountMail, accountMailItem, accountMailLifetime } from '../../core/user/account-mail.ts';
import { findUser } from '../../core/user/user-repository.ts';
import { type Mail, MailError, type Mailer } from './mailer.ts';
import { noteAttempt, noteLost } from './queue.ts';
import { undoUrl } from './undo-link.ts';

/** Mails of one run. An account causes one a week. */
const mostAtOnce = 100;

/** Milliseconds until a mail is tried again that its mailbox has refused, or may have. */
const pause = 3_600_000;

/** A mail with the key of its item. */
interface DueMail extends Key {
  mail: AccountMail;
}

/** Reads the mails that are due. */
export async function readAccountMails(): Promise<DueMail[]> {
  const until = accountMailKey(Date.now() + 1, '').sk;
  const range = { pageSize: mostAtOnce, until, consistent: false };
  const items = await collect(queryItems(accountMailKey('', ''), range), mostAtOnce);
  return items.flatMap(({ pk, sk, ...item }): DueMail[] => {
    const mail = parseItem(AccountMail, { pk, sk, ...item });
    return mail ? [{ pk, sk, mail }] : [];
  });
}

/**
 * Sends a mail, if its account still exists. Throws `MailError` if the server takes no mails at
 * all: the mail stays due. One that its mailbox refuses waits, for three days in all.
 */
export async function sendAccountMail({ pk, sk, mail }: DueMail, send: Mailer): Promise<void> {
  if (await findUser(mail.user_id)) {
    try {
      await send(await accountMailOf(mail));
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      const { outcome, message } = error;
      console.warn({ message: 'A mail was not sent', kind: mail.kind, outcome, error: message });
      noteAttempt(Date.now() - mail.created_at);
      if (outcome === 'failed') throw error;
      const due_at = Date.now() + pause;
      if (mail.created_at + accountMailLifetime < due_at) noteLost(1);
      else await batchWrite([{ put: accountMailItem(mail, due_at) }]);
    }
  }
  await batchDelete([{ pk, sk }]);
}

/** Makes the mail. Its id is the same when it is sent again. */
async function accountMailOf(mail: AccountMail): Promise<Mail> {
  const { kind, user_id, to, from, created_at } = mail;
  const { subject, paragraphs } = letters[kind];
  const undo =
    kind === 'moved' && from !== undefined ? await undoUrl({ user_id, from }) : undefined;
  const [, domain = 'localhost'] = `${process.env.MAIL_FROM}`.split('@');
  const link = undo === undefined ? [] : [undo];
  return {
    to,
    subject: `${subject} ${site().name}`,
    text: `${[...paragraphs, ...link, `-- \n${site().name}\n${authUrl()}/`].join('\n\n')}\n`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    messageId: `<${hash('sha256', `${kind} ${user_id} ${created_at}`).slice(0, 32)}@${domain}>`,
  };
}

/** None of them names the other address: its owner may be a stranger to this one's. */
const letters: Readonly<
  Record<AccountMail['kind'], { subject: string; paragraphs: readonly string[] }>
> = {
  moved: {
    subject: 'Another address signs in to your account at',
    paragraphs: [
      'Your account signs in with another address now, and no longer with this one.',
      'If you changed that, there is nothing to do.',
      'If you did not, take your account back within seven days. Open this link:',
    ],
  },
  'moved-by-operator': {
    subject: 'Another address signs in to your account at',
    paragraphs: [
      'The operator of this service has changed the address that signs in to your account. This one no longer does.',
      'If you did not ask for that, write to the operator.',
    ],
  },
  'move-undone': {
    subject: 'This address no longer signs in to the account at',
    paragraphs: [
      'Whoever had the account before has taken it back, by a link that we sent to the earlier address. This address no longer signs in to it.',
      'If the account is yours, write to the operator of the service.',
    ],
  },
};
