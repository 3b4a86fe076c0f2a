import type { MailKind } from '../../core/user/mail-kinds.ts';

/** Words about a kind of mails. */
interface MailWords {
  /** When we write, as the account page says it. */
  setting: string;
  /** The mails, after “You get”. */
  mails: string;
  /** Why somebody gets them, after “sends you mails”. */
  reason: string;
}

/** Words of each kind of mails. */
export const mailWords: Readonly<Record<MailKind, MailWords>> = {
  news: {
    setting: 'Moderators have decided on what I wrote',
    mails: 'mails about decisions on what you wrote',
    reason: 'about what moderators decide on your contributions',
  },
  desk: {
    setting: 'Something waits for moderators, at most once an hour',
    mails: 'mails about what waits for moderators',
    reason: 'about what waits for moderators, because you are one',
  },
  digest: {
    setting: 'The latest reviews, once a week',
    mails: 'the weekly mail with the latest reviews',
    reason: 'with the latest reviews of each week, because you asked for them',
  },
};
