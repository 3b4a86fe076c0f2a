// The run of every minute that sends mails: news, what waits for moderators, and digests.

import { patienceOf } from '../../base/table/pace.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { absentOr } from '../../base/table/write.ts';
import type { MailKind } from '../../core/user/mail-kinds.ts';
import { isMailing } from '../../core/user/notice.ts';
import { readAccountMails, sendAccountMail } from './account-mails.ts';
import { dueDesk } from './desk.ts';
import { dueDigests } from './digest.ts';
import { noticesPaceKey } from './kinds.ts';
import { MailError, makeMailer } from './mailer.ts';
import { dueNews } from './news.ts';
import { noteAttempt } from './queue.ts';
import { type Mailing, sendMailing } from './send.ts';

/**
 * Milliseconds after which a run begins no further mail. A mail takes two minutes at worst, with a
 * server that is silent at each step. A server repeats a run at once, so that a stop can end it.
 * The lease of a run that died holds up the next one.
 */
const limits = { run: 30_000, shortRun: 4_000, lease: 60_000 };

/** Milliseconds until a mail is made again that could not be made. */
const unreadable = 300_000;

const mailer = () => makeMailer({ url: process.env.SMTP_URL, from: `${process.env.MAIL_FROM}` });

let send: ReturnType<typeof mailer> | undefined;

/**
 * Sends what is due. One run at a time: a second one does nothing. Returns true in `hasMore` if the
 * time was over. Throws if the mail server takes no mails, or the table fails. Nothing is lost: the
 * next runs try again for two days.
 */
export async function sendNotices({ isShort = false } = {}): Promise<{ hasMore: boolean }> {
  if (!isMailing()) return { hasMore: false };
  const due = await Promise.all([readAccountMails(), readMailings()]);
  if (due.flat().length === 0) return { hasMore: false };
  if (!(await takeLease())) return { hasMore: false };
  try {
    send ??= mailer();
    const left = patienceOf(isShort ? limits.shortRun : limits.run);
    let failure: unknown;
    let hasMore = false;
    // Another run may have sent some.
    for (const mail of await readAccountMails()) await sendAccountMail(mail, send);
    for (const mailing of await readMailings()) {
      hasMore = left() <= 0;
      if (hasMore) break;
      try {
        await sendMailing(mailing, send);
      } catch (error) {
        if (error instanceof MailError) throw error;
        // What cannot be read about one person holds up nobody else, however much that person has.
        failure ??= error;
        noteAttempt(mailing.age);
        await mailing.postpone(Date.now() + unreadable);
      }
    }
    if (failure !== undefined) throw failure;
    return { hasMore };
  } finally {
    await tryUpdate({ Key: noticesPaceKey, set: { due_at: Date.now() } });
  }
}

/** Returns true for one of several runs. */
function takeLease(): Promise<boolean> {
  const now = Date.now();
  return tryUpdate({
    Key: noticesPaceKey,
    set: { due_at: now + limits.lease },
    where: [absentOr('due_at', '<=', now)],
  });
}

/** Sources of mails, by kind. */
const sources: Readonly<Record<MailKind, () => Promise<Mailing[]>>> = {
  news: dueNews,
  desk: dueDesk,
  digest: dueDigests,
};

async function readMailings(): Promise<Mailing[]> {
  return (await Promise.all(Object.values(sources).map((due) => due()))).flat();
}
