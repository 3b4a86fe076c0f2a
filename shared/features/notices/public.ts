// Mails to members, moderators and owners of accounts.

export { job } from './job.ts';
export { kinds } from './kinds.ts';
export { linkStyle, mailPage } from './letter.ts';
export {
  checkMailServer,
  type Mail,
  MailError,
  type Mailer,
  type MailSettings,
  makeMailer,
  readMailSettings,
} from './mailer.ts';
export { mailSettings } from './pages/mail-settings.ts';
export { newsSection } from './pages/news.ts';
export { readStop, stopPage, stoppedPage } from './pages/stop-mails.ts';
export { oldestNotice } from './queue.ts';
export { sendNotices } from './run.ts';
export { readUndo, tooLate, undoUrl } from './undo-link.ts';
