import { setTimeout as sleep } from 'node:timers/promises';
import { mailCounts } from '../../../../infra/local/sign-in/mail-counts.ts';
import { signInByMail } from '../../../../infra/local/sign-in/mail-sign-in.ts';
import { pausesOfMails } from '../../../../infra/local/sign-in/repeat-mail.ts';
import { openPendingSignIns } from '../../../../infra/local/storage/pending-sign-ins.ts';
import { followMailServer } from '../../../../infra/local/watch/follow-mail-server.ts';
import { mailFault, noteMailTaken } from '../../../../shared/core/user/mail-fault.ts';
import { type Mail, MailError } from '../../../../shared/features/notices/mailer.ts';
import { silence } from '../../../helpers/console.ts';
import { refusal, startMailServer } from '../../../helpers/mail-server.ts';

process.env.AUTH_URL = 'https://example.org/ws';
const address = 'ann@example.org';
const later = new MailError(Object.assign(refusal(451), { command: 'RCPT TO' }), false);
const never = new MailError(Object.assign(refusal(550), { command: 'RCPT TO' }), false);

/** Starts a sign-in whose mail server throws these errors, one for each attempt. */
function signIns(errors: MailError[], pauses = [1, 1, 1]) {
  silence('error');
  const pending = openPendingSignIns(':memory:');
  const attempts: Mail[] = [];
  const steps = signInByMail({
    key: 'k'.repeat(43),
    pending,
    async send(mail) {
      attempts.push(mail);
      const error = errors.shift();
      if (error) throw error;
    },
    pauses,
  });
  const browser = 'mine';
  const visit = {
    id: 'x',
    token: undefined,
    browser,
    known: [],
    url: 'https://x.example',
    client: '',
  };
  const ask = async () => {
    const step = await steps.submit(visit, new Map([['address', address]]));
    return 'page' in step ? `${step.page}` : '';
  };
  return { ...steps, attempts, ask, visit };
}

async function until(isSo: () => boolean) {
  while (!isSo()) await sleep(5);
}

test('a mail is tried again after 5, 30 and 120 seconds', () => {
  expect(pausesOfMails).toEqual([5_000, 30_000, 120_000]);
});

test('a greylisted mail is sent again, the same one, which signs in', async () => {
  const { attempts, ask, submit, visit } = signIns([later, later, later]);
  const before = { ...mailCounts };
  await ask();
  await until(() => mailCounts.sent > before.sent);
  expect(attempts).toHaveLength(4);
  expect(new Set(attempts.map((mail) => JSON.stringify(mail))).size).toBe(1);
  expect(attempts[0]?.messageId).toMatch(/^<[\w-]+@x\.example>$/);
  expect(attempts[0]?.headers).toEqual({ 'Auto-Submitted': 'auto-generated' });
  const code = /there: (.*)/.exec(attempts[3]?.text ?? '')?.[1] ?? '';
  expect(await submit(visit, new Map([['code', code]]))).toHaveProperty('account');
});

test('a mail that fails four times, or is refused for good, is given up', async () => {
  const failed = mailCounts.failed;
  const often = signIns([later, later, later, later]);
  await often.ask();
  await until(() => mailCounts.failed > failed);
  expect(often.attempts).toHaveLength(4);
  const once = signIns([never]);
  await once.ask();
  await until(() => mailCounts.failed > failed + 1);
  expect(once.attempts).toHaveLength(1);
});

test('a mail is not sent again when a later one replaces it, or the service stops', async () => {
  const { attempts, ask, close } = signIns([later, later, later], [30, 60_000]);
  await ask();
  await ask();
  await sleep(60);
  // The second attempt of the first mail is left out.
  expect(attempts.map(({ text }) => text === attempts[0]?.text)).toEqual([true, false, false]);
  const failed = mailCounts.failed;
  close();
  await until(() => mailCounts.failed > failed);
  expect(attempts).toHaveLength(3);
});

test('the page says that the server takes no mails, whatever the address', async () => {
  noteMailTaken();
  const { ask } = signIns([]);
  const words = 'No mails can be sent at the moment.';
  expect(await ask()).not.toContain(words);
  const stop = followMailServer({ url: 'smtp://127.0.0.1:9', from: address });
  await until(() => mailFault() !== undefined);
  stop();
  for (let i = 0; i < 3; i++) expect(await ask()).toContain(words);
  // Four mails were asked for, and are not counted if the server does not take them.
  expect(await ask()).toContain('Ask again in 3 minutes.');
  noteMailTaken();
  expect(await ask()).toContain('Ask again in 60 minutes.');
});

test('a server is tried after the start, and while it takes nothing', async () => {
  noteMailTaken();
  const error = silence('error');
  const info = silence('info');
  const server = await startMailServer({ password: 'p' });
  const url = server.url.replace('//', '//reviews:wrong@');
  const settings = { url, from: address };
  const stop = followMailServer(settings, { every: 20 });
  await until(() => mailFault() !== undefined && error.mock.calls.length > 0);
  expect(error.mock.calls.flat().join()).toMatch(
    /^The mail server takes no mails: it refuses the user/,
  );
  settings.url = server.url.replace('//', '//reviews:p@');
  await until(() => mailFault() === undefined && info.mock.calls.length > 0);
  expect(info.mock.calls.flat()).toEqual(['The mail server takes mails again.']);
  stop();
  expect(error).toHaveBeenCalledTimes(1);
  expect(server.inbox).toEqual([]);
  await server.stop();
});
