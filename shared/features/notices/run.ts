// The run of every minute that sends mails: news, what waits for moderators, and digests.

import { contactKey, idIn, noticesPaceKey } from '../../base/table/keys.ts';
import { collect, getItem, queryIndex } from '../../base/table/query.ts';
import { tryUpdate } from '../../base/table/transact.ts';
import { absentOr } from '../../base/table/write.ts';
import { patienceOf } from '../../core/entity/pace.ts';
import { newestWait } from '../../core/report/desk.ts';
import { digestAfter } from '../../core/user/mails.ts';
import { isMailing } from '../../core/user/notice.ts';
import { listModerators } from '../../core/user/user-repository.ts';
import { readAccountMails, sendAccountMail } from './account-mails.ts';
import { deskLetter } from './desk.ts';
import { digestLetter } from './digest.ts';
import { MailError, makeMailer } from './mailer.ts';
import { newsLetter } from './news.ts';
import { drop, longest, noteAttempt, noteLost, postpone, readDue } from './queue.ts';
import { type Mailing, sendMailing } from './send.ts';

/**
 * Milliseconds after which a run begins no further mail. A mail takes two minutes at worst, with a
 * server that is silent at each step. A server repeats a run at once, so that a stop can end it.
 * The lease of a run that died holds up the next one.
 */
const limits = { run: 30_000, shortRun: 4_000, lease: 60_000 };

/** Milliseconds until a mail is made again that could not be made. */
const unreadable = 300_000;

/** Digests of one run. A mail takes about 100 ms, so more would not fit a run. */
const mostDigests = 200;

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

async function readMailings(): Promise<Mailing[]> {
  return (await Promise.all([news(), desk(), digests()])).flat();
}

/** Decisions, in a mail to each person. */
async function news(): Promise<Mailing[]> {
  return [...(await readDue())].map(([user_id, queued]) => {
    const notices = queued.map(({ notice }) => notice);
    const first = Math.min(...notices.map(({ created_at }) => created_at));
    return {
      user_id,
      kind: 'news',
      name: `${first}`,
      age: Date.now() - first,
      compose: ({ user }) => newsLetter(user, notices),
      async finish({ isLost }) {
        if (isLost) noteLost(queued.length);
        await drop(queued);
      },
      postpone: (due_at) => postpone(queued, due_at),
    };
  });
}

/** The desk, to each moderator who was not told since something came. */
async function desk(): Promise<Mailing[]> {
  const newest = await newestWait();
  if (newest === undefined) return [];
  const Key = noticesPaceKey;
  const told = Number((await getItem(Key, { consistent: false }))?.told_until ?? 0);
  if (newest <= told) return [];
  let letter: ReturnType<typeof deskLetter> | undefined;
  const moderators = await listModerators();
  let waiting = moderators.length;
  const finish = async () => {
    waiting--;
    // Until something else comes, the next runs read no moderators.
    if (waiting === 0) await tryUpdate({ Key, set: { told_until: newest } });
  };
  return moderators.map((user_id) => ({
    user_id,
    kind: 'desk',
    name: `${newest}`,
    news: newest,
    age: Date.now() - newest,
    compose() {
      letter ??= deskLetter();
      return letter;
    },
    finish,
    // The pace of the address holds the next attempt up, until the news are lost.
    async postpone(due_at) {
      if (newest + longest < due_at) await finish();
    },
  }));
}

/** The latest reviews, to those whose week is over. */
async function digests(): Promise<Mailing[]> {
  const range = { high: `${new Date().toISOString()}#~` };
  const entries = queryIndex('all-by-date', 'DIGEST', { range, pageSize: mostDigests });
  const due = await collect(entries, mostDigests);
  let letter: ReturnType<typeof digestLetter> | undefined;
  return due.map((entry) => {
    const user_id = idIn(entry);
    const { date = '' } = entry;
    const list = async (set: object) => {
      await tryUpdate({ Key: contactKey(user_id), set: { ...set }, was: { date } });
    };
    return {
      user_id,
      kind: 'digest',
      name: date,
      age: Date.now() - Date.parse(date.slice(0, date.indexOf('#'))),
      compose() {
        letter ??= digestLetter();
        return letter;
      },
      finish: () => list(digestAfter(user_id)),
      postpone: (due_at) => list(digestAfter(user_id, due_at)),
    };
  });
}
